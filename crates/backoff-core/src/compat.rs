//! The `backoff` crate's trait for our schedules.

use core::time::Duration;

use crate::{Delays, Entropy};

/// `None` once the retries of [`Delays::limit`] are used up; there is no limit in time.
impl<E: Entropy> ::backoff::backoff::Backoff for Delays<E> {
    fn reset(&mut self) {
        self.restart();
    }

    fn next_backoff(&mut self) -> Option<Duration> {
        self.next()
    }
}
