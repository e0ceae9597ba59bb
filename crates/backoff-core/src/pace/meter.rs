//! When the next lend is due at a pace.

/// A generic cell rate algorithm (ITU-T I.371, annex A): lends an `interval` apart, of which up to `credit` that were not used in
/// time may follow at once. Moments are nanoseconds from any start; they saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meter {
    /// The moment of the next lend if all came in time.
    due: u64,
    /// 0 while there is no pace.
    pub(super) interval: u64,
    pub(super) credit: u32,
}

/// How a lend stood to the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    /// As soon as it was allowed: more would have come.
    Tight,
    Between,
    /// All credit was saved up, and more was lost.
    Idle,
}

impl Meter {
    pub(super) const UNPACED: Self = Self { due: 0, interval: 0, credit: 0 };

    /// From when a lend is allowed.
    pub(super) const fn allows_from(&self) -> u64 {
        self.due.saturating_sub(self.interval.saturating_mul(self.credit as u64))
    }

    /// From when lend number `nth` is allowed, if each is made as soon as it may be, and the first not before `from`.
    pub(super) const fn serves_at(&self, nth: u32, from: u64) -> u64 {
        let first = if self.due > from { self.due } else { from };
        let credit = self.interval.saturating_mul(self.credit as u64);
        let at = first.saturating_add(self.interval.saturating_mul(nth as u64)).saturating_sub(credit);
        if at > from { at } else { from }
    }

    pub(super) const fn timing(&self, now: u64) -> Timing {
        if now > self.due.saturating_add(self.interval) {
            Timing::Idle
        } else if now < self.allows_from().saturating_add(self.interval / 8) {
            Timing::Tight
        } else {
            Timing::Between
        }
    }

    /// How many lends were lost before one now: all credit was saved up, and no more could be.
    pub(super) const fn lost(&self, now: u64) -> u64 {
        match now.saturating_sub(self.due).checked_div(self.interval) {
            Some(lends) => lends,
            None => 0,
        }
    }

    /// Whether so much was left unused before a lend now that what was granted says little of the limit: four lends
    /// and all credit, which is more than chance leaves where the limit is nearly used.
    pub(super) const fn was_unused(&self, now: u64) -> bool {
        now > self.due.saturating_add(self.interval.saturating_mul(4))
    }

    /// Whether a lend now uses credit: an even pace would not allow it yet.
    pub(super) const fn is_early(&self, now: u64) -> bool {
        self.due > now.saturating_add(self.interval / 8)
    }

    pub(super) fn lend(&mut self, now: u64) {
        self.due = self.due.max(now).saturating_add(self.interval);
    }

    /// Another pace from now on. What was lent beyond the old one is so many lends, not so long a time: at a faster pace
    /// it is made up for sooner.
    pub(super) fn change(&mut self, interval: u64, now: u64) {
        if interval < self.interval {
            let owed =
                u128::from(self.due.saturating_sub(now)) * u128::from(interval) / u128::from(self.interval);
            let owed = u64::try_from(owed).unwrap_or(u64::MAX);
            self.due = self.due.min(now.saturating_add(owed));
        }
        self.interval = interval;
    }

    pub(super) fn take_back(&mut self) {
        self.due = self.due.saturating_sub(self.interval);
    }

    /// Nothing is left: neither credit nor the next lend. What was lent beyond that, while more credit was believed in,
    /// is settled by the refusal that says so.
    pub(super) fn empty(&mut self, now: u64) {
        self.due = self.after(1, now);
    }

    /// No lend for so many intervals.
    pub(super) fn hold(&mut self, now: u64, intervals: u32) {
        self.due = self.due.max(self.after(intervals, now));
    }

    /// When a lend is due if the next is allowed so many intervals from now.
    fn after(&self, intervals: u32, now: u64) -> u64 {
        let intervals = (self.credit as u64).saturating_add(intervals as u64);
        now.saturating_add(self.interval.saturating_mul(intervals))
    }
}
