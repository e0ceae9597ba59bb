//! Taking what others tell.

use std::sync::Arc;
use std::time::Duration;

use super::marks::{Marks, Scale, When};
use super::{Age, Rests, Subject};
use crate::news::SLACK_MS;
use crate::pool::learned::STALE_AFTER;
use crate::pool::record::Shared;
use crate::pool::{Generation, Pool, Touched};
use crate::{Bar, BarNews, Clock, LearnedNews, News, Pacing, Stamp, TokenId};

/// What a lane has taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Of what: its id without a scope.
    pub(crate) id: TokenId,
    pub(crate) reset: Reset,
}

/// A reset that was not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reset {
    /// Of rests: when.
    cleared: Option<Stamp>,
    /// Of what was learned: when. A success while the token rests resets the one and not the other.
    forgotten: Option<Stamp>,
}

impl Pool {
    /// Takes news from elsewhere. Old ones and known ones change nothing. None if they are of nothing that is known
    /// in this lane.
    pub(crate) fn apply(&mut self, news: &News, clock: Clock) -> Option<Heard> {
        let id = self.ledger.as_ref()?.mask.take_off(news.id);
        let subject = self.subject(id)?;
        let (scale, next) = (self.scale(clock), self.next_generation());
        let ledger = self.ledger.as_mut()?;
        let mut marks = ledger.marks.get(&id).copied().unwrap_or(Marks::NONE);
        let (was_told, known) = (!marks.untold.any(), marks.cleared.stamp(scale));
        let reset = Reset { cleared: news.cleared.filter(|at| Some(*at) > known), forgotten: None };
        let learned = news.learned.filter(|news| counts(self.params.pacing, *news, scale));
        let mut forgotten = None;
        match subject {
            Subject::Token(index) => {
                let record = &mut self.records[index];
                hear(record, &mut marks, news, scale, next);
                let bar = if record.is_barred() { Bar::Barred } else { Bar::Allowed };
                let known = marks.barred.stamp(scale).map(|at| BarNews { at, bar });
                if let Some(news) = news.bar.filter(|news| Some(*news) > known) {
                    marks.barred = When::Told(news.at);
                    match news.bar {
                        Bar::Barred if !record.is_barred() => record.bar_elsewhere(next),
                        Bar::Barred => {}
                        Bar::Allowed => record.allow_elsewhere(),
                    }
                }
                let known = marks.learned.stamp(scale);
                let known = known.map(|at| LearnedNews { at, limit: record.latest_learned() });
                if let Some(news) = learned.filter(|news| Some(*news) > known) {
                    marks.learned = When::Told(news.at);
                    forgotten = news.limit.is_none().then_some(news.at);
                    self.paced -= usize::from(record.is_paced());
                    record.learn_elsewhere(news.limit, self.latest);
                    self.paced += usize::from(record.is_paced());
                }
                // What was applied is known elsewhere already.
                record.touched = Touched::NOTHING;
            }
            Subject::Group(group) => {
                let gate = self.groups.gate(group);
                hear(gate, &mut marks, news, scale, next);
                gate.touched = Touched::NOTHING;
            }
        }
        if was_told && marks.untold.any() {
            ledger.untold.push(id);
        }
        ledger.marks.insert(id, marks);
        match subject {
            Subject::Token(index) => self.refresh(index),
            Subject::Group(group) => self.refresh_group(Some(group)),
        }
        Some(Heard { id, reset: Reset { forgotten, ..reset } })
    }

    /// The latest reset that was heard of: of what was learned, if nothing was since.
    pub(crate) fn reset_of(&mut self, id: TokenId, clock: Clock) -> Reset {
        let scale = self.scale(clock);
        let marks = self.ledger.as_ref().and_then(|ledger| ledger.marks.get(&id));
        let Some(marks) = marks.copied() else { return Reset::default() };
        let knows = self.place(id).is_some_and(|index| self.records[index].latest_learned().is_some());
        Reset {
            cleared: marks.cleared.stamp(scale),
            forgotten: marks.learned.stamp(scale).filter(|_| !knows),
        }
    }

    /// A reset without a scope is one in this lane too, and is told for it.
    pub(crate) fn apply_reset(&mut self, id: TokenId, reset: Reset, pool: &Arc<str>, clock: Clock) {
        if reset == Reset::default() {
            return;
        }
        let scale = self.scale(clock);
        let Some(ledger) = &self.ledger else { return };
        let (mask, marks) = (ledger.mask, ledger.marks.get(&id).copied().unwrap_or(Marks::NONE));
        let (is_marked, is_paced) = match self.subject(id) {
            Some(Subject::Token(index)) => {
                let record = &self.records[index];
                (record.is_marked(), record.pace().is_some())
            }
            Some(Subject::Group(group)) => (self.groups.gate(group).is_marked(), false),
            None => (false, false),
        };
        let cleared = reset.cleared.filter(|at| is_marked && marks.cleared.stamp(scale) < Some(*at));
        let forgotten = reset.forgotten.filter(|at| is_paced && marks.learned.stamp(scale) < Some(*at));
        let mut untold = Touched::NOTHING;
        if cleared.is_some() {
            untold.add(Touched::CLEARED);
        }
        if forgotten.is_some() {
            untold.add(Touched::LEARNED);
        }
        if !untold.any() {
            return;
        }
        let learned = forgotten.map(|at| LearnedNews { at, limit: None });
        self.apply(&News { cleared, learned, ..News::none(Arc::clone(pool), mask.put_on(id)) }, clock);
        let Some(ledger) = &mut self.ledger else { return };
        if let Some(marks) = ledger.marks.get_mut(&id) {
            if !marks.untold.any() {
                ledger.untold.push(id);
            }
            marks.untold.add(untold);
        }
    }
}

/// Whether what others have learned is gone by. A moment of the future is one by a clock that was set back.
fn counts(pacing: Pacing, news: LearnedNews, scale: Scale) -> bool {
    let age = u64::try_from(scale.now().since(news.at)).map_or(Duration::ZERO, Duration::from_millis);
    pacing == Pacing::Learned && age <= STALE_AFTER
}

fn hear(rests: &mut impl Rests, marks: &mut Marks, news: &News, scale: Scale, next: Generation) {
    let stamp = |when: When| when.stamp(scale);
    if let Some(at) = news.cleared.filter(|at| Some(*at) > stamp(marks.cleared)) {
        marks.cleared = When::Told(at);
        if stamp(marks.rested) <= Some(at) {
            if rests.is_marked() {
                rests.reset_elsewhere(next);
            }
        } else if rests.shared().is_some() {
            // Told without a word of this reset it is void elsewhere; but it was made after it, so it is told anew.
            marks.untold.add(Touched::RESTED);
        }
    }
    if let Some(at) = news.recovered.filter(|at| Some(*at) > stamp(marks.recovered)) {
        marks.recovered = When::Told(at);
        if rests.is_marked() && rests.rests_no_longer_than(scale.moment(at.plus(SLACK_MS))) {
            rests.recover_elsewhere(next);
        }
    }
    if let Some(rest) = news.rest.filter(|_| news.cleared >= stamp(marks.cleared)) {
        // A clock that was set back, or a file of the future, must not make a rest longer than it was.
        let length = rest.until.since(rest.at).max(0);
        let until = scale.now().plus(rest.until.since(scale.now()).min(length));
        let is_over = stamp(marks.recovered).is_some_and(|at| until <= at.plus(SLACK_MS));
        let told = Shared {
            until: scale.moment(until),
            failures: rest.failures,
            rejections: rest.rejections,
            reason: rest.reason,
            worn_out: rest.worn_out,
        };
        let facts = |rest: &Shared| (rest.failures, rest.rejections, rest.reason, rest.worn_out);
        let known = (stamp(marks.rested), rests.shared().as_ref().map(facts));
        let age = if (Some(rest.at), Some(facts(&told))) > known { Age::Newer } else { Age::Known };
        if !is_over && rests.rest_elsewhere(&told, age, next) {
            marks.rested = When::Told(rest.at);
        }
    }
}
