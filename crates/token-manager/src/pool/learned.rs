//! What of a token's pace is told to others, and what is taken from them.

use std::time::Duration;

use tidegate_backoff_core::{LearnedLimit, Pace};

use super::limits::Limits;
use super::{Moment, Record, Touched};

/// What is older is not gone by: limits change with plans, and with the hours of a day. Who begins anew after that
/// pays for two refusals at most, and a pace that is too slow would cost more, as nothing tells of it.
pub(super) const STALE_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// A pace that is being searched moves with every few dozen lends, up and back. That alone is told no more often than
/// this; what a refusal has taught goes along with the news of it.
const TOLD_ALONE_EVERY: Duration = Duration::from_secs(5 * 60);
/// A pace by which the token is still lent is told again so often, long before it counts as old.
const RENEWS_EVERY: Duration = Duration::from_secs(6 * 60 * 60);

/// What was last told of a token's pace. Several who share a limit may each know another part of it as their own: so
/// whether there is something to tell goes by what was told here, not by what others say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Learned {
    /// By this pool, or taken from others.
    own: Option<LearnedLimit>,
    /// When that was.
    at: Moment,
    /// By anybody: what the news are.
    latest: Option<LearnedLimit>,
}

impl Record {
    /// Notes what has become worth telling. `has_news` is whether there is something to tell of it anyway.
    pub(super) fn note_learned(&mut self, has_news: impl FnOnce() -> bool, now: Moment) {
        let Some(limits) = &mut self.limits else { return };
        let Some(learned) = limits.pace.as_ref().and_then(Pace::learned) else { return };
        let Learned { own, at, .. } = limits.learned;
        let is_news = match own {
            None => true,
            Some(own) if learned.differs_from(&own) => at.after(TOLD_ALONE_EVERY) <= now || has_news(),
            Some(_) => at.after(RENEWS_EVERY) <= now,
        };
        if is_news {
            limits.learned = Learned { own: Some(learned), at: now, latest: Some(learned) };
            self.touched.add(Touched::LEARNED);
        }
    }

    /// What the latest news of it are.
    pub(super) fn latest_learned(&self) -> Option<LearnedLimit> {
        self.limits.as_ref().and_then(|limits| limits.learned.latest)
    }

    /// Has what is known told anew, as that of another token.
    pub(super) fn renew_learned(&mut self) {
        if let Some(limits) = &mut self.limits {
            limits.learned = Learned::default();
        }
    }

    /// Others have learned something of the token's limit, or have forgotten all of it.
    pub(super) fn learn_elsewhere(&mut self, told: Option<LearnedLimit>, now: Moment) {
        let Some(told) = told else {
            self.limits = Limits::unpaced(self.limits.take());
            return;
        };
        // Slower than once in the time for which it is gone by is no pace.
        if told.interval > STALE_AFTER {
            return;
        }
        let at = now.as_duration();
        let limits = self.limits.get_or_insert_default();
        let before = limits.pace.as_ref().and_then(Pace::learned);
        match &mut limits.pace {
            Some(pace) => pace.take_up(&told, at),
            pace => *pace = Some(Pace::resume(&told, at)),
        }
        let known = limits.pace.as_ref().and_then(Pace::learned);
        if known != before {
            (limits.learned.own, limits.learned.at) = (known, now);
        }
        limits.learned.latest = Some(told);
    }
}
