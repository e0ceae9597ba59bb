use std::time::Duration;

use tokio::time::Instant;

/// A moment in nanoseconds from the pool's beginning, which is 1: half the size of an `Instant`, and total
/// where that overflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

impl Moment {
    /// Before the pool began: what stands for "no wait" and "not yet".
    pub(super) const BEFORE: Self = Self(0);

    const BEGINNING: Self = Self(1);

    /// The moment so many nanoseconds from the one before the beginning; the beginning for 0.
    pub(super) fn from_nanos(nanos: u64) -> Self {
        Self(nanos).max(Self::BEGINNING)
    }

    /// What [`from_nanos`](Self::from_nanos) takes.
    pub(super) fn nanos(self) -> u64 {
        self.0
    }

    /// The moment as the time since the one before the beginning, for what counts so.
    pub(super) const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// What [`as_duration`](Self::as_duration) has made.
    pub(super) fn of(since: Duration) -> Self {
        Self::BEFORE.after(since)
    }

    /// This moment and `wait` more, saturating.
    pub(super) fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// The moment `time` before this one; the one before the beginning where there is none.
    pub(super) fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// How long it is until `later`; zero if that is past.
    pub(super) fn until(self, later: Self) -> Duration {
        Duration::from_nanos(later.0.saturating_sub(self.0))
    }
}

/// The instant from which a pool's moments count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin(Instant);

impl Origin {
    pub(super) fn new(now: Instant) -> Self {
        Self(now)
    }

    /// The instant itself.
    pub(super) fn start(self) -> Instant {
        self.0
    }

    /// The moment of an instant; the pool's beginning for one that lies before it.
    pub(super) fn moment(self, at: Instant) -> Moment {
        Moment::BEGINNING.after(at.saturating_duration_since(self.0))
    }

    /// The instant of a moment; a year after the beginning where the platform's clock does not reach that
    /// far.
    pub(super) fn instant(self, at: Moment) -> Instant {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
        self.0.checked_add(Moment::BEGINNING.until(at)).unwrap_or_else(|| self.0 + YEAR)
    }
}
