//! What one attempt says: whose fault it was, and how long to wait.

use std::time::Duration;

use tidegate_token_manager::Remaining;

use crate::Error;

/// Whose fault an attempt's end was.
///
/// The table that leads from a status or an error to a fault is [`Classifier`](crate::Classifier)'s and
/// [`Error::fault`]'s; everything else only reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// Nobody's: the answer is a good one. The token succeeded.
    None,
    /// The token's: the upstream limits it. It cools down and the request switches to another.
    TokenLimited,
    /// The token's: the upstream does not accept it. It cools down; the second time in a row it is unavailable.
    TokenRejected,
    /// Open: a 403 that may be the page's as well as the token's. Only another token's answer can tell.
    Forbidden,
    /// The upstream's: a retry may help, another token does not.
    Upstream,
    /// The request's own: the answer is handed on as it is. The token did its work.
    Request,
    /// The settings': nothing that is tried again will help.
    Configuration,
    /// The caller's: it went away, or its own body broke.
    Caller,
}

impl Fault {
    /// The name in metrics and logs, in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::TokenLimited => "token_limited",
            Self::TokenRejected => "token_rejected",
            Self::Forbidden => "forbidden",
            Self::Upstream => "upstream",
            Self::Request => "request",
            Self::Configuration => "configuration",
            Self::Caller => "caller",
        }
    }

    /// Whether the token is charged at once: it was limited or rejected. An open 403 is not (yet).
    pub const fn is_token(self) -> bool {
        matches!(self, Self::TokenLimited | Self::TokenRejected)
    }
}

/// What one attempt says. It travels as a response extension; the retry policy and the pool only read it. A response
/// without one is a good answer that tells nothing: [`Verdict::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whose fault it was.
    pub fault: Fault,
    /// How long the upstream asks to be left alone: a floor under every computed wait.
    pub told: Option<Duration>,
    /// The token's quota is used up, and comes back after so long.
    pub quota: Option<Duration>,
    /// What is told to be left of the token's quota.
    pub remaining: Option<Remaining>,
}

impl Verdict {
    /// A verdict without told delays.
    pub const fn new(fault: Fault) -> Self {
        Self { fault, told: None, quota: None, remaining: None }
    }
}

impl Verdict {
    /// The verdict that a [`ClassifyLayer`](crate::ClassifyLayer) put on a response.
    pub fn of<B>(response: &http::Response<B>) -> Self {
        response.extensions().get::<Self>().copied().unwrap_or(Self::new(Fault::None))
    }
}

impl From<&Error> for Verdict {
    fn from(error: &Error) -> Self {
        Self::new(error.fault())
    }
}
