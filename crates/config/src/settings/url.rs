use std::fmt;

/// The origin and base path of an upstream: nothing else of a URL is allowed in the settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BaseUrl {
    pub(crate) scheme: Scheme,
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) path: String,
}

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// `http` or `https`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// 80 or 443.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl BaseUrl {
    /// How it is spoken to.
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host in lower case, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, said or the scheme's own.
    pub const fn port(&self) -> u16 {
        match self.port {
            Some(port) => port,
            None => self.scheme.default_port(),
        }
    }

    /// Host and port as the Host field holds them: without the scheme's own port.
    pub fn authority(&self) -> String {
        match self.port {
            Some(port) if port != self.scheme.default_port() => format!("{}:{port}", self.host),
            _ => self.host.clone(),
        }
    }

    /// Scheme and authority, such as `https://www.pixiv.net`.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme.as_str(), self.authority())
    }

    /// The base path as it was written, such as `/` or `/v1`; always begins with `/`.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin())?;
        if self.path == "/" { Ok(()) } else { f.write_str(&self.path) }
    }
}
