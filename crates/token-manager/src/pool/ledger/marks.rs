//! When what happened to a token, by the pool's clock and by a store's.

use crate::Stamp;
use crate::pool::{Moment, Touched};

const NANOS_PER_MILLI: i64 = 1_000_000;

/// A moment in nanoseconds by the pool's clock. Unlike a [`Moment`] it may lie before the pool's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark(i64);

impl Mark {
    fn next_milli(self) -> Self {
        Self(self.0.saturating_add(NANOS_PER_MILLI))
    }
}

impl From<Moment> for Mark {
    fn from(moment: Moment) -> Self {
        Self(i64::try_from(moment.nanos()).unwrap_or(i64::MAX))
    }
}

/// When something happened, here or elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    Never,
    /// Told or heard: by the store's clock, for good. Reading that clock again does not move it.
    Told(Stamp),
    /// Not told yet. Whatever the clocks say, it is not before `floor`, since what is dated before that was
    /// known when it happened.
    Untold {
        mark: Mark,
        floor: Stamp,
    },
}

impl When {
    pub(super) fn stamp(self, scale: Scale) -> Option<Stamp> {
        match self {
            Self::Never => None,
            Self::Told(stamp) => Some(stamp),
            Self::Untold { mark, floor } => Some(scale.stamp(mark).max(floor)),
        }
    }

    /// The least moments that something may have which follows on this.
    fn next(self) -> (Mark, Stamp) {
        match self {
            Self::Never => (Mark(i64::MIN), Stamp(i64::MIN)),
            Self::Told(stamp) => (Mark(i64::MIN), stamp.plus(1)),
            Self::Untold { mark, floor } => (mark.next_milli(), floor.plus(1)),
        }
    }

    /// Now, and after those.
    fn after(now: Mark, known: [Self; 2]) -> Self {
        let [(mark1, floor1), (mark2, floor2)] = known.map(Self::next);
        Self::Untold { mark: now.max(mark1).max(mark2), floor: floor1.max(floor2) }
    }
}

/// When what happened to a token, and what of it is still to be told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) rested: When,
    pub(super) cleared: When,
    pub(super) recovered: When,
    pub(super) barred: When,
    pub(super) learned: When,
    pub(super) untold: Touched,
}

impl Marks {
    pub(super) const NONE: Self = Self {
        rested: When::Never,
        cleared: When::Never,
        recovered: When::Never,
        barred: When::Never,
        learned: When::Never,
        untold: Touched::NOTHING,
    };

    /// Stores count in milliseconds: what follows on something within one is dated into the next, so that
    /// the order shows.
    pub(super) fn note(&mut self, touched: Touched, now: Mark) {
        if touched.has(Touched::CLEARED) {
            self.cleared = When::after(now, [self.cleared, self.rested]);
        }
        if touched.has(Touched::RESTED) {
            self.rested = When::after(now, [self.rested, self.cleared]);
        }
        if touched.has(Touched::RECOVERED) {
            self.recovered = When::Untold { mark: now, floor: Stamp(i64::MIN) };
        }
        if touched.has(Touched::BARRED) {
            self.barred = When::after(now, [self.barred, When::Never]);
        }
        if touched.has(Touched::LEARNED) {
            self.learned = When::after(now, [self.learned, When::Never]);
        }
        self.untold.add(touched);
    }
}

/// Turns a store's moments into the pool's and back.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    mark: Mark,
    stamp: Stamp,
}

impl Scale {
    /// One moment by both clocks.
    pub(super) fn new(moment: Moment, stamp: Stamp) -> Self {
        Self { mark: moment.into(), stamp }
    }

    fn mark(self, stamp: Stamp) -> Mark {
        Mark(self.mark.0.saturating_add(stamp.since(self.stamp).saturating_mul(NANOS_PER_MILLI)))
    }

    pub(super) fn stamp(self, mark: Mark) -> Stamp {
        self.stamp.plus(mark.0.saturating_sub(self.mark.0).div_euclid(NANOS_PER_MILLI))
    }

    /// The store's moment of which it was made.
    pub(super) fn now(self) -> Stamp {
        self.stamp
    }

    /// The pool's moment; its beginning for one before that.
    pub(super) fn moment(self, stamp: Stamp) -> Moment {
        Moment::from_nanos(u64::try_from(self.mark(stamp).0).unwrap_or(0))
    }

    /// A rest's end, rounded up: nobody lends a token early because of a fraction.
    pub(super) fn end(self, until: Moment) -> Stamp {
        self.stamp(Mark(Mark::from(until).0.saturating_add(NANOS_PER_MILLI - 1)))
    }
}
