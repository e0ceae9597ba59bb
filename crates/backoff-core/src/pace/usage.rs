//! How a token was used: what its refusals are read against.

use super::meter::Timing;

/// In nanoseconds, as all times here.
pub(super) const SECOND: u64 = 1_000_000_000;

/// What was granted since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch {
    pub(super) since: u64,
    pub(super) granted: u32,
    pub(super) begins: Begins,
    /// For how long of it nobody wanted the token.
    pub(super) unused: u64,
}

/// What stood at an epoch's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// A refusal: nothing was left.
    Empty,
    /// A time without use: nobody knows how much was saved up.
    Idle,
}

impl Epoch {
    pub(super) const fn empty(now: u64) -> Self {
        Self { since: now, granted: 0, begins: Begins::Empty, unused: 0 }
    }

    pub(super) const fn idle(now: u64) -> Self {
        Self { since: now, granted: 0, begins: Begins::Idle, unused: 0 }
    }

    /// Notes that nobody wanted the token for so long up to now. Returns whether that is, in all, so much of the epoch that
    /// it tells no rate. Among hundreds of calls that come by chance a few gaps are long, which says nothing.
    pub(super) fn note_unused(&mut self, gap: u64, now: u64) -> bool {
        self.unused = self.unused.saturating_add(gap);
        self.unused > now.saturating_sub(self.since) / 4
    }

    /// The mean time between two grants.
    pub(super) fn mean(&self, now: u64) -> u64 {
        (now.saturating_sub(self.since) / u64::from(self.granted.max(1))).max(1)
    }
}

/// The mean interval of the latest lends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recent {
    pub(super) last: u64,
    /// 0 before the second lend.
    pub(super) mean: u64,
    /// Over about how many lends: half of what a window seems to hold, so that the mean lags as a window's own does.
    span: u32,
}

impl Recent {
    pub(super) fn new(lends: u32, now: u64) -> Self {
        Self { last: now, mean: 0, span: 8 }.over(lends)
    }

    pub(super) fn over(self, window: u32) -> Self {
        Self { span: (window / 2).clamp(8, 4096), ..self }
    }

    pub(super) fn note(&mut self, gap: u64, granted: u32) {
        let over = u64::from(granted.clamp(2, self.span));
        self.mean = if self.mean == 0 { gap } else { self.mean - self.mean / over + gap / over };
    }

    /// Whether nobody wanted the token for as long as this gap, by the use before it.
    pub(super) fn is_idle(&self, gap: u64) -> bool {
        gap > self.mean.saturating_mul(4).max(SECOND)
    }
}

/// A pace is kept for a while before it counts as granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    since: u64,
    pub(super) lends: u32,
    pub(super) idle: bool,
    pub(super) tight: u32,
}

impl Trial {
    pub(super) const fn from(now: u64) -> Self {
        Self { since: now, lends: 0, idle: false, tight: 0 }
    }

    pub(super) fn note(&mut self, timing: Timing) {
        self.tight = self.tight.saturating_add(u32::from(timing == Timing::Tight));
        self.idle |= timing == Timing::Idle;
    }

    pub(super) const fn lasted(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }

    /// Whether so many percent of a pace were used.
    pub(super) const fn used(&self, percent: u64, interval: u64, now: u64) -> bool {
        let used = interval.saturating_mul(self.lends as u64);
        used.saturating_mul(100) >= self.lasted(now).saturating_mul(percent)
    }
}

/// A limit that has fallen all at once may be what it was again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fall {
    /// The latest interval that was kept for a while before it; 0 for none.
    pub(super) from: u64,
    /// While that is tried again, the interval since the fall; 0 otherwise.
    pub(super) to: u64,
    /// How often that was refused.
    pub(super) tries: u32,
    /// What was lent since the fall, or since that was refused last.
    since: Option<Trial>,
}

impl Fall {
    pub(super) const NONE: Self = Self { from: 0, to: 0, tries: 0, since: None };

    /// None, from an interval that was kept.
    pub(super) const fn below(from: u64) -> Self {
        Self { from, ..Self::NONE }
    }

    /// How often it is tried; then the fall is no fall any more.
    const TRIES: u32 = 6;

    /// Counts a lend after it. Returns all of them.
    pub(super) fn note(&mut self, now: u64) -> Trial {
        let trial = self.since.get_or_insert(Trial::from(now));
        trial.lends = trial.lends.saturating_add(1);
        *trial
    }

    /// What was before it is refused still.
    pub(super) fn lasts(&mut self) {
        *self = Self { to: 0, tries: self.tries + 1, since: None, ..*self };
    }

    pub(super) const fn is_tried(&self) -> bool {
        self.to != 0
    }

    /// Whether this interval is what is left after a fall: more than twice as long.
    pub(super) const fn is_down_to(&self, interval: u64) -> bool {
        self.from != 0 && self.tries < Self::TRIES && interval / 2 > self.from
    }
}

/// What was granted up to a refusal, while little is known of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) granted: u32,
    pub(super) within: u64,
    pub(super) since: Since,
}

/// Since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// The token's first use.
    Start,
    /// The end of a dear rest: nothing of what came before is counted any more. Before that rest so much was
    /// granted.
    Rest(u32),
    /// That was another refusal than the latest.
    Before,
}

impl Filled {
    pub(super) const NOTHING: Self = Self { granted: 0, within: 0, since: Since::Before };
}
