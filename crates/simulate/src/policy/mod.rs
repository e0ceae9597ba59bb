//! Ways of spending tokens: ours, others', and the best there is.

mod best;
mod fixed;
mod ours;
mod pixivfe;
mod round_robin;

use std::fmt;
use std::future::Future;
use std::str::FromStr;

use http::StatusCode;

pub use best::Best;
pub use fixed::Fixed;
pub use ours::{Ours, OursSettings, SettingsError};
pub use pixivfe::{PixivFe2, PixivFe3};
pub use round_robin::RoundRobin;

use crate::measure::Outcome;
use crate::world::Arrival;

/// Takes requests to the upstream in its own way. A clone is the same one.
pub trait Policy: Clone + Send + Sync + 'static {
    /// One request, to its end.
    fn serve(&self, arrival: Arrival) -> impl Future<Output = Outcome> + Send;
}

/// The policies by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// Tidegate's own stack.
    Ours,
    /// PixivFE v2: up to 3 tokens, up to 4 tries with each.
    PixivFe2,
    /// PixivFE v3: one try.
    PixivFe3,
    /// A refused token rests 5 s; up to 3 tokens, without a wait.
    Fixed,
    /// The next token whatever was answered; up to 3 tokens, without a wait.
    RoundRobin,
    /// One that has the upstream's books before it.
    Best,
}

impl Named {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Ours, Self::PixivFe2, Self::PixivFe3, Self::Fixed, Self::RoundRobin, Self::Best];

    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::PixivFe2 => "pixivfe-v2",
            Self::PixivFe3 => "pixivfe-v3",
            Self::Fixed => "fixed",
            Self::RoundRobin => "round-robin",
            Self::Best => "best",
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text names no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected ours, pixivfe-v2, pixivfe-v3, fixed, round-robin or best")]
pub struct UnknownPolicy;

impl FromStr for Named {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        Self::ALL.into_iter().find(|named| named.as_str() == text).ok_or(UnknownPolicy)
    }
}

/// What an answer that is handed on means to the client.
fn outcome(status: StatusCode) -> Outcome {
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::UNAUTHORIZED => Outcome::Refused,
        status if status.is_server_error() => Outcome::Failed,
        _ => Outcome::Served,
    }
}
