use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use crate::TokenId;

/// Where a token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It is lent.
    Ready,
    /// It was refused, or its quota is used up, and it rests.
    Cooling,
    /// Its rest is over: it is lent once, and what comes of that decides.
    Probing,
    /// It was refused too often and takes a long rest.
    Unavailable,
    /// An operator has barred it.
    Disabled,
}

/// Why a token is not lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The upstream said that it is over its limit.
    RateLimited,
    /// The upstream refused the token itself.
    Rejected,
    /// The upstream said that its quota is used up.
    QuotaEmpty,
    /// An operator has disabled it.
    Operator,
}

impl State {
    /// All of them, in the order of their fields in [`StateCounts`].
    pub const ALL: [Self; 5] = [Self::Ready, Self::Cooling, Self::Probing, Self::Unavailable, Self::Disabled];

    /// The name in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Cooling => "cooling",
            Self::Probing => "probing",
            Self::Unavailable => "unavailable",
            Self::Disabled => "disabled",
        }
    }
}

impl Reason {
    /// All of them, in the order of [`TokenStatus::cooldowns`].
    pub const ALL: [Self; 4] = [Self::RateLimited, Self::Rejected, Self::QuotaEmpty, Self::Operator];

    /// The name in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Rejected => "rejected",
            Self::QuotaEmpty => "quota_empty",
            Self::Operator => "operator",
        }
    }

    /// Its place in [`TokenStatus::cooldowns`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What people may know about a token: everything but its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenStatus {
    /// What stands for it.
    pub id: TokenId,
    /// Its name in the settings.
    pub name: Option<String>,
    /// Where it stands at the moment of the snapshot.
    pub state: State,
    /// Failures in a row.
    pub failures: u32,
    /// The end of its rest, while it is `Cooling` or `Unavailable`.
    pub until: Option<Instant>,
    /// How long that is from now; zero in every other state.
    pub retry_in: Duration,
    /// How many leases of it are out.
    pub in_flight: u32,
    /// Why it rests, probes or is barred; none when it is `Ready`.
    pub reason: Option<Reason>,
    /// The status of the latest response that it got.
    pub last_status: Option<u16>,
    /// How often it was lent.
    pub requests: u64,
    /// Reports of success.
    pub successes: u64,
    /// Reports that it was over its limit.
    pub rate_limited: u64,
    /// Reports that it was refused itself.
    pub rejected: u64,
    /// How often a rest began (or it was disabled), by reason, in the order of [`Reason::ALL`].
    pub cooldowns: [u64; 4],
    /// When it was last lent.
    pub last_used: Option<Instant>,
    /// The time between two lends at the pace that its refusals have taught, where they have
    /// ([`Pacing::Learned`](crate::Pacing::Learned)).
    pub pace: Option<Duration>,
    /// The scopes in which it is not ready, while it may be in others. All else but the counts is of requests
    /// without a scope.
    pub scopes: Vec<ScopeStatus>,
}

/// Where a token stands in a scope of its own limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeStatus {
    /// The scope.
    pub scope: String,
    /// Where the token stands in it.
    pub state: State,
    /// The end of its rest there.
    pub until: Option<Instant>,
    /// How long that is from now.
    pub retry_in: Duration,
    /// Why it rests there.
    pub reason: Option<Reason>,
}

/// How many of a pool's tokens are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// In [`State::Ready`].
    pub ready: usize,
    /// In [`State::Cooling`].
    pub cooling: usize,
    /// In [`State::Probing`].
    pub probing: usize,
    /// In [`State::Unavailable`].
    pub unavailable: usize,
    /// In [`State::Disabled`].
    pub disabled: usize,
}

impl StateCounts {
    /// How many are in `state`.
    pub const fn get(&self, state: State) -> usize {
        match state {
            State::Ready => self.ready,
            State::Cooling => self.cooling,
            State::Probing => self.probing,
            State::Unavailable => self.unavailable,
            State::Disabled => self.disabled,
        }
    }

    /// How many there are in all.
    pub const fn total(&self) -> usize {
        self.ready + self.cooling + self.probing + self.unavailable + self.disabled
    }

    pub(crate) fn count(&mut self, state: State) {
        match state {
            State::Ready => self.ready += 1,
            State::Cooling => self.cooling += 1,
            State::Probing => self.probing += 1,
            State::Unavailable => self.unavailable += 1,
            State::Disabled => self.disabled += 1,
        }
    }
}
