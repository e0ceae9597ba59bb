use core::time::Duration;

use crate::nanos;

/// A wait that doubles from `base` and stops at `max`.
///
/// Any two lengths make a schedule. A `base` above `max` waits `max` from the start; a `base` of zero never waits.
///
/// ```
/// use core::time::Duration;
/// use tidegate_backoff_core::Exponential;
///
/// const SCHEDULE: Exponential = Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
/// assert_eq!(SCHEDULE.ceiling(0), Duration::from_millis(500));
/// assert_eq!(SCHEDULE.ceiling(4), Duration::from_secs(8));
/// assert_eq!(SCHEDULE.ceiling(u32::MAX), Duration::from_secs(8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Ends", into = "Ends")
)]
pub struct Exponential {
    // Kept as they are computed with: a delay then costs no conversion of the settings.
    base_nanos: u128,
    max_nanos: u128,
}

impl Exponential {
    /// A schedule whose first wait is `base` and whose longest is `max`.
    pub const fn new(base: Duration, max: Duration) -> Self {
        Self { base_nanos: base.as_nanos(), max_nanos: max.as_nanos() }
    }

    /// The wait it starts from.
    pub const fn base(&self) -> Duration {
        nanos::to_duration(self.base_nanos)
    }

    /// The wait it never exceeds.
    pub const fn max(&self) -> Duration {
        nanos::to_duration(self.max_nanos)
    }

    /// The longest wait before retry `attempt` (0 is the first): `min(base * 2^attempt, max)`.
    ///
    /// Saturates: no attempt number and no setting overflows. The waits are those of Go's retryablehttp.
    #[inline]
    pub const fn ceiling(&self, attempt: u32) -> Duration {
        nanos::to_duration(self.ceiling_nanos(attempt))
    }

    #[inline]
    pub(crate) const fn ceiling_nanos(&self, attempt: u32) -> u128 {
        nanos::doubled(self.base_nanos, attempt, self.max_nanos)
    }

    /// The same where both ends have 64 bits.
    #[inline]
    pub(crate) const fn short_ceiling_nanos(&self, attempt: u32) -> Option<u64> {
        match (nanos::short(self.base_nanos), nanos::short(self.max_nanos)) {
            (Some(base), Some(max)) => Some(nanos::doubled_short(base, attempt, max)),
            _ => None,
        }
    }

    #[inline]
    pub(crate) const fn base_nanos(&self) -> u128 {
        self.base_nanos
    }

    #[inline]
    pub(crate) const fn max_nanos(&self) -> u128 {
        self.max_nanos
    }
}

/// The form that serde sees: two lengths, not how they are computed with.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Exponential", deny_unknown_fields)]
struct Ends {
    base: Duration,
    max: Duration,
}

#[cfg(feature = "serde")]
impl From<Ends> for Exponential {
    fn from(ends: Ends) -> Self {
        Self::new(ends.base, ends.max)
    }
}

#[cfg(feature = "serde")]
impl From<Exponential> for Ends {
    fn from(schedule: Exponential) -> Self {
        Self { base: schedule.base(), max: schedule.max() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_and_stops_at_the_maximum() {
        let nano = Duration::from_nanos(1);
        for (base, max, attempt, expected) in [
            (Duration::ZERO, Duration::MAX, u32::MAX, Duration::ZERO),
            (nano, Duration::MAX, 62, Duration::from_nanos(1 << 62)),
            (nano, Duration::MAX, 63, Duration::from_nanos(1 << 63)),
            (nano, Duration::MAX, 64, Duration::new(18_446_744_073, 709_551_616)),
            (nano, Duration::MAX, 94, Duration::MAX),
            (nano, Duration::MAX, u32::MAX, Duration::MAX),
            (Duration::MAX, Duration::MAX, 0, Duration::MAX),
            (Duration::MAX, Duration::MAX, 1, Duration::MAX),
            (Duration::MAX, nano, 0, nano),
            (nano, Duration::ZERO, 3, Duration::ZERO),
        ] {
            let ceiling = Exponential::new(base, max).ceiling(attempt);
            assert_eq!(ceiling, expected, "{base:?} {max:?} attempt {attempt}");
        }
    }
}
