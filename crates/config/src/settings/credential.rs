use std::fmt;

/// How a token is put on a request.
///
/// Written `cookie:NAME`, `bearer`, `header:NAME` or `query:NAME`. Names are validated when they are read: a cookie's
/// or a header's is a token of RFC 9110, in lower case for a header, and none of the fields that frame a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    /// `Cookie: NAME=token`.
    Cookie(String),
    /// `Authorization: Bearer token`.
    Bearer,
    /// `NAME: token`; the name is in lower case.
    Header(String),
    /// `?NAME=token`; a parameter of that name that the client sent is removed.
    Query(String),
}

impl fmt::Display for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cookie(name) => write!(f, "cookie:{name}"),
            Self::Bearer => f.write_str("bearer"),
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Query(name) => write!(f, "query:{name}"),
        }
    }
}

/// What becomes of a request that brings the upstream's credential itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientCredential {
    /// It goes outside the pool, as it is.
    Pass,
    /// It is answered 403.
    Refuse,
    /// The client's credential is dropped for one of the pool's.
    Replace,
}

impl ClientCredential {
    /// The word that the settings use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Refuse => "refuse",
            Self::Replace => "replace",
        }
    }

    /// What holds when nothing is set: a cookie is a person's own session and passes; a key is the gateway's to bring.
    pub const fn default_for(credential: &Credential) -> Self {
        match credential {
            Credential::Cookie(_) => Self::Pass,
            Credential::Bearer | Credential::Header(_) | Credential::Query(_) => Self::Replace,
        }
    }
}
