//! Our own errors on the wire: RFC 9457 `application/problem+json`.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde::Serialize;
use tidegate_api_client::{BodyIdle, Error};
use tidegate_token_manager::{Exhausted, whole_seconds};

use crate::client_rate::TooFast;
use crate::listen::RequestBodyError;
use crate::target::Refusal;

#[cfg(test)]
mod tests;

/// Why the gateway itself answers a request. The message is the `detail` that a client reads.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error(transparent)]
    Target(#[from] Refusal),
    #[error("the request brings no client key of this gateway, or a wrong one")]
    ClientKey,
    #[error("the tokens of this gateway do not sign this method and path; bring a credential of your own")]
    NotPooled,
    #[error("this gateway does not take a client's own credential for the upstream")]
    OwnCredential,
    #[error("no route of this gateway begins the path")]
    NoRoute,
    #[error("the request body did not come whole: nothing came for {0:?}")]
    BodyStalled(Duration),
    #[error("the request body did not come whole")]
    BodyBroken,
    #[error("the request body is longer than {limit} bytes")]
    BodyTooLarge { limit: u64 },
    #[error("client {client} may send {} requests in {:?}", too_fast.quota, too_fast.window)]
    ClientRate { client: Arc<str>, too_fast: TooFast },
    #[error("{limit} requests are under way, and no more are taken")]
    Shed { limit: usize },
    #[error("the gateway is about to stop")]
    Stopping,
    #[error(transparent)]
    Exhausted(Exhausted),
    #[error("the upstream could not be reached")]
    Unreachable,
    #[error("the TLS handshake with the upstream failed")]
    Handshake,
    #[error("the upstream's certificate is not accepted")]
    Certificate,
    #[error("the upstream closed the connection before it answered")]
    Reset,
    #[error("the upstream's answer is not valid HTTP")]
    Protocol,
    #[error("the request cannot be sent to the upstream as the settings are")]
    Configuration,
    #[error("the upstream did not answer within {0:?}")]
    AttemptTimeout(Duration),
    #[error("the upstream did not answer within the time that the request has")]
    Deadline,
    #[error("the gateway has failed; its log says more under this request id")]
    Internal,
}

/// Status, `urn:tidegate:` name and title of a kind of problem.
type Kind = (StatusCode, &'static str, &'static str);

impl Problem {
    fn kind(&self) -> Kind {
        use StatusCode as S;
        match self {
            Self::Target(Refusal::HostMissing | Refusal::HostDoubled | Refusal::HostInvalid) => {
                (S::BAD_REQUEST, "bad-host", "The Host field is not valid")
            }
            Self::Target(Refusal::NoPath | Refusal::DotSegment | Refusal::Backslash) => {
                (S::BAD_REQUEST, "bad-target", "The target is refused")
            }
            Self::Target(Refusal::Method(_)) => {
                (S::METHOD_NOT_ALLOWED, "method-not-allowed", "The method is not allowed")
            }
            Self::Target(Refusal::TransferCoding) => {
                (S::NOT_IMPLEMENTED, "no-transfer-coding", "The transfer coding is not understood")
            }
            Self::Target(Refusal::Upgrade) => {
                (S::NOT_IMPLEMENTED, "no-upgrade", "Upgrades are not supported")
            }
            Self::ClientKey => (S::UNAUTHORIZED, "client-key", "A client key is needed"),
            Self::NotPooled => (S::FORBIDDEN, "not-pooled", "Not signed by the pool"),
            Self::OwnCredential => (S::FORBIDDEN, "own-credential", "Own credentials are refused"),
            Self::NoRoute => (S::NOT_FOUND, "no-route", "No such route"),
            Self::BodyStalled(_) => (S::REQUEST_TIMEOUT, "body-timeout", "The request body did not come"),
            Self::BodyBroken => (S::BAD_REQUEST, "bad-body", "The request body is not whole"),
            Self::BodyTooLarge { .. } => {
                (S::PAYLOAD_TOO_LARGE, "body-too-large", "The request body is too large")
            }
            Self::ClientRate { .. } => (S::TOO_MANY_REQUESTS, "client-rate", "Too many requests"),
            Self::Shed { .. } => (S::SERVICE_UNAVAILABLE, "shed", "The gateway is full"),
            Self::Stopping => (S::SERVICE_UNAVAILABLE, "stopping", "The gateway is stopping"),
            Self::Exhausted(_) => (S::SERVICE_UNAVAILABLE, "exhausted", "No token is available"),
            Self::Unreachable => {
                (S::BAD_GATEWAY, "upstream-unreachable", "The upstream could not be reached")
            }
            Self::Handshake => (S::BAD_GATEWAY, "upstream-tls", "The upstream's TLS handshake failed"),
            Self::Certificate => {
                (S::BAD_GATEWAY, "upstream-certificate", "The upstream's certificate is not valid")
            }
            Self::Reset => (S::BAD_GATEWAY, "upstream-reset", "The upstream closed the connection"),
            Self::Protocol => (S::BAD_GATEWAY, "upstream-protocol", "The upstream's answer is not valid"),
            Self::Configuration => {
                (S::BAD_GATEWAY, "upstream-configuration", "The upstream cannot be called")
            }
            Self::AttemptTimeout(_) => {
                (S::GATEWAY_TIMEOUT, "upstream-timeout", "The upstream did not answer in time")
            }
            Self::Deadline => (S::GATEWAY_TIMEOUT, "deadline", "The request's time is over"),
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal", "The gateway failed"),
        }
    }

    /// How long to stay away, where that is known and helps.
    fn retry_in(&self) -> Option<Duration> {
        match self {
            Self::ClientRate { too_fast, .. } => Some(too_fast.retry_in),
            Self::Exhausted(exhausted) => exhausted.retry_in,
            // What runs ends any moment; another gateway may take over at once.
            Self::Shed { .. } | Self::Stopping => Some(Duration::from_secs(1)),
            _ => None,
        }
    }

    fn field(&self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::ClientKey => {
                Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tidegate\"")))
            }
            Self::Target(Refusal::Method(_)) => {
                Some((ALLOW, HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")))
            }
            _ => None,
        }
    }

    /// The answer to the request of that id.
    pub(crate) fn response(&self, request_id: &str) -> Response<Full<Bytes>> {
        let (status, name, title) = self.kind();
        let document = Document {
            kind: &format!("urn:tidegate:{name}"),
            title,
            status: status.as_u16(),
            detail: &self.to_string(),
            request_id: Some(request_id),
            faults: &[],
        };
        let mut response = document.response();
        let fields = response.headers_mut();
        if let Some(wait) = self.retry_in() {
            fields.insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
        }
        fields.extend(self.field());
        if let Self::ClientRate { client, too_fast } = self {
            fields.extend(rate_limit(client, too_fast));
        }
        response
    }
}

/// The fields of draft-ietf-httpapi-ratelimit-headers-10. A client's name needs no escapes: it is letters, digits,
/// `_`, `-` and `.`.
fn rate_limit(client: &str, too_fast: &TooFast) -> [(HeaderName, HeaderValue); 2] {
    let TooFast { quota, window, retry_in } = *too_fast;
    let text = |text: String| HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
    let policy = format!("\"{client}\";q={quota};w={}", whole_seconds(window));
    let left = format!("\"{client}\";r=0;t={}", whole_seconds(retry_in));
    [
        (HeaderName::from_static("ratelimit-policy"), text(policy)),
        (HeaderName::from_static("ratelimit"), text(left)),
    ]
}

impl From<&Error> for Problem {
    /// What a caller is told of a request that got no answer.
    fn from(error: &Error) -> Self {
        match error {
            Error::Connect(_) => Self::Unreachable,
            Error::Handshake(_) => Self::Handshake,
            Error::Certificate(_) => Self::Certificate,
            Error::Reset(_) | Error::RefusedStream(_) => Self::Reset,
            Error::Protocol(_) => Self::Protocol,
            Error::AttemptTimeout { timeout } => Self::AttemptTimeout(*timeout),
            Error::Deadline => Self::Deadline,
            Error::NoToken(exhausted) => Self::Exhausted(*exhausted),
            Error::Configuration(_) | Error::UnknownToken(_) => Self::Configuration,
            Error::RequestBody(cause) => broken_body(&**cause),
            Error::Closed => Self::Stopping,
            _ => Self::Internal,
        }
    }
}

/// Why a client's body did not come whole: the cause lies below what the client of the upstream wraps around it.
fn broken_body(cause: &(dyn StdError + 'static)) -> Problem {
    let mut cause = Some(cause);
    while let Some(error) = cause {
        if let Some(RequestBodyError::Idle(timeout)) = error.downcast_ref() {
            return Problem::BodyStalled(*timeout);
        }
        if let Some(BodyIdle(timeout)) = error.downcast_ref() {
            return Problem::BodyStalled(*timeout);
        }
        if let Some(BodyLimitExceeded { limit }) = error.downcast_ref() {
            return Problem::BodyTooLarge { limit: *limit };
        }
        cause = error.source();
    }
    Problem::BodyBroken
}

/// A request body that has no length, and has passed the limit on its way.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the body is longer than {limit} bytes")]
pub(crate) struct BodyLimitExceeded {
    pub(crate) limit: u64,
}

/// A problem document.
#[derive(Debug, Serialize)]
pub(crate) struct Document<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    pub(crate) title: &'a str,
    pub(crate) status: u16,
    pub(crate) detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) faults: &'a [String],
}

impl Document<'_> {
    pub(crate) fn response(&self) -> Response<Full<Bytes>> {
        // A struct of strings and numbers always has a JSON form.
        let body = serde_json::to_vec(self).unwrap_or_default();
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let fields = response.headers_mut();
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(Ok(id)) = self.request_id.map(HeaderValue::from_str) {
            fields.insert(crate::request_id::REQUEST_ID, id);
        }
        response
    }
}
