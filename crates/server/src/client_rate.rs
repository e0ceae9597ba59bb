//! How fast a client may send: so many requests a second, and some at once after a pause.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tidegate_config::ClientRate;
use tokio::time::Instant;

/// One client's rate (GCRA: the moment by which what was let through is paid off, and nothing else, is kept).
#[derive(Debug)]
pub(crate) struct RateLimiter {
    rate: ClientRate,
    paid_off: Mutex<Option<Instant>>,
}

/// That a request came too soon. The figures are those of draft-ietf-httpapi-ratelimit-headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooFast {
    /// Requests at once after a pause.
    pub(crate) quota: u32,
    /// How long all of them take to come back.
    pub(crate) window: Duration,
    /// When the next one is let through.
    pub(crate) retry_in: Duration,
}

impl RateLimiter {
    pub(crate) fn new(rate: ClientRate) -> Self {
        Self { rate, paid_off: Mutex::new(None) }
    }

    pub(crate) fn rate(&self) -> ClientRate {
        self.rate
    }

    /// Lets one request through.
    ///
    /// # Errors
    ///
    /// When it comes too soon; it is then not counted.
    pub(crate) fn admit(&self, now: Instant) -> Result<(), TooFast> {
        // 1000 ns or more: the settings allow a million a second.
        let share = Duration::from_secs(1) / self.rate.per_second.get();
        let window = share * self.rate.burst.get();
        let mut paid_off = self.paid_off.lock().unwrap_or_else(PoisonError::into_inner);
        let then = paid_off.map_or(now, |moment| moment.max(now)) + share;
        let early = then.saturating_duration_since(now).saturating_sub(window);
        if early > Duration::ZERO {
            return Err(TooFast { quota: self.rate.burst.get(), window, retry_in: early });
        }
        *paid_off = Some(then);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(per_second: u32, burst: u32) -> RateLimiter {
        let number = |n: u32| n.try_into().unwrap();
        RateLimiter::new(ClientRate { per_second: number(per_second), burst: number(burst) })
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_at_once_and_then_the_rate() {
        let limiter = limiter(10, 20);
        let passing = || (0..100).filter(|_| limiter.admit(Instant::now()).is_ok()).count();
        assert_eq!((passing(), passing()), (20, 0));
        for (millis, want) in [(99, 0), (1, 1), (100, 1), (1000, 10), (60_000, 20)] {
            tokio::time::advance(Duration::from_millis(millis)).await;
            assert_eq!(passing(), want, "after {millis} ms");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_as_long_as_told_is_let_through() {
        for (per_second, burst) in [(1, 1), (3, 7), (10, 20), (1_000_000, 1)] {
            let limiter = limiter(per_second, burst);
            let now = Instant::now();
            for _ in 0..burst {
                limiter.admit(now).unwrap();
            }
            let TooFast { quota, window, retry_in } = limiter.admit(now).unwrap_err();
            let share = Duration::from_secs(1) / per_second;
            assert_eq!((quota, window, retry_in), (burst, share * burst, share), "{per_second}/{burst}");
            assert!(limiter.admit(now + retry_in - Duration::from_nanos(1)).is_err());
            assert!(limiter.admit(now + retry_in).is_ok());
        }
    }
}
