use std::fmt;
use std::time::Duration;

use crate::{State, TokenId};

/// No token could be lent, or not in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; {}", Who(self), Expectation(self))]
pub struct Exhausted {
    /// How many tokens the pool has.
    pub total: usize,
    /// How long until one is expected; a second where only a running request's end can tell. None: no token
    /// is expected, all are disabled or there is none.
    pub retry_in: Option<Duration>,
    /// The one token that was asked for ([`Ask::only`](crate::Ask::only)), if it was one; `retry_in` is then its
    /// own.
    pub only: Option<OnlyToken>,
}

/// A token that was asked for, and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnlyToken {
    /// Which.
    pub id: TokenId,
    /// How it stands; `Ready` where its limit or the end of its other requests is waited for. None: the pool has
    /// no such token.
    pub state: Option<State>,
}

impl Exhausted {
    /// The value of a `Retry-After` field: whole seconds until a token is expected, rounded up, at least 1.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_in.map(whole_seconds)
    }
}

/// A wait as a `Retry-After` field says it: in whole seconds, rounded up, at least 1.
pub fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

/// Whom no token can be lent, or which.
struct Who<'a>(&'a Exhausted);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.only {
            None => write!(f, "none of {} tokens can be lent in time", self.0.total),
            Some(OnlyToken { id, state: Some(State::Ready) }) => {
                write!(f, "the token {id} is in use to its limit")
            }
            Some(OnlyToken { id, state: Some(state) }) => write!(f, "the token {id} is {}", state.as_str()),
            Some(OnlyToken { id, state: None }) => write!(f, "the pool has no token {id}"),
        }
    }
}

struct Expectation<'a>(&'a Exhausted);

impl fmt::Display for Expectation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.retry_in, self.0.only) {
            (Some(wait), None) => write!(f, "the next is expected in {:?}", to_milliseconds(wait)),
            (Some(wait), Some(_)) => write!(f, "it is expected in {:?}", to_milliseconds(wait)),
            (None, None) => f.write_str("no token is expected"),
            (None, Some(_)) => f.write_str("it is not expected"),
        }
    }
}

/// As precise as anybody wants to read it, and never too short.
fn to_milliseconds(wait: Duration) -> Duration {
    let below = wait.subsec_nanos() % 1_000_000;
    if below == 0 { wait } else { wait.saturating_add(Duration::from_nanos(u64::from(1_000_000 - below))) }
}

/// The pool has no token of this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pool has no token {id}")]
pub struct UnknownToken {
    /// The id that was asked for.
    pub id: TokenId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_rounded_up_to_a_second_at_least() {
        let rows = [
            (None, None),
            (Some(Duration::ZERO), Some(1)),
            (Some(Duration::from_nanos(1)), Some(1)),
            (Some(Duration::from_secs(2)), Some(2)),
            (Some(Duration::from_millis(2001)), Some(3)),
            (Some(Duration::MAX), Some(u64::MAX)),
        ];
        for (retry_in, seconds) in rows {
            assert_eq!(
                Exhausted { total: 1, retry_in, only: None }.retry_after_seconds(),
                seconds,
                "{retry_in:?}"
            );
        }
    }

    #[test]
    fn errors_say_the_figures() {
        let id = TokenId::from_bytes([0xab; 8]);
        let only = |state| Some(OnlyToken { id, state });
        let rows = [
            (
                3,
                Some(1_500_000_000),
                None,
                "none of 3 tokens can be lent in time; the next is expected in 1.5s",
            ),
            (
                3,
                Some(1_234_567_891),
                None,
                "none of 3 tokens can be lent in time; the next is expected in 1.235s",
            ),
            (0, None, None, "none of 0 tokens can be lent in time; no token is expected"),
            (
                3,
                Some(1),
                only(Some(State::Cooling)),
                "the token abababababababab is cooling; it is expected in 1ms",
            ),
            (
                3,
                None,
                only(Some(State::Disabled)),
                "the token abababababababab is disabled; it is not expected",
            ),
            (
                3,
                Some(1_000_000_000),
                only(Some(State::Ready)),
                "the token abababababababab is in use to its limit; it is expected in 1s",
            ),
            (3, None, only(None), "the pool has no token abababababababab; it is not expected"),
        ];
        for (total, nanos, only, message) in rows {
            let refusal = Exhausted { total, retry_in: nanos.map(Duration::from_nanos), only };
            assert_eq!(refusal.to_string(), message);
        }
        let unknown = UnknownToken { id: TokenId::from_bytes([0xab; 8]) };
        assert_eq!(unknown.to_string(), "the pool has no token abababababababab");
    }
}
