//! The two HTTP transports: both are tower services with the same settings, errors and tests.
//!
//! No redirects, no referer, no retries of their own, no decompression; the environment is not read.

use std::{fmt, time::Duration};

#[cfg(any(feature = "hyper", feature = "reqwest"))]
use http::uri::{Authority, Scheme, Uri};

#[cfg(all(feature = "hyper", feature = "reqwest"))]
mod auto;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
mod exchange;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
mod failure;
#[cfg(feature = "hyper")]
mod hyper;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
mod incoming;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
pub(crate) use self::incoming::Received;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
mod outgoing;
#[cfg(feature = "reqwest")]
mod reqwest;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
mod tls;

#[cfg(all(feature = "hyper", feature = "reqwest"))]
pub use self::auto::{AutoFuture, AutoTransport};
#[cfg(feature = "hyper")]
pub use self::hyper::{HyperFuture, HyperTransport};
#[cfg(feature = "reqwest")]
pub use self::reqwest::{ReqwestFuture, ReqwestTransport};

/// What both transports are made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransportParams {
    /// How long a connection may take, from the name's lookup to the end of the TLS handshake. Zero: no bound.
    pub connect_timeout: Duration,
    /// How long an idle connection is kept for the next request. Zero: until the upstream closes it.
    pub pool_idle_timeout: Duration,
    /// Which versions of HTTP are spoken.
    pub version: Version,
    /// More root certificates (DER) to trust, beside the system's.
    pub extra_roots: Vec<Vec<u8>>,
    /// The way through a proxy. Only [`ReqwestTransport`] knows proxies.
    pub proxy: Proxy,
}

impl Default for TransportParams {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            pool_idle_timeout: Duration::from_secs(90),
            version: Version::Negotiated,
            extra_roots: Vec::new(),
            proxy: Proxy::Off,
        }
    }
}

/// Which versions of HTTP a transport speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Version {
    /// HTTP/2 where the upstream offers it over TLS, else HTTP/1.1.
    #[default]
    Negotiated,
    /// HTTP/1.1 alone.
    Http1,
    /// HTTP/2 alone, also in plain text ("prior knowledge").
    Http2,
}

/// The way through a proxy.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proxy {
    /// Directly.
    #[default]
    Off,
    /// Everything through this proxy: `http://`, `https://`, with `user:password@` if it wants one.
    All(String),
    /// As the usual environment variables say; they are given as values, a transport reads no environment.
    Environment {
        /// `HTTP_PROXY`
        http: Option<String>,
        /// `HTTPS_PROXY`
        https: Option<String>,
        /// `ALL_PROXY`
        all: Option<String>,
        /// `NO_PROXY`
        no_proxy: Option<String>,
    },
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A proxy's URL may hold its password.
        f.write_str(match self {
            Self::Off => "Off",
            Self::All(_) => "All(..)",
            Self::Environment { .. } => "Environment { .. }",
        })
    }
}

/// What an error of some client says, be it one of these transports' or not.
#[cfg(any(feature = "hyper", feature = "reqwest"))]
pub(crate) fn read_error(error: crate::BoxError) -> crate::Error {
    let connecting = is_connect(&*error);
    let stage = if connecting { failure::Stage::Connecting } else { failure::Stage::Unknown };
    failure::read(error, stage)
}

#[cfg(any(feature = "hyper", feature = "reqwest"))]
fn is_connect(error: &(dyn std::error::Error + 'static)) -> bool {
    use hyper_util::client::legacy::Error as HyperError;

    if error.downcast_ref::<HyperError>().is_some_and(HyperError::is_connect) {
        return true;
    }
    #[cfg(feature = "reqwest")]
    if error.downcast_ref::<::reqwest::Error>().is_some_and(::reqwest::Error::is_connect) {
        return true;
    }
    false
}

/// Both clients send to absolute `http` and `https` targets alone: the scheme and the authority of one.
#[cfg(any(feature = "hyper", feature = "reqwest"))]
fn check_target(target: &Uri) -> Result<(&Scheme, &Authority), crate::Error> {
    let fault = match (target.scheme(), target.authority()) {
        (Some(scheme), Some(authority)) if is_http(scheme) && names_a_host(authority) => {
            return Ok((scheme, authority));
        }
        (Some(scheme), _) if is_http(scheme) => "the URL has no host",
        (Some(_), _) => "the URL's scheme is neither http nor https",
        (None, _) => "the URL has no scheme",
    };
    Err(crate::Error::Configuration(fault.into()))
}

#[cfg(any(feature = "hyper", feature = "reqwest"))]
fn is_http(scheme: &Scheme) -> bool {
    [Scheme::HTTP, Scheme::HTTPS].contains(scheme)
}

/// As `!authority.host().is_empty()`, which searches the whole of it twice.
#[cfg(any(feature = "hyper", feature = "reqwest"))]
fn names_a_host(authority: &Authority) -> bool {
    let host_and_port = authority.as_str().bytes().rev().take_while(|&byte| byte != b'@');
    host_and_port.last().is_some_and(|first| first != b':')
}

/// Says `Content-Length: 0` of an empty body where the method expects one (RFC 9110, section 8.6): hyper says nothing,
/// and some servers answer that with 411.
#[cfg(any(feature = "hyper", feature = "reqwest"))]
fn tell_empty(parts: &mut http::request::Parts, body: &impl http_body::Body) {
    use http::{HeaderValue, Method, header::CONTENT_LENGTH};

    let expects_body = [Method::POST, Method::PUT, Method::PATCH].contains(&parts.method);
    if expects_body && body.is_end_stream() {
        parts.headers.entry(CONTENT_LENGTH).or_insert(const { HeaderValue::from_static("0") });
    }
}

#[cfg(all(test, any(feature = "hyper", feature = "reqwest")))]
mod tests {
    use super::*;

    #[test]
    fn a_target_names_a_host() {
        let authorities =
            ["a", "a:80", "u:p@a", "u:p@a:80", "u@", "u:p@", "u@:80", ":80", "[::1]:80", "[::1]"];
        for authority in authorities {
            let Ok(authority) = authority.parse::<Authority>() else { continue };
            assert_eq!(names_a_host(&authority), !authority.host().is_empty(), "{authority}");
        }
    }
}
