//! What is told to others and by them: the moments that decide between two pieces of news, and which tokens
//! have news that were not told yet.

mod heard;
mod ids;
mod marks;

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use self::marks::{Marks, Scale, When};
use super::places::IdHash;
use super::record::Shared;
use super::{Generation, Moment, Pool, Touched};
use crate::{Bar, BarNews, Clock, LearnedNews, News, RestNews, TokenId};

pub(crate) use self::ids::Mask;
pub(super) use self::ids::of_group;

/// What takes a rest: a token, or the gate of a group.
#[derive(Clone, Copy, Debug)]
enum Subject {
    Token(usize),
    Group(NonZeroU32),
}

/// How a rest that others tell stands to the latest one known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    Newer,
    Known,
}

/// What rests, as far as that is shared.
pub(super) trait Rests {
    /// The rest to tell of, if there is one.
    fn shared(&self) -> Option<Shared>;

    /// Whether there is anything that a reset would forget.
    fn is_marked(&self) -> bool;

    /// Whether its rest, if it has one, is over at `at`.
    fn rests_no_longer_than(&self, at: Moment) -> bool;

    /// Takes a rest that others tell, if it ends later than what is known, by more than clocks differ; or at the
    /// same moment, and is newer. Returns whether it was taken. Leases that are out then belong to the time before
    /// it, if it ends later. Rests are counted where they began: not here.
    fn rest_elsewhere(&mut self, told: &Shared, age: Age, next: Generation) -> bool;

    /// There was a reset elsewhere.
    fn reset_elsewhere(&mut self, next: Generation);

    /// A probe elsewhere has succeeded.
    fn recover_elsewhere(&mut self, next: Generation);
}

/// Only tokens and groups of which there was ever something to tell are in it, and each once among those with
/// untold news: however much happens, it holds no more than the pool has tokens and groups.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Of the lane's scope: under what ids it is told.
    mask: Mask,
    marks: HashMap<TokenId, Marks, IdHash>,
    untold: Vec<TokenId>,
}

impl Ledger {
    pub(super) fn note(&mut self, id: TokenId, mut touched: Touched, now: Moment) {
        if self.mask != Mask::NONE {
            // That is the token's in every lane, and told for them all.
            touched.remove(Touched::BARRED);
            if !touched.any() {
                return;
            }
        }
        let marks = self.marks.entry(id).or_insert(Marks::NONE);
        if !marks.untold.any() {
            self.untold.push(id);
        }
        marks.note(touched, now.into());
    }

    /// Whether there are news of it to tell.
    pub(super) fn is_untold(&self, id: TokenId) -> bool {
        self.marks.get(&id).is_some_and(|marks| marks.untold.any())
    }

    /// Forgets the tokens that are gone.
    pub(super) fn retain(&mut self, stays: impl Fn(TokenId) -> bool) {
        self.marks.retain(|id, _| stays(*id));
        self.untold.retain(|id| stays(*id));
    }
}

impl Pool {
    /// From now on notes what there is to tell others, under ids so masked.
    pub(crate) fn share(&mut self, mask: Mask) {
        self.ledger.get_or_insert_with(|| Ledger { mask, marks: HashMap::default(), untold: Vec::new() });
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.ledger.is_some()
    }

    /// Of how much there are news that were not told yet.
    pub(crate) fn untold(&self) -> usize {
        self.ledger.as_ref().map_or(0, |ledger| ledger.untold.len())
    }

    /// Up to `most` tokens' untold news, which are then told.
    pub(crate) fn take_news(&mut self, pool: &Arc<str>, clock: Clock, most: usize) -> Vec<News> {
        let scale = self.scale(clock);
        let Some(ledger) = &mut self.ledger else { return Vec::new() };
        let first = ledger.untold.len().saturating_sub(most);
        let ids: Vec<TokenId> = ledger.untold.drain(first..).collect();
        let news = ids.into_iter().filter_map(|id| self.news_of(pool, id, scale));
        news.filter(|news| !news.is_none()).collect()
    }

    /// Makes everything that is known of any token untold, for a store that may have missed some of it.
    pub(crate) fn tell_all(&mut self) {
        let Some(ledger) = &mut self.ledger else { return };
        ledger.untold.clear();
        for (id, marks) in &mut ledger.marks {
            marks.untold = Touched::ALL;
            ledger.untold.push(*id);
        }
    }

    fn news_of(&mut self, pool: &Arc<str>, id: TokenId, scale: Scale) -> Option<News> {
        let subject = self.subject(id)?;
        let ledger = self.ledger.as_mut()?;
        let marks = ledger.marks.get_mut(&id)?;
        let mut untold = std::mem::take(&mut marks.untold);
        if untold.has(Touched::RESTED) || untold.has(Touched::CLEARED) {
            // A rest counts from a reset on: each is told with the other.
            untold.add(Touched::RESTED);
            untold.add(Touched::CLEARED);
        }
        let told = |what, when: &mut When| {
            let stamp = when.stamp(scale).filter(|_| untold.has(what))?;
            *when = When::Told(stamp);
            Some(stamp)
        };
        let cleared = told(Touched::CLEARED, &mut marks.cleared);
        let rested = told(Touched::RESTED, &mut marks.rested);
        let recovered = told(Touched::RECOVERED, &mut marks.recovered);
        let barred = told(Touched::BARRED, &mut marks.barred);
        let learned = told(Touched::LEARNED, &mut marks.learned);
        let (rest, is_barred, limit) = match subject {
            Subject::Token(index) => {
                let record = &self.records[index];
                (record.shared(), record.is_barred(), record.latest_learned())
            }
            Subject::Group(group) => (self.groups.gate(group).shared(), false, None),
        };
        let rest = rest.zip(rested).map(|(rest, at)| RestNews {
            at,
            until: scale.end(rest.until),
            failures: rest.failures,
            rejections: rest.rejections,
            reason: rest.reason,
            worn_out: rest.worn_out,
        });
        let bar = barred.map(|at| BarNews { at, bar: if is_barred { Bar::Barred } else { Bar::Allowed } });
        let learned = learned.map(|at| LearnedNews { at, limit });
        Some(News {
            pool: Arc::clone(pool),
            id: ledger.mask.put_on(id),
            cleared,
            rest,
            recovered,
            bar,
            learned,
        })
    }

    fn subject(&self, id: TokenId) -> Option<Subject> {
        self.place(id).map(Subject::Token).or_else(|| self.groups.with_id(id).map(Subject::Group))
    }

    /// A group's gate may have changed.
    pub(super) fn note_group(&mut self, group: NonZeroU32) {
        let gate = self.groups.gate(group);
        let touched = std::mem::take(&mut gate.touched);
        if touched.any() {
            let id = self.groups.id(group);
            self.ledger.iter_mut().for_each(|ledger| ledger.note(id, touched, self.latest));
        }
    }

    fn scale(&mut self, clock: Clock) -> Scale {
        self.advance(clock.instant);
        Scale::new(self.origin.moment(clock.instant), clock.stamp)
    }
}
