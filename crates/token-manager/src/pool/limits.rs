use tidegate_backoff_core::{Lesson, Pace};

use super::known::Known;
use super::learned::Learned;
use super::moment::Moment;
use super::quota::{Ended, Quota};
use crate::{Limit, Remaining};

/// What a token is held to beyond its rests: the limit that is known beforehand, the pace that its refusals
/// have taught, and what is told to be left of its quota.
#[derive(Debug, Default)]
pub(super) struct Limits {
    pub(super) known: Option<Known>,
    pub(super) pace: Option<Pace>,
    pub(super) learned: Learned,
    pub(super) quota: Option<Quota>,
}

/// A lend: which of the token's it was, from 1 on, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lent {
    pub(super) nth: u32,
    pub(super) at: Moment,
    /// How many had ended before it, where its quota was counted.
    pub(super) ended: Option<Ended>,
}

impl Limits {
    /// Of a token of which nothing is known but the settings' limit.
    pub(super) fn of(limit: Option<Limit>) -> Option<Box<Self>> {
        let known = limit.and_then(Known::new);
        known.map(|known| Box::new(Self { known: Some(known), ..Self::default() }))
    }

    /// The same under another known limit.
    pub(super) fn under(limits: Option<Box<Self>>, limit: Option<Limit>, now: Moment) -> Option<Box<Self>> {
        let mut limits = limits.unwrap_or_default();
        limits.known = match (&limits.known, limit) {
            (Some(known), Some(limit)) => known.under(limit, now),
            (None, Some(limit)) => Known::new(limit),
            (_, None) => None,
        };
        limits.kept()
    }

    /// The same without a pace.
    pub(super) fn unpaced(limits: Option<Box<Self>>) -> Option<Box<Self>> {
        let mut limits = limits?;
        (limits.pace, limits.learned) = (None, Learned::default());
        limits.kept()
    }

    fn kept(self: Box<Self>) -> Option<Box<Self>> {
        (self.known.is_some() || self.pace.is_some() || self.quota.is_some()).then_some(self)
    }

    /// Whether the pool has to hear of each answer.
    pub(super) fn hears(&self) -> bool {
        self.known.is_some() || self.quota.is_some() || self.pace.as_ref().is_some_and(Pace::is_resting)
    }

    /// Counts a lend. Returns how many had ended before it, where its quota is counted, and what it teaches other tokens.
    pub(super) fn lend(&mut self, now: Moment) -> (Option<Ended>, Option<Lesson>) {
        if let Some(known) = &mut self.known {
            known.lend(now);
        }
        let lesson = self.pace.as_mut().and_then(|pace| pace.lent(now.as_duration()));
        (self.quota.as_mut().map(|quota| quota.lend(now)), lesson)
    }

    /// Takes back a lend that was never used.
    pub(super) fn take_back(&mut self, lent: Lent) {
        if let Some(known) = &mut self.known {
            known.take_back(lent.at);
        }
        if let Some(pace) = &mut self.pace {
            pace.taken_back();
        }
        if let Some(quota) = &mut self.quota {
            quota.take_back(lent);
        }
    }

    /// A lend was answered, `later` lends before the latest, or will not be. `told` is what the answer says is left of
    /// the quota.
    pub(super) fn answered(&mut self, lent: Lent, later: u32, told: Option<Remaining>, now: Moment) {
        if let Some(known) = self.known.as_mut().filter(|_| lent.nth != 0) {
            known.answered(later, lent.at, now);
        }
        if let Some(quota) = &mut self.quota {
            quota.answered(lent, told, now);
        }
    }

    /// The moment from which the known limit and the pace allow a lend.
    pub(super) fn free_at(&mut self, now: Moment) -> Moment {
        let known = self.known.as_mut().map_or(Moment::BEFORE, |known| known.free_at(now));
        let pace = self.pace.as_ref().map_or(Moment::BEFORE, |pace| Moment::of(pace.allows_from()));
        known.max(pace)
    }

    /// The moment at which both allow lend number `nth` (0 is the next), if each is made as soon as it may be,
    /// and the first not before `from`.
    pub(super) fn serves_at(&self, nth: u32, from: Moment) -> Moment {
        let known = self.known.as_ref().map_or(from, |known| known.serves_at(nth, from));
        let pace =
            self.pace.as_ref().map_or(from, |pace| Moment::of(pace.serves_at(nth, from.as_duration())));
        known.max(pace)
    }
}
