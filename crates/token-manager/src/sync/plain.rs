use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::{Instant, Sleep, sleep_until};

/// The clock of everything in this crate.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A timer that can be set anew.
pub(crate) struct Timer(Pin<Box<Sleep>>);

impl Timer {
    pub(crate) fn new(at: Instant) -> Self {
        Self(Box::pin(sleep_until(at)))
    }

    pub(crate) fn set(&mut self, at: Instant) {
        if self.0.deadline() != at {
            self.0.as_mut().reset(at);
        }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}
