use core::time::Duration;

use crate::{Backoff, Entropy};

/// The waits of one operation, one after another: keeps the attempt number and the wait before.
///
/// Endless, as an iterator, unless [`limit`](Self::limit) sets the number of retries.
///
/// ```
/// use core::time::Duration;
/// use tidegate_backoff_core::{Backoff, Exponential, Jitter, SplitMix64};
///
/// let schedule = Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
/// let delays = Backoff::new(schedule, Jitter::None).delays(SplitMix64::new(1)).limit(3);
/// assert_eq!(delays.map(|delay| delay.as_millis()).collect::<Vec<_>>(), [500, 1000, 2000]);
/// ```
///
/// Not `Clone`: a copy would draw the same waits. Each operation makes its own.
#[derive(Debug)]
#[must_use = "delays are lazy: nothing is drawn until the next one is asked for"]
pub struct Delays<E> {
    backoff: Backoff,
    entropy: E,
    attempt: u32,
    previous: Duration,
    limit: Option<u32>,
}

impl<E> Delays<E> {
    /// Starts before the first retry.
    pub const fn new(backoff: Backoff, entropy: E) -> Self {
        Self { backoff, entropy, attempt: 0, previous: Duration::ZERO, limit: None }
    }

    /// Ends after `max_retries` waits.
    pub const fn limit(mut self, max_retries: u32) -> Self {
        self.limit = Some(max_retries);
        self
    }

    /// How many waits were drawn since the start or the last [`restart`](Self::restart).
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Begins again at the first wait. The generator goes on where it is.
    pub const fn restart(&mut self) {
        self.attempt = 0;
        self.previous = Duration::ZERO;
    }
}

impl<E: Entropy> Iterator for Delays<E> {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        if self.limit.is_some_and(|limit| self.attempt >= limit) {
            return None;
        }
        let delay = self.backoff.delay(self.attempt, self.previous, self.entropy.next_u64());
        self.attempt = self.attempt.saturating_add(1);
        self.previous = delay;
        Some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exponential, Jitter, SplitMix64};

    const BACKOFF: Backoff =
        Backoff::new(Exponential::new(Duration::from_secs(1), Duration::from_secs(60)), Jitter::Decorrelated);

    #[test]
    fn a_wait_depends_on_the_one_before() {
        let mut random = SplitMix64::new(5);
        let mut previous = Duration::ZERO;
        for (attempt, delay) in (0..).zip(BACKOFF.delays(SplitMix64::new(5)).limit(50)) {
            assert_eq!(delay, BACKOFF.delay(attempt, previous, random.next_u64()), "attempt {attempt}");
            previous = delay;
        }
    }

    #[test]
    fn a_restart_begins_at_the_base_with_new_draws() {
        let mut delays = BACKOFF.delays(SplitMix64::new(5)).limit(2);
        let first = delays.next();
        assert!(delays.next().is_some());
        assert_eq!(delays.next(), None);
        delays.restart();
        let again = delays.next();
        assert!(again.is_some_and(|delay| delay <= Duration::from_secs(3)), "{again:?}");
        assert_ne!(first, again);
        assert_eq!(delays.attempt(), 1);
    }

    #[test]
    fn no_retries_means_no_wait() {
        assert_eq!(BACKOFF.delays(|| 0).limit(0).next(), None);
    }
}
