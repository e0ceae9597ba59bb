use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::task::{Context, Poll};

use rustix::io::Errno;
use tidegate_config::{Host, Listen};
use tokio::net::{TcpListener, TcpSocket, UnixListener};

use super::connection::Peer;
use super::io::Stream;
use super::socket_file::{BACKLOG, SocketFile, bind_file};

#[cfg(test)]
mod tests;

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BindError {
    #[error("cannot listen on {address}")]
    Bind { address: String, source: io::Error },
    #[error("{host:?} has no address to listen on")]
    Resolve { host: String, source: io::Error },
    #[error("{} exists and is not a socket; it stays as it is: name another path or remove it", path.display())]
    NotASocket { path: PathBuf },
    #[error("another process answers on {}", path.display())]
    SocketInUse { path: PathBuf },
    #[error("{} cannot be given the permissions {mode:03o}", path.display())]
    Permissions { path: PathBuf, mode: u32, source: io::Error },
}

/// Sockets that listen already; hand them to [`serve`](super::serve()).
#[derive(Debug)]
pub(crate) struct Bound {
    pub(super) listeners: Vec<Listener>,
}

impl Bound {
    /// The TCP addresses, with the ports that the system chose; none for a Unix socket.
    pub(crate) fn tcp_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().filter_map(Listener::tcp_address).collect()
    }
}

/// `http://127.0.0.1:8282`, `unix:/run/tidegate.sock`; several are parted by commas.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, listener) in self.listeners.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            match listener {
                Listener::Unix(_, file) => write!(f, "{comma}unix:{}", file.path().display())?,
                Listener::Tcp(_) => match listener.tcp_address() {
                    Some(address) => write!(f, "{comma}http://{address}")?,
                    None => write!(f, "{comma}http://?")?,
                },
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

impl Listener {
    fn tcp_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix(..) => None,
        }
    }

    pub(super) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(Stream, Peer)>> {
        match self {
            Self::Tcp(listener) => listener.poll_accept(cx).map_ok(|(stream, peer)| {
                // A reply of several small writes would else wait for the peer's delayed acknowledgement.
                let _ = stream.set_nodelay(true);
                (Stream::Tcp(stream), Peer::Tcp(peer))
            }),
            Self::Unix(listener, _) => {
                listener.poll_accept(cx).map_ok(|(stream, _)| (Stream::Unix(stream), Peer::Unix))
            }
        }
    }
}

/// Opens the sockets of `address`.
///
/// `localhost` is every loopback address that this machine has, all with the same port: what a client finds behind
/// that name must be us. A socket file that nobody answers on is replaced.
///
/// # Errors
///
/// When an address is taken, unknown or forbidden, or the path holds something else than a dead socket.
pub(crate) async fn bind(address: &Listen) -> Result<Bound, BindError> {
    let listeners = match address {
        Listen::Unix { path, mode } => {
            let (listener, file) = bind_file(path, *mode).await?;
            vec![Listener::Unix(listener, file)]
        }
        Listen::Tcp { host: Host::Localhost, port } => bind_loopback(*port)?,
        Listen::Tcp { host: Host::Ip(ip), port } => vec![bind_tcp(SocketAddr::new(*ip, *port))?],
        Listen::Tcp { host: Host::Name(name), port } => vec![bind_name(name, *port).await?],
    };
    Ok(Bound { listeners })
}

async fn bind_name(name: &str, port: u16) -> Result<Listener, BindError> {
    let unresolved = |source| BindError::Resolve { host: name.to_owned(), source };
    let mut error = unresolved(io::Error::from(io::ErrorKind::NotFound));
    for address in tokio::net::lookup_host((name, port)).await.map_err(unresolved)? {
        match bind_tcp(address) {
            Ok(listener) => return Ok(listener),
            Err(refused) => error = refused,
        }
    }
    Err(error)
}

fn bind_loopback(port: u16) -> Result<Vec<Listener>, BindError> {
    // With port 0 the system picks one for the first address, which may be taken on the second.
    let mut tries = if port == 0 { 16 } else { 1 };
    loop {
        tries -= 1;
        match try_loopback(port) {
            Err(BindError::Bind { source, .. }) if tries > 0 && source.kind() == io::ErrorKind::AddrInUse => {
            }
            done => return done,
        }
    }
}

fn try_loopback(port: u16) -> Result<Vec<Listener>, BindError> {
    let mut listeners: Vec<Listener> = Vec::with_capacity(2);
    let mut port = port;
    let mut absent = None;
    for ip in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        match bind_tcp(SocketAddr::new(ip, port)) {
            Ok(listener) => {
                port = listener.tcp_address().map_or(port, |a| a.port());
                listeners.push(listener);
            }
            Err(BindError::Bind { source, address }) if is_absent(&source) => {
                absent = Some(BindError::Bind { source, address });
            }
            Err(error) => return Err(error),
        }
    }
    match absent {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

/// This machine has no such address, or not the whole family of addresses.
fn is_absent(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT].iter().any(|errno| code == Some(errno.raw_os_error()))
}

fn bind_tcp(address: SocketAddr) -> Result<Listener, BindError> {
    let open = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A restart must not wait for the last run's connections to leave TIME_WAIT.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    let failed = |source| BindError::Bind { address: address.to_string(), source };
    open().map(Listener::Tcp).map_err(failed)
}
