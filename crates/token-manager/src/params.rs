use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tidegate_backoff_core::CoolDown;

/// How a pool lends. Takes effect at once through [`set_params`](crate::TokenManager::set_params).
///
/// ```
/// use std::time::Duration;
/// use tidegate_token_manager::{Limit, PoolParams, Strategy};
///
/// let params = PoolParams {
///     strategy: Strategy::LeastRecentlyUsed,
///     limit: Some(Limit::window(100, Duration::from_secs(60))),
///     ..PoolParams::default()
/// };
/// assert_eq!(params.max_wait, Duration::from_secs(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolParams {
    /// How long a refused token rests.
    pub cool_down: CoolDown,
    /// Which of the ready tokens is lent next: round-robin.
    pub strategy: Strategy,
    /// What happens when none is ready: wait.
    pub when_exhausted: WhenExhausted,
    /// The longest that one request waits for tokens, in all: 5 s.
    pub max_wait: Duration,
    /// How many leases of one token there may be at a time, bodies that still stream included; 0 is any
    /// number.
    pub max_concurrency: u32,
    /// A limit of the upstream's that is known beforehand, kept for each token: none.
    pub limit: Option<Limit>,
    /// How many requests may wait at a time: 1024. More are refused at once.
    pub max_waiting: usize,
    /// Whether the pool learns what its tokens are granted: it does.
    pub pacing: Pacing,
}

impl Default for PoolParams {
    fn default() -> Self {
        Self {
            cool_down: CoolDown::default(),
            strategy: Strategy::default(),
            when_exhausted: WhenExhausted::default(),
            max_wait: Duration::from_secs(5),
            max_concurrency: 0,
            limit: None,
            max_waiting: 1024,
            pacing: Pacing::default(),
        }
    }
}

/// At most `count` leases of one token in any window of `per`; or with a `burst`, a token bucket.
///
/// A lease counts in a window from the moment at which it was lent. Its upstream counts it later, when it arrives: so it
/// counts until `per` after its answer, or after a hundredth of `per` if that comes before. Up to 256 a window this is
/// exact. Above, lends are counted in up to 256 groups, each of which leaves the window with its latest: never above
/// the limit, and below it by less than a 256th.
///
/// A bucket fills with `count` in each `per`, evenly, and holds `burst`. A `count`, a `per` or a `burst` of zero is no
/// limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// How many leases.
    pub count: u32,
    /// In how long.
    pub per: Duration,
    /// Of a bucket: how many at once, after a time without use. None for a window.
    pub burst: Option<u32>,
}

impl Limit {
    /// At most so many in any `per`.
    pub const fn window(count: u32, per: Duration) -> Self {
        Self { count, per, burst: None }
    }

    /// So many in each `per`, evenly, and up to `burst` at once.
    pub const fn bucket(count: u32, per: Duration, burst: u32) -> Self {
        Self { count, per, burst: Some(burst) }
    }

    pub(crate) fn limits(&self) -> bool {
        self.count > 0 && !self.per.is_zero() && self.burst != Some(0)
    }
}

/// Which of the ready tokens is lent next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// In the settings' order, round and round. Weights are kept exactly: 3 and 1 give 75 and 25 of each 100.
    #[default]
    RoundRobin,
    /// Any, as likely as its weight says.
    Random,
    /// The one whose last use is longest ago; a token of weight 3 is lent three times before its use counts.
    LeastRecentlyUsed,
    /// Of two drawn at random, the one with fewer leases out for its weight.
    LeastLoaded,
}

/// Whether the refusals of a token teach the pool how fast to use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pacing {
    /// A token that was refused is lent no faster than its upstream seems to grant
    /// ([`Pace`](tidegate_backoff_core::Pace)). Where no limit is met, nothing changes.
    ///
    /// A request is let wait for a paced pool only up to about a third of `max_wait`: what does not fit into so short a
    /// queue would not be served by a longer one either, but later.
    #[default]
    Learned,
    /// Tokens are lent until they are refused.
    Off,
}

/// What happens to a request for which no token is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenExhausted {
    /// It waits its turn, unless that is sure to take too long.
    #[default]
    Wait,
    /// It is refused at once.
    Fail,
    /// It gets the token that is free soonest, though that one still rests (PixivFE's way). Limits and
    /// `max_concurrency` hold; a token that the request has tried, or that an operator has disabled, is not
    /// lent so: then it waits.
    Soonest,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::RoundRobin, Self::Random, Self::LeastRecentlyUsed, Self::LeastLoaded];

    /// The name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Random => "random",
            Self::LeastRecentlyUsed => "least-recently-used",
            Self::LeastLoaded => "least-loaded",
        }
    }
}

impl WhenExhausted {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Wait, Self::Fail, Self::Soonest];

    /// The name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Fail => "fail",
            Self::Soonest => "soonest",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for WhenExhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Strategy {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let names = "round-robin, random, least-recently-used or least-loaded";
        Self::ALL.into_iter().find(|it| it.as_str() == text).ok_or(UnknownName { names })
    }
}

impl FromStr for WhenExhausted {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|it| it.as_str() == text)
            .ok_or(UnknownName { names: "wait, fail or soonest" })
    }
}

/// The text names none of the choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {names}")]
pub struct UnknownName {
    names: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        for choice in WhenExhausted::ALL {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        assert_eq!(
            "Wait".parse::<WhenExhausted>().unwrap_err().to_string(),
            "expected wait, fail or soonest"
        );
    }
}
