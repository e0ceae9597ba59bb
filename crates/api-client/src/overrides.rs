//! What a single request may ask for, as an extension of it.

use std::fmt;
use std::sync::Arc;

use tidegate_token_manager::{TokenId, TokenManager};

/// A request extension: whether this request may be sent again, whatever its method says.
///
/// Beside it [`Deadline`](crate::Deadline), [`Timeouts`](crate::Timeouts) and [`RetryParams`](crate::RetryParams) are
/// taken from a request's extensions too, before those of the layers.
///
/// ```
/// use tidegate_api_client::{Body, Repeat};
///
/// // A search is harmless, though it is a POST.
/// let request = http::Request::post("/search").extension(Repeat::Harmless).body(Body::from("q=tide"))?;
/// # let _ = request;
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// It may be repeated as if its method were idempotent.
    Harmless,
    /// It may be repeated only when the upstream surely did not act on it, whatever its method.
    Harmful,
    /// It is sent once: neither repeated nor moved to another token.
    Never,
}

/// A request extension: this token of the pool signs the request, and no other.
///
/// The request waits for it as any request waits for a token, and keeps nobody from another. Where the upstream
/// refuses the token, the request is not moved to another: the caller gets the refusal. A retry after a fault of the
/// upstream goes with the same token. Where it cannot be lent in time, that is [`Error::NoToken`](crate::Error::NoToken)
/// with how it stands, and one that there is not [`Error::UnknownToken`](crate::Error::UnknownToken).
///
/// ```
/// use tidegate_api_client::{Body, PinnedToken};
///
/// let request = http::Request::get("/me").extension(PinnedToken::named("work")).body(Body::empty())?;
/// # let _ = request;
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PinnedToken {
    /// By its id.
    Id(TokenId),
    /// By its name in the settings.
    Named(Arc<str>),
}

impl PinnedToken {
    /// The token of this name.
    pub fn named(name: &str) -> Self {
        Self::Named(name.into())
    }

    /// Its id in this pool, if there is such a token.
    pub(crate) fn find(&self, pool: &TokenManager) -> Option<TokenId> {
        match self {
            Self::Id(id) => Some(*id).filter(|id| pool.has(*id)),
            Self::Named(name) => pool.find(name),
        }
    }
}

impl fmt::Display for PinnedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Named(name) => write!(f, "{name:?}"),
        }
    }
}
