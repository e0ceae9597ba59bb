use std::{path::PathBuf, time::Duration};

use tidegate_backoff_core::CoolDown;

use super::{ClientCredential, Credential, Signing};
use crate::tokens::TokenEntry;

/// One pool of tokens: `[token]` is the pool `default`, `[pool.NAME]` any other.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pool {
    /// `default`, or the NAME of `[pool.NAME]`.
    pub name: String,
    /// The tokens: the listed ones, then the file's, each value once.
    pub tokens: Vec<TokenEntry>,
    /// The file that tokens were read from. A change of it asks for a reload.
    pub file: Option<PathBuf>,
    /// The program that prints tokens, with its arguments.
    pub command: Option<String>,
    /// How often its tokens are fetched again by the program. Zero: only at a reload and after a rejection.
    pub refresh: Duration,
    /// How a token is put on a request. `None` only in a pool that no route uses, or when loaded for
    /// [`Purpose::Inspect`](crate::Purpose::Inspect).
    pub credential: Option<Credential>,
    /// What becomes of a request that brings its own.
    pub client_credential: ClientCredential,
    /// Which requests the pool signs.
    pub signing: Signing,
    /// How a token is chosen among the ready.
    pub strategy: Strategy,
    /// What a request does that finds no ready token.
    pub when_exhausted: WhenExhausted,
    /// How long a token rests.
    pub cool_down: CoolDown,
    /// How often one request may move to another token.
    pub max_switches: u32,
    /// How long one request may wait for tokens, in all. Zero: not at all.
    pub max_wait: Duration,
    /// How many requests may wait for a token at a time. Zero: none.
    pub max_waiting: u32,
    /// By what the upstream's limits for one token are told apart.
    pub scope: Scope,
    /// How many requests a token may carry at once; 0 is no bound.
    pub max_concurrency: u32,
    /// The upstream's known limit for one token, shared by all replicas.
    pub limit: Option<Limit>,
    /// Whether a pace is learned from what the upstream says.
    pub pacing: Pacing,
}

/// The longest rest of an unavailable token, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaxRest {
    /// The pool's longest cool-down, as in PixivFE.
    Max,
    Length(Duration),
}

impl MaxRest {
    /// `None` where it is another setting's.
    pub(crate) fn length(self) -> Option<Duration> {
        match self {
            Self::Max => None,
            Self::Length(length) => Some(length),
        }
    }
}

/// How a token is chosen among the ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Each in turn.
    #[default]
    RoundRobin,
    /// Any.
    Random,
    /// The one that has rested longest.
    LeastRecentlyUsed,
    /// Of two drawn, the one with fewer requests in flight.
    LeastLoaded,
}

impl Strategy {
    /// The word that the settings use, which is PixivFE's.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Random => "random",
            Self::LeastRecentlyUsed => "least-recently-used",
            Self::LeastLoaded => "least-loaded",
        }
    }
}

/// What a request does that finds no ready token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenExhausted {
    /// It waits its turn, within `max_wait` and its deadline.
    #[default]
    Wait,
    /// It is answered 503 at once.
    Fail,
    /// It gets the token that is free soonest, though it rests still (as PixivFE does).
    Soonest,
}

impl WhenExhausted {
    /// The word that the settings use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Fail => "fail",
            Self::Soonest => "soonest",
        }
    }
}

/// By what the upstream's limits for one token are told apart: cool-downs, quotas and limits are kept for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// By nothing: a token's limit is one.
    #[default]
    None,
    /// By the route that a request takes.
    Route,
    /// By this field of the response; before there is one, by the request's, or by what a request of the like was
    /// answered. In lower case.
    Header(String),
    /// By the text at this pointer (RFC 6901) in the request's JSON body.
    Json(String),
}

/// Whether a pool learns its pace from the upstream's answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pacing {
    /// It does.
    #[default]
    Learned,
    /// It does not.
    Off,
}

/// A known limit for one token: `count` requests in any `per`, written `100/1m`; or a token bucket that fills with
/// `count` in each `per` and holds `burst`, written `2/1s burst 10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// How many requests; at least 1.
    pub count: u32,
    /// In how long; above zero.
    pub per: Duration,
    /// Of a bucket: how many at once; at least 1.
    pub burst: Option<u32>,
}

impl Limit {
    /// The part of one of `replicas` gateways that share the token, rounded so that all parts together never pass
    /// the whole. When there are more replicas than requests, each has one in a longer time; of a burst each has one at
    /// least.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use tidegate_config::Limit;
    ///
    /// let limit = Limit { count: 100, per: Duration::from_secs(60), burst: None };
    /// assert_eq!(limit.share(3), Limit { count: 33, ..limit });
    /// assert_eq!(Limit { count: 1, ..limit }.share(3), Limit { count: 1, per: Duration::from_secs(180), ..limit });
    /// let bucket = Limit { burst: Some(10), ..limit };
    /// assert_eq!(bucket.share(3), Limit { per: Duration::from_secs(180), burst: Some(3), ..limit });
    /// ```
    #[must_use = "the share is returned, the limit stays whole"]
    pub fn share(self, replicas: u32) -> Self {
        let replicas = replicas.max(1);
        if let Some(burst) = self.burst {
            // A bucket fills evenly, so that its part is exact.
            return Self {
                per: self.per.saturating_mul(replicas),
                burst: Some((burst / replicas).max(1)),
                ..self
            };
        }
        match self.count / replicas {
            0 => {
                Self { count: 1, per: self.per.saturating_mul(replicas.div_ceil(self.count.max(1))), ..self }
            }
            count => Self { count, ..self },
        }
    }
}
