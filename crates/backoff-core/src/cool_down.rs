use core::time::Duration;

use crate::Exponential;

/// The longest rest that a token takes on an upstream's word: 30 days.
pub const MAX_TOLD_REST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a token rests after it was refused. The defaults are PixivFE's, but for the two rests it does not have.
///
/// ```
/// use core::time::Duration;
/// use tidegate_backoff_core::CoolDown;
///
/// let cool_down = CoolDown::default();
/// assert_eq!(cool_down.rest(3, 0).duration, Duration::from_secs(4));
///
/// let sixth = cool_down.rest(6, 0);
/// assert!(sixth.unavailable);
/// assert_eq!(sixth.duration, Duration::from_secs(32));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct CoolDown {
    /// The rest after one failure: 1 s.
    pub base: Duration,
    /// The longest rest of a token that still has retries: 32 s.
    pub max: Duration,
    /// The longest rest of an unavailable token: 1 h. With `max_rest` at `max` the cap holds for ever, as in PixivFE.
    pub max_rest: Duration,
    /// How many failures in a row a token may have before it is unavailable: 5.
    pub max_retries: u32,
    /// The rest after the second rejection in a row, doubling from there: 5 min.
    pub reject_rest: Duration,
}

impl Default for CoolDown {
    fn default() -> Self {
        Self {
            base: Duration::from_secs(1),
            max: Duration::from_secs(32),
            max_rest: Duration::from_secs(60 * 60),
            max_retries: 5,
            reject_rest: Duration::from_secs(5 * 60),
        }
    }
}

impl CoolDown {
    /// The rest that begins with a failure.
    ///
    /// Both numbers count in a row, with the failure that just happened: `failures` all of them, `rejections` those
    /// among the latest by which the upstream refused the token itself (401, 402) and not its pace.
    ///
    /// - Up to `max_retries` failures: `min(base * 2^(failures-1), max)`.
    /// - Above: unavailable, `min(base * 2^(failures-1), max_rest)`. The doubling goes on where `max` held it.
    /// - From the second rejection: unavailable, and at least `reject_rest * 2^(rejections-2)`, up to `max_rest` or
    ///   `reject_rest`, whichever is longer.
    ///
    /// No failures, no rest. Saturates everywhere.
    pub const fn rest(&self, failures: u32, rejections: u32) -> Rest {
        let worn_out = failures > self.max_retries;
        let rejected = rejections >= 2;
        let cap = if worn_out { self.max_rest } else { self.max };
        let paced = match failures.checked_sub(1) {
            Some(doublings) => Exponential::new(self.base, cap).ceiling(doublings),
            None => Duration::ZERO,
        };
        let barred = match rejections.checked_sub(2) {
            Some(doublings) => {
                Exponential::new(self.reject_rest, longer(self.max_rest, self.reject_rest)).ceiling(doublings)
            }
            None => Duration::ZERO,
        };
        Rest { duration: longer(paced, barred), unavailable: worn_out || rejected }
    }
}

/// What a failure costs a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a rest does nothing until the token takes it"]
pub struct Rest {
    /// How long it is not lent.
    pub duration: Duration,
    /// Whether its retries are used up: people are told, and only a success or an operator brings it back.
    pub unavailable: bool,
}

impl Rest {
    /// The same rest, but at least as long as the upstream `told`, which counts up to [`MAX_TOLD_REST`].
    ///
    /// ```
    /// use core::time::Duration;
    /// use tidegate_backoff_core::CoolDown;
    ///
    /// let rest = CoolDown::default().rest(1, 0);
    /// assert_eq!(rest.at_least(Duration::ZERO), rest);
    /// assert_eq!(rest.at_least(Duration::from_secs(90)).duration, Duration::from_secs(90));
    /// ```
    pub const fn at_least(self, told: Duration) -> Self {
        let told = if told.as_nanos() > MAX_TOLD_REST.as_nanos() { MAX_TOLD_REST } else { told };
        Self { duration: longer(self.duration, told), unavailable: self.unavailable }
    }
}

const fn longer(a: Duration, b: Duration) -> Duration {
    if a.as_nanos() < b.as_nanos() { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn a_token_that_wears_out_rests_past_the_cap() {
        let cool_down = CoolDown { max: S(8), max_rest: S(100), ..CoolDown::default() };
        for (failures, seconds, unavailable) in [
            (0, 0, false),
            (1, 1, false),
            (2, 2, false),
            (4, 8, false),
            (5, 8, false),
            (6, 32, true),
            (7, 64, true),
            (8, 100, true),
            (u32::MAX, 100, true),
        ] {
            let expected = Rest { duration: S(seconds), unavailable };
            assert_eq!(cool_down.rest(failures, 0), expected, "{failures} failures");
        }
    }

    #[test]
    fn the_second_rejection_makes_it_unavailable() {
        let cool_down = CoolDown::default();
        for (failures, rejections, seconds, unavailable) in [
            (1, 1, 1, false),
            (2, 2, 300, true),
            (3, 3, 600, true),
            (4, 4, 1200, true),
            (5, 5, 2400, true),
            (6, 6, 3600, true),
            (u32::MAX, u32::MAX, 3600, true),
            // One rejection after four refusals of pace: nothing is proven yet.
            (5, 1, 16, false),
            // The longer of the two rests counts.
            (12, 2, 2048, true),
            (13, 2, 3600, true),
        ] {
            let expected = Rest { duration: S(seconds), unavailable };
            assert_eq!(
                cool_down.rest(failures, rejections),
                expected,
                "{failures} failures, {rejections} rejections"
            );
        }
    }

    #[test]
    fn a_rejected_token_rests_at_least_the_configured_time() {
        let cool_down = CoolDown { reject_rest: S(7200), ..CoolDown::default() };
        assert_eq!(cool_down.rest(2, 2).duration, S(7200));
        assert_eq!(cool_down.rest(9, 9).duration, S(7200));
    }

    #[test]
    fn the_cap_can_hold_for_ever() {
        let cool_down = CoolDown { max_rest: S(32), ..CoolDown::default() };
        for failures in 6..100 {
            assert_eq!(
                cool_down.rest(failures, 0),
                Rest { duration: S(32), unavailable: true },
                "{failures}"
            );
        }
    }

    #[test]
    fn no_retries_means_unavailable_at_once() {
        let cool_down = CoolDown { max_retries: 0, ..CoolDown::default() };
        assert_eq!(cool_down.rest(1, 0), Rest { duration: S(1), unavailable: true });
        let endless = CoolDown { max_retries: u32::MAX, ..CoolDown::default() };
        assert_eq!(endless.rest(u32::MAX, 0), Rest { duration: S(32), unavailable: false });
    }

    #[test]
    fn a_told_rest_is_a_floor_up_to_thirty_days() {
        let rest = CoolDown::default().rest(2, 0);
        for (told, expected) in [
            (S(0), S(2)),
            (S(1), S(2)),
            (S(3), S(3)),
            (MAX_TOLD_REST, MAX_TOLD_REST),
            (Duration::MAX, MAX_TOLD_REST),
        ] {
            assert_eq!(rest.at_least(told).duration, expected, "{told:?}");
        }
        let longer = Rest { duration: Duration::MAX, unavailable: true };
        assert_eq!(longer.at_least(S(1)), longer);
    }
}
