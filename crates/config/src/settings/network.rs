use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// A network such as `10.0.0.0/8`; a single address is one too.
///
/// ```
/// use tidegate_config::Network;
///
/// let network: Network = "10.1.2.3/8".parse()?;
/// assert!(network.contains("10.255.0.1".parse()?));
/// assert_eq!(network.to_string(), "10.0.0.0/8");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(IpNet);

impl Network {
    /// Whether the address lies in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

impl FromStr for Network {
    type Err = UnknownNetwork;

    /// # Errors
    ///
    /// [`UnknownNetwork`] for a text that is neither a network nor an address.
    fn from_str(text: &str) -> Result<Self, UnknownNetwork> {
        let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(|network| Self(network.trunc())).map_err(|_| UnknownNetwork(()))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that names no [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no network; write one such as 10.0.0.0/8, fd00::/8 or 192.0.2.1")]
pub struct UnknownNetwork(());
