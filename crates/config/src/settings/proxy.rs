use std::fmt;

use crate::secret::Secret;

/// How the upstream is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proxy {
    /// As the usual variables say: see [`ProxyVariables`].
    #[default]
    Environment,
    /// Directly, whatever the variables say.
    Off,
    /// Through this proxy.
    Url(ProxyUrl),
}

/// The URL of a proxy (`http`, `https`, `socks5` or `socks5h`). It may hold a password, so it is printed without its
/// user.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyUrl {
    pub(crate) url: Secret,
    pub(crate) shown: String,
}

impl ProxyUrl {
    /// The whole URL, password and all.
    pub fn expose(&self) -> &str {
        self.url.expose()
    }
}

impl fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyUrl({})", self.shown)
    }
}

impl fmt::Display for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` as found in `.env` or the environment, lower case before
/// upper case. They are kept as they are: what they mean is the transport's to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyVariables {
    /// For `http` upstreams.
    pub http: Option<Secret>,
    /// For `https` upstreams.
    pub https: Option<Secret>,
    /// For both, where the one above is not set.
    pub all: Option<Secret>,
    /// Hosts that are reached directly.
    pub no: Option<String>,
}

impl ProxyVariables {
    /// Whether some proxy is named at all.
    pub fn any(&self) -> bool {
        self.http.is_some() || self.https.is_some() || self.all.is_some()
    }
}
