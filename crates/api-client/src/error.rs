//! Why an attempt, or a whole request, ended without a response.

use std::time::Duration;

use tidegate_token_manager::Exhausted;

use crate::{BoxError, Fault, PinnedToken};

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
    /// The token that the request is pinned to is not in the pool, or there is no pool.
    #[error("there is no token {0} to sign the request with")]
    UnknownToken(PinnedToken),
    /// The request cannot be sent as it is: a URL, header or proxy setting that is none.
    #[error("the request cannot be sent")]
    Configuration(#[source] BoxError),
    /// The caller's own body broke while it was sent.
    #[error("the request's own body broke")]
    RequestBody(#[source] BoxError),
    /// The response body broke off after its head was there.
    #[error("the response body broke off")]
    ResponseBody(#[source] BoxError),
    /// A transport of another kind failed, in a way that is not known here. The request may have been sent.
    #[error("the transport failed")]
    Transport(#[source] BoxError),
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
            | Self::Deadline
            | Self::ResponseBody(_)
            | Self::Transport(_) => Fault::Upstream,
            Self::Certificate(_) | Self::Configuration(_) | Self::UnknownToken(_) => Fault::Configuration,
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
                | Self::UnknownToken(_)
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
            Self::UnknownToken(_) => "unknown_token",
            Self::Configuration(_) => "configuration",
            Self::RequestBody(_) => "request_body",
            Self::ResponseBody(_) => "response_body",
            Self::Transport(_) => "transport",
            Self::Closed => "closed",
        }
    }
}

impl From<BoxError> for Error {
    /// Whatever a transport fails with: an `Error` is taken as it is, those of hyper and reqwest are read (with the
    /// feature of that name), all else is [`Error::Transport`].
    fn from(error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(own) => *own,
            #[cfg(any(feature = "hyper", feature = "reqwest"))]
            Err(foreign) => crate::transport::read_error(foreign),
            #[cfg(not(any(feature = "hyper", feature = "reqwest")))]
            Err(foreign) => Self::Transport(foreign),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn each_kind_has_its_fault() {
        let cause = || BoxError::from("the cause");
        let second = Duration::from_secs(1);
        let exhausted = Exhausted { total: 3, retry_in: Some(second), only: None };
        let rows = [
            (Error::Connect(cause()), "connect", Fault::Upstream, true),
            (Error::Handshake(cause()), "tls_handshake", Fault::Upstream, true),
            (Error::Certificate(cause()), "certificate", Fault::Configuration, true),
            (Error::Reset(cause()), "reset", Fault::Upstream, false),
            (Error::RefusedStream(cause()), "refused_stream", Fault::Upstream, true),
            (Error::Protocol(cause()), "protocol", Fault::Upstream, false),
            (Error::AttemptTimeout { timeout: second }, "attempt_timeout", Fault::Upstream, false),
            (Error::Deadline, "deadline", Fault::Upstream, false),
            (Error::NoToken(exhausted), "no_token", Fault::TokenLimited, false),
            (Error::UnknownToken(PinnedToken::named("work")), "unknown_token", Fault::Configuration, true),
            (Error::Configuration(cause()), "configuration", Fault::Configuration, true),
            (Error::RequestBody(cause()), "request_body", Fault::Caller, false),
            (Error::ResponseBody(cause()), "response_body", Fault::Upstream, false),
            (Error::Transport(cause()), "transport", Fault::Upstream, false),
            (Error::Closed, "closed", Fault::Caller, false),
        ];
        for (error, kind, fault, unsent) in rows {
            assert_eq!((error.kind(), error.fault(), error.surely_unsent()), (kind, fault, unsent));
            // A message leaves its cause to `source`.
            assert!(!error.to_string().contains("the cause"), "{error}");
            let told = error.source().map(ToString::to_string);
            assert!(told.is_none_or(|told| told == "the cause"), "{kind}");
        }
    }

    #[test]
    fn figures_are_told() {
        let timeout = Error::AttemptTimeout { timeout: Duration::from_millis(1500) };
        assert_eq!(timeout.to_string(), "no response head within 1.5s");
        let exhausted = Exhausted { total: 3, retry_in: Some(Duration::from_secs(7)), only: None };
        assert_eq!(Error::from(exhausted).to_string(), exhausted.to_string());
        let unknown = Error::UnknownToken(PinnedToken::named("work"));
        assert_eq!(unknown.to_string(), "there is no token \"work\" to sign the request with");
    }
}
