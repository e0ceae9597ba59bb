use core::time::Duration;

/// The moment by which an answer is owed, or none.
///
/// Moments are lengths since an origin of the caller's choice, the same for every call. A timeout of zero is no
/// timeout, as in all settings.
///
/// ```
/// use core::time::Duration;
/// use tidegate_backoff_core::Deadline;
///
/// let now = Duration::from_secs(100);
/// let deadline = Deadline::after(now, Duration::from_secs(30));
/// assert!(deadline.fits(now, Duration::from_secs(29)));
/// assert!(!deadline.fits(now, Duration::from_secs(30)));
/// assert_eq!(deadline.remaining(now + Duration::from_secs(31)), Some(Duration::ZERO));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deadline(Option<Duration>);

impl Deadline {
    /// There is no hurry.
    pub const NONE: Self = Self(None);

    /// An answer is owed at `moment`.
    pub const fn at(moment: Duration) -> Self {
        Self(Some(moment))
    }

    /// An answer is owed `timeout` from `now`; [`NONE`](Self::NONE) where `timeout` is zero or ends beyond all time.
    pub const fn after(now: Duration, timeout: Duration) -> Self {
        if timeout.is_zero() { Self::NONE } else { Self(now.checked_add(timeout)) }
    }

    /// The moment itself.
    pub const fn moment(self) -> Option<Duration> {
        self.0
    }

    /// The earlier of the two.
    pub const fn earlier(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(a), Some(b)) if a.as_nanos() > b.as_nanos() => other,
            (Some(_), _) => self,
            (None, _) => other,
        }
    }

    /// What is left at `now`: zero once it has passed, `None` where there is no deadline.
    pub const fn remaining(self, now: Duration) -> Option<Duration> {
        match self.0 {
            Some(moment) => Some(moment.saturating_sub(now)),
            None => None,
        }
    }

    /// Whether the moment has come.
    pub const fn passed(self, now: Duration) -> bool {
        matches!(self.remaining(now), Some(left) if left.is_zero())
    }

    /// Whether a `wait` that begins at `now` ends before the deadline, so that time is left to do something after it.
    ///
    /// A wait that ends in the very moment does not fit.
    pub const fn fits(self, now: Duration, wait: Duration) -> bool {
        match self.remaining(now) {
            Some(left) => wait.as_nanos() < left.as_nanos(),
            None => true,
        }
    }

    /// The shorter of `timeout` and what is left at `now`; `None` where neither sets a limit.
    ///
    /// Zero here means that no time is left, not that there is no limit.
    pub const fn cut(self, now: Duration, timeout: Duration) -> Option<Duration> {
        match self.remaining(now) {
            Some(left) if timeout.is_zero() || left.as_nanos() < timeout.as_nanos() => Some(left),
            None if timeout.is_zero() => None,
            _ => Some(timeout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn a_wait_fits_if_it_ends_before_the_deadline() {
        for (now, wait, moment, fits) in [
            (S(0), S(9), S(10), true),
            (S(0), S(10), S(10), false),
            (S(9), S(0), S(10), true),
            (S(10), S(0), S(10), false),
            (S(11), S(0), S(10), false),
            (S(0), Duration::MAX, Duration::MAX, false),
            (Duration::MAX, Duration::MAX, Duration::MAX, false),
            (S(1), Duration::MAX, S(2), false),
        ] {
            assert_eq!(Deadline::at(moment).fits(now, wait), fits, "{now:?} + {wait:?} before {moment:?}");
        }
        assert!(Deadline::NONE.fits(Duration::MAX, Duration::MAX));
    }

    #[test]
    fn a_timeout_of_zero_is_off() {
        assert_eq!(Deadline::after(S(5), S(0)), Deadline::NONE);
        assert_eq!(Deadline::after(S(5), S(1)), Deadline::at(S(6)));
        assert_eq!(Deadline::after(S(5), Duration::MAX), Deadline::NONE);
        assert!(!Deadline::NONE.passed(Duration::MAX));
        assert!(Deadline::at(S(6)).passed(S(6)));
        assert!(!Deadline::at(S(6)).passed(S(5)));
    }

    #[test]
    fn the_earlier_of_two_counts() {
        let (five, six) = (Deadline::at(S(5)), Deadline::at(S(6)));
        for (a, b, expected) in [
            (five, six, five),
            (six, five, five),
            (five, Deadline::NONE, five),
            (Deadline::NONE, five, five),
            (Deadline::NONE, Deadline::NONE, Deadline::NONE),
        ] {
            assert_eq!(a.earlier(b), expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_timeout_is_cut_by_the_deadline() {
        let deadline = Deadline::at(S(10));
        for (deadline, timeout, expected) in [
            (deadline, S(3), Some(S(3))),
            (deadline, S(5), Some(S(4))),
            (deadline, S(0), Some(S(4))),
            (Deadline::at(S(1)), S(3), Some(S(0))),
            (Deadline::NONE, S(3), Some(S(3))),
            (Deadline::NONE, S(0), None),
        ] {
            assert_eq!(deadline.cut(S(6), timeout), expected, "{deadline:?} {timeout:?}");
        }
    }
}
