use std::time::Duration;

use tidegate_backoff_core::{Exponential, Jitter, Ratio};

/// Level one: when an API request is repeated after the upstream's fault.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Retry {
    /// The waits: `min(base * 2^n, max)` before retry n.
    pub schedule: Exponential,
    /// How they are spread.
    pub jitter: Jitter,
    /// How often a request is repeated.
    pub max_retries: u32,
    /// The longest told delay that is slept out; who would have to wait longer is answered now.
    pub max_retry_after: Duration,
    /// The part of each request that is deposited in the retry budget.
    pub budget_ratio: Ratio,
    /// The retries a second that the budget's reserve grants whatever was deposited.
    pub budget_min_per_second: u32,
    /// The longest request body, in bytes, that is held so that it can be sent again.
    pub replay_limit: u64,
    /// The most bytes of request bodies that are held at once.
    pub replay_memory: u64,
    /// Whether a method that is not idempotent is repeated too.
    pub retry_unsafe: bool,
}
