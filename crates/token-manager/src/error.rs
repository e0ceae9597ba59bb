use std::fmt;
use std::time::Duration;

use crate::TokenId;

/// No token could be lent, or not in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("none of {total} tokens can be lent in time; {}", Expectation(*.retry_in))]
pub struct Exhausted {
    /// How many tokens the pool has.
    pub total: usize,
    /// How long until one is expected; a second where only a running request's end can tell. None: no token
    /// is expected, all are disabled or there is none.
    pub retry_in: Option<Duration>,
}

impl Exhausted {
    /// The value of a `Retry-After` field: whole seconds until a token is expected, rounded up, at least 1.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        let wait = self.retry_in?;
        Some(wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1))
    }
}

struct Expectation(Option<Duration>);

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(wait) => write!(f, "the next is expected in {wait:?}"),
            None => f.write_str("no token is expected"),
        }
    }
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
            assert_eq!(Exhausted { total: 1, retry_in }.retry_after_seconds(), seconds, "{retry_in:?}");
        }
    }

    #[test]
    fn errors_say_the_figures() {
        let wait = Exhausted { total: 3, retry_in: Some(Duration::from_millis(1500)) };
        assert_eq!(wait.to_string(), "none of 3 tokens can be lent in time; the next is expected in 1.5s");
        let never = Exhausted { total: 0, retry_in: None };
        assert_eq!(never.to_string(), "none of 0 tokens can be lent in time; no token is expected");
        let unknown = UnknownToken { id: TokenId::from_bytes([0xab; 8]) };
        assert_eq!(unknown.to_string(), "the pool has no token abababababababab");
    }
}
