use std::{fmt, net::IpAddr, path::PathBuf};

/// Where a listener is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A TCP port. Port 0 lets the system choose.
    Tcp {
        /// The address, or the name that stands for it.
        host: Host,
        /// The port.
        port: u16,
    },
    /// A Unix socket.
    Unix {
        /// Its path.
        path: PathBuf,
        /// Its permissions, such as `0o666`; never above `0o777`.
        mode: u32,
    },
}

/// The host of a [`Listen::Tcp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// `localhost`: every loopback address that the machine has.
    Localhost,
    /// One address; the unspecified one means all.
    Ip(IpAddr),
    /// A name that the system resolves when it is bound.
    Name(String),
}

impl Listen {
    /// Whether only this machine can reach it. A name other than `localhost` counts as reachable from elsewhere, for
    /// what it resolves to is not known here.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix { .. } => true,
            Self::Tcp { host: Host::Localhost, .. } => true,
            Self::Tcp { host: Host::Ip(ip), .. } => ip.to_canonical().is_loopback(),
            Self::Tcp { host: Host::Name(_), .. } => false,
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Localhost => f.write_str("localhost"),
            Self::Ip(IpAddr::V4(ip)) => write!(f, "{ip}"),
            Self::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix { path, .. } => write!(f, "unix:{}", path.display()),
        }
    }
}
