//! What is told to others and by them: the moments that decide between two pieces of news, and which tokens
//! have news that were not told yet.

use std::collections::HashMap;
use std::sync::Arc;

use super::places::IdHash;
use super::record::{Age, Shared};
use super::{Moment, Pool, Touched};
use crate::entry::Entry;
use crate::news::SLACK_MS;
use crate::{Bar, BarNews, Clock, News, RestNews, Stamp, TokenId};

const NANOS_PER_MILLI: i64 = 1_000_000;

/// A moment in nanoseconds by the pool's clock. Unlike a [`Moment`] it may lie before the pool's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark(i64);

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
enum When {
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
    fn stamp(self, scale: Scale) -> Option<Stamp> {
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
struct Marks {
    rested: When,
    cleared: When,
    recovered: When,
    barred: When,
    untold: Touched,
}

impl Marks {
    const NONE: Self = Self {
        rested: When::Never,
        cleared: When::Never,
        recovered: When::Never,
        barred: When::Never,
        untold: Touched::NOTHING,
    };

    /// Stores count in milliseconds: what follows on something within one is dated into the next, so that
    /// the order shows.
    fn note(&mut self, touched: Touched, now: Mark) {
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
        self.untold.add(touched);
    }
}

/// Only tokens of which there was ever something to tell are in it, and each once among those with untold
/// news: however much happens, it holds no more than the pool has tokens.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    marks: HashMap<TokenId, Marks, IdHash>,
    untold: Vec<TokenId>,
}

impl Ledger {
    pub(super) fn note(&mut self, id: TokenId, touched: Touched, now: Moment) {
        let marks = self.marks.entry(id).or_insert(Marks::NONE);
        if !marks.untold.any() {
            self.untold.push(id);
        }
        marks.note(touched, now.into());
    }

    /// Forgets the tokens that are gone.
    pub(super) fn retain(&mut self, stays: impl Fn(TokenId) -> bool) {
        self.marks.retain(|id, _| stays(*id));
        self.untold.retain(|id| stays(*id));
    }
}

/// Turns a store's moments into the pool's and back.
#[derive(Clone, Copy)]
struct Scale {
    mark: Mark,
    stamp: Stamp,
}

impl Scale {
    fn mark(self, stamp: Stamp) -> Mark {
        Mark(self.mark.0.saturating_add(stamp.since(self.stamp).saturating_mul(NANOS_PER_MILLI)))
    }

    fn stamp(self, mark: Mark) -> Stamp {
        self.stamp.plus(mark.0.saturating_sub(self.mark.0).div_euclid(NANOS_PER_MILLI))
    }

    /// The pool's moment; its beginning for one before that.
    fn moment(self, stamp: Stamp) -> Moment {
        Moment::from_nanos(u64::try_from(self.mark(stamp).0).unwrap_or(0))
    }

    /// A rest's end, rounded up: nobody lends a token early because of a fraction.
    fn end(self, until: Moment) -> Stamp {
        self.stamp(Mark(Mark::from(until).0.saturating_add(NANOS_PER_MILLI - 1)))
    }
}

impl Pool {
    /// From now on notes what there is to tell others.
    pub(crate) fn share(&mut self) {
        self.ledger.get_or_insert_with(Default::default);
    }

    /// Whether there are news that were not told yet.
    pub(crate) fn has_news(&self) -> bool {
        self.ledger.as_ref().is_some_and(|ledger| !ledger.untold.is_empty())
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
        let index = self.place(id)?;
        let record = &self.records[index];
        let marks = self.ledger.as_mut()?.marks.get_mut(&id)?;
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
        let rest = record.shared().zip(rested).map(|(rest, at)| RestNews {
            at,
            until: scale.end(rest.until),
            failures: rest.failures,
            rejections: rest.rejections,
            reason: rest.reason,
            worn_out: rest.worn_out,
        });
        let bar =
            barred.map(|at| BarNews { at, bar: if record.is_barred() { Bar::Barred } else { Bar::Allowed } });
        Some(News { pool: Arc::clone(pool), id, rest, cleared, recovered, bar })
    }

    /// Takes news from elsewhere. Those of unknown tokens, old ones and known ones change nothing.
    pub(crate) fn apply(&mut self, news: &News, clock: Clock) {
        let scale = self.scale(clock);
        let (Some(index), Some(ledger)) = (self.place(news.id), &mut self.ledger) else { return };
        let mut marks = ledger.marks.get(&news.id).copied().unwrap_or(Marks::NONE);
        self.generations += 1;
        let next = super::Generation(self.generations);
        let record = &mut self.records[index];

        let stamp = |when: When| when.stamp(scale);
        if let Some(at) = news.cleared.filter(|at| Some(*at) > stamp(marks.cleared)) {
            marks.cleared = When::Told(at);
            if stamp(marks.rested) <= Some(at) {
                if record.is_marked() {
                    record.reset(next);
                }
            } else if record.shared().is_some() {
                // Told without a word of this reset it is void elsewhere; but it was made after it, so it is told anew.
                if !marks.untold.any() {
                    ledger.untold.push(news.id);
                }
                marks.untold.add(Touched::RESTED);
            }
        }
        if let Some(at) = news.recovered.filter(|at| Some(*at) > stamp(marks.recovered)) {
            marks.recovered = When::Told(at);
            if record.is_marked() && record.rests_no_longer_than(scale.moment(at.plus(SLACK_MS))) {
                record.recover_elsewhere();
            }
        }
        if let Some(rest) = news.rest.filter(|_| news.cleared >= stamp(marks.cleared)) {
            // A clock that was set back, or a file of the future, must not make a rest longer than it was.
            let length = rest.until.since(rest.at).max(0);
            let until = clock.stamp.plus(rest.until.since(clock.stamp).min(length));
            let is_over = stamp(marks.recovered).is_some_and(|at| until <= at.plus(SLACK_MS));
            let told = Shared {
                until: scale.moment(until),
                failures: rest.failures,
                rejections: rest.rejections,
                reason: rest.reason,
                worn_out: rest.worn_out,
            };
            let age = if Some(rest.at) > stamp(marks.rested) { Age::Newer } else { Age::Known };
            if !is_over && record.rest_elsewhere(&told, age, next) {
                marks.rested = When::Told(rest.at);
            }
        }
        if let Some(news) = news.bar.filter(|news| Some(news.at) > stamp(marks.barred)) {
            marks.barred = When::Told(news.at);
            match news.bar {
                Bar::Barred if !record.is_barred() => record.bar_elsewhere(next),
                Bar::Barred => {}
                Bar::Allowed => record.allow_elsewhere(),
            }
        }
        // What was applied is known elsewhere already.
        record.touched = Touched::NOTHING;
        ledger.marks.insert(news.id, marks);
        self.refresh(index);
    }

    fn scale(&mut self, clock: Clock) -> Scale {
        self.advance(clock.instant);
        Scale { mark: self.origin.moment(clock.instant).into(), stamp: clock.stamp }
    }

    /// Every token, those included that are gone but for leases that are out.
    pub(crate) fn entries(&self) -> Vec<Arc<Entry>> {
        self.records.iter().chain(self.retired.values()).map(|record| Arc::clone(&record.entry)).collect()
    }

    /// Ids have changed. Whoever knows a token by its old one still finds it.
    pub(crate) fn take_ids(&mut self, renamed: &[(TokenId, TokenId)]) {
        self.aliases.extend(renamed.iter().copied());
        self.places = super::Places::with_room_for(self.records.len());
        for (index, record) in self.records.iter().enumerate() {
            self.places.insert(record.entry.id(), index);
        }
        self.retired = self.retired.drain().map(|(_, record)| (record.entry.id(), record)).collect();
        let renamed = |id: TokenId| self.aliases.get(&id).copied().unwrap_or(id);
        if let Some(ledger) = &mut self.ledger {
            ledger.marks = ledger.marks.drain().map(|(id, marks)| (renamed(id), marks)).collect();
            ledger.untold.iter_mut().for_each(|id| *id = renamed(*id));
        }
    }
}
