use core::time::Duration;

use crate::entropy::SplitMix64;
use crate::{Delays, Entropy, Exponential, Jitter, nanos};

/// A schedule with its jitter: the wait before a retry.
///
/// ```
/// use core::time::Duration;
/// use tidegate_backoff_core::{Backoff, Exponential, Jitter};
///
/// let schedule = Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
/// let exact = Backoff::new(schedule, Jitter::None);
/// assert_eq!(exact.delay(3, Duration::ZERO, 0), Duration::from_secs(4));
///
/// let full = Backoff::new(schedule, Jitter::Full);
/// assert_eq!(full.delay(3, Duration::ZERO, 0), Duration::ZERO);
/// assert_eq!(full.delay(3, Duration::ZERO, u64::MAX), Duration::from_secs(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Backoff {
    schedule: Exponential,
    jitter: Jitter,
}

impl Backoff {
    /// Spreads the waits of `schedule` by `jitter`.
    pub const fn new(schedule: Exponential, jitter: Jitter) -> Self {
        Self { schedule, jitter }
    }

    /// The schedule beneath.
    pub const fn schedule(&self) -> Exponential {
        self.schedule
    }

    /// The kind of jitter.
    pub const fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The wait before retry `attempt` (0 is the first), in whole nanoseconds and never above the schedule's `max`.
    ///
    /// `previous` is the wait before the last retry, zero before the first; only [`Jitter::Decorrelated`] looks at
    /// it, and only that one does not look at `attempt`. `entropy` is 64 fresh random bits: a draw that is used
    /// twice gives two callers the same wait.
    ///
    /// Decorrelated jitter draws from `[base, min(3 * previous, max)]`: the range is cut before the draw, not the
    /// draw after it. The textbook's `min(max, draw)` puts two draws of three on `max` itself once `previous` has
    /// come near it, and then nothing is spread any more.
    #[inline]
    #[must_use = "a delay does nothing until somebody waits for it"]
    pub const fn delay(&self, attempt: u32, previous: Duration, entropy: u64) -> Duration {
        // The usual case by itself, in half the instructions: it is what a caller has inlined.
        match (self.jitter, self.schedule.short_ceiling_nanos(attempt)) {
            (Jitter::Full, Some(ceiling)) => Duration::from_nanos(nanos::uniform_short(ceiling, entropy)),
            _ => self.any_delay(attempt, previous, entropy),
        }
    }

    const fn any_delay(&self, attempt: u32, previous: Duration, entropy: u64) -> Duration {
        let nanos = match self.jitter {
            Jitter::None => self.schedule.ceiling_nanos(attempt),
            Jitter::Full => nanos::uniform(self.schedule.ceiling_nanos(attempt), entropy),
            Jitter::Equal => {
                let ceiling = self.schedule.ceiling_nanos(attempt);
                let sure = ceiling / 2;
                sure + nanos::uniform(ceiling - sure, entropy)
            }
            Jitter::Decorrelated => {
                let max = self.schedule.max_nanos();
                let least = smaller(self.schedule.base_nanos(), max);
                // Before the first retry there is no previous wait: the base stands for it.
                let most = smaller(3 * larger(previous.as_nanos(), least), max);
                least + nanos::uniform(most - least, entropy)
            }
        };
        nanos::to_duration(nanos)
    }

    /// The wait where the upstream named one itself: `told` is a floor under [`delay`](Self::delay).
    ///
    /// Where `told` is the longer, a random share of `base` is added, so that all who were told the same moment do
    /// not return in it; with [`Jitter::None`] it is kept to the nanosecond. Unlike `delay` it may exceed `max`,
    /// because the upstream would only refuse again before the time.
    ///
    /// ```
    /// use core::time::Duration;
    /// use tidegate_backoff_core::{Backoff, Exponential, Jitter};
    ///
    /// let schedule = Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
    /// let exact = Backoff::new(schedule, Jitter::None);
    /// let told = Duration::from_secs(3);
    /// assert_eq!(exact.delay_after(told, 0, Duration::ZERO, 7), told);
    /// assert_eq!(exact.delay_after(told, 3, Duration::ZERO, 7), Duration::from_secs(4));
    /// ```
    #[must_use = "a delay does nothing until somebody waits for it"]
    pub const fn delay_after(
        &self,
        told: Duration,
        attempt: u32,
        previous: Duration,
        entropy: u64,
    ) -> Duration {
        let own = self.delay(attempt, previous, entropy);
        if own.as_nanos() >= told.as_nanos() {
            return own;
        }
        if matches!(self.jitter, Jitter::None) {
            return told;
        }
        // The bits were used: that `told` won makes low ones more likely. Mixed, they are as good as new.
        let share = nanos::uniform(self.schedule.base_nanos(), SplitMix64::mix(entropy));
        told.saturating_add(nanos::to_duration(share))
    }

    /// The waits of one operation, one after another, with random bits from `entropy`.
    pub const fn delays<E: Entropy>(self, entropy: E) -> Delays<E> {
        Delays::new(self, entropy)
    }
}

const fn smaller(a: u128, b: u128) -> u128 {
    if a < b { a } else { b }
}

const fn larger(a: u128, b: u128) -> u128 {
    if a < b { b } else { a }
}

#[cfg(test)]
mod tests;
