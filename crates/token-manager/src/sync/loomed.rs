use std::task::{Context, Poll};
use std::time::Duration;

pub(crate) use loom::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};
pub(crate) use loom::sync::{Mutex, MutexGuard};
pub(crate) use std::sync::PoisonError;

use tokio::time::Instant;

loom::lazy_static! {
    static ref SECONDS: AtomicU64 = AtomicU64::new(0);
}

/// A clock that stands still until a test moves it.
pub(crate) fn now() -> Instant {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::SeqCst))
}

/// Moves the clock to so many seconds after its start.
#[cfg(test)]
pub(crate) fn pass_to(seconds: u64) {
    SECONDS.store(seconds, Ordering::SeqCst);
}

/// A timer that wakes nobody: its test polls again once it has moved the clock.
pub(crate) struct Timer(Instant);

impl Timer {
    pub(crate) fn new(at: Instant) -> Self {
        Self(at)
    }

    pub(crate) fn set(&mut self, at: Instant) {
        self.0 = at;
    }

    pub(crate) fn poll(&mut self, _: &mut Context<'_>) -> Poll<()> {
        if self.0 <= now() { Poll::Ready(()) } else { Poll::Pending }
    }
}
