//! Why an attempt, or a whole request, ended without a response.

use std::time::Duration;

use tidegate_token_manager::Exhausted;

use crate::{BoxError, Fault};

/// Why there is no response.
///
/// A message never repeats its cause (that is [`source`](std::error::Error::source)), and neither holds a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The connection was never made: refused, unreachable, no such name, or not within the connect timeout.
    #[error("the upstream could not be reached")]
    Connect(#[source] BoxError),
    /// The TLS handshake was cut, or the upstream spoke something else.
    #[error("the TLS handshake with the upstream failed")]
    Handshake(#[source] BoxError),
    /// The upstream's certificate is not accepted. Settings, not luck: trying again does not help.
    #[error("the upstream's certificate is not accepted")]
    Certificate(#[source] BoxError),
    /// The connection ended before a whole response head was there.
    #[error("the upstream closed the connection before its response head")]
    Reset(#[source] BoxError),
    /// HTTP/2 said that the request was not looked at: REFUSED_STREAM, or a GOAWAY that leaves it out.
    #[error("the upstream refused the stream before it looked at the request")]
    RefusedStream(#[source] BoxError),
    /// What came back is not HTTP.
    #[error("the upstream's answer is not valid HTTP")]
    Protocol(#[source] BoxError),
    /// No response head in time.
    #[error("no response head within {timeout:?}")]
    AttemptTimeout {
        /// How long one attempt may take from the sent request to the head.
        timeout: Duration,
    },
    /// The request's deadline passed.
    #[error("the request's deadline passed")]
    Deadline,
    /// No token is to be had in time.
    #[error(transparent)]
    NoToken(#[from] Exhausted),
    /// The request cannot be sent as it is: a URL, header or proxy setting that is none.
    #[error("the request cannot be sent")]
    Configuration(#[source] BoxError),
    /// The caller's own body broke while it was sent.
    #[error("the request's own body broke")]
    RequestBody(#[source] BoxError),
    /// The client is shut down.
    #[error("the client is closed")]
    Closed,
}

impl Error {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Connect(_)
            | Self::Handshake(_)
            | Self::Reset(_)
            | Self::RefusedStream(_)
            | Self::Protocol(_)
            | Self::AttemptTimeout { .. }
            | Self::Deadline => Fault::Upstream,
            Self::Certificate(_) | Self::Configuration(_) => Fault::Configuration,
            Self::NoToken(_) => Fault::TokenLimited,
            Self::RequestBody(_) | Self::Closed => Fault::Caller,
        }
    }

    /// Whether the request surely never reached the application, so that even an unsafe one may be sent again:
    /// the connection was never made, or HTTP/2 said so.
    pub fn surely_unsent(&self) -> bool {
        matches!(
            self,
            Self::Connect(_)
                | Self::Handshake(_)
                | Self::Certificate(_)
                | Self::RefusedStream(_)
                | Self::Configuration(_)
        )
    }

    /// The kind as a label for metrics and logs, in snake case.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Handshake(_) => "tls_handshake",
            Self::Certificate(_) => "certificate",
            Self::Reset(_) => "reset",
            Self::RefusedStream(_) => "refused_stream",
            Self::Protocol(_) => "protocol",
            Self::AttemptTimeout { .. } => "attempt_timeout",
            Self::Deadline => "deadline",
            Self::NoToken(_) => "no_token",
            Self::Configuration(_) => "configuration",
            Self::RequestBody(_) => "request_body",
            Self::Closed => "closed",
        }
    }
}
