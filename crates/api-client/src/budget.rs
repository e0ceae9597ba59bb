//! One upstream's retry budget, shared by all requests to it.

use std::sync::{Arc, Mutex, PoisonError};

use tidegate_backoff_core::{Budget, Ratio};
use tokio::time::Instant;

/// A retry budget behind a lock and a clock; a clone is the same budget.
#[derive(Clone, Debug)]
pub struct RetryBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    origin: Instant,
    budget: Mutex<Budget>,
}

impl Default for RetryBudget {
    /// A fifth of the requests, and ten retries a second.
    fn default() -> Self {
        Self::new(Budget::new(Ratio::from_millionths(200_000), 10))
    }
}

impl RetryBudget {
    /// Shares `budget` among all requests to one upstream.
    pub fn new(budget: Budget) -> Self {
        Self(Arc::new(Shared { origin: Instant::now(), budget: Mutex::new(budget) }))
    }

    /// Changes what the budget grants from now on; what was deposited stays.
    pub fn set(&self, ratio: Ratio, min_per_second: u32) {
        self.with(Instant::now(), |budget, now| budget.set(ratio, min_per_second, now));
    }

    /// Books one request; its share can be withdrawn for the next 10 s.
    pub fn deposit(&self) {
        self.deposit_at(Instant::now());
    }

    pub(crate) fn deposit_at(&self, now: Instant) {
        self.with(now, Budget::deposit);
    }

    /// Takes one retry out; `false` when the budget does not grant it.
    pub fn try_withdraw(&self) -> bool {
        self.with(Instant::now(), Budget::try_withdraw)
    }

    /// How many retries would be granted now.
    pub fn balance(&self) -> u64 {
        self.with(Instant::now(), |budget, now| budget.balance(now))
    }

    fn with<T>(&self, now: Instant, f: impl FnOnce(&mut Budget, std::time::Duration) -> T) -> T {
        let now = now.saturating_duration_since(self.0.origin);
        f(&mut self.0.budget.lock().unwrap_or_else(PoisonError::into_inner), now)
    }
}
