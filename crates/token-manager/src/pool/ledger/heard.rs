//! Taking what others tell.

use std::sync::Arc;

use super::marks::{Marks, Scale, When};
use super::{Age, Rests, Subject};
use crate::news::SLACK_MS;
use crate::pool::record::Shared;
use crate::pool::{Generation, Pool, Touched};
use crate::{Bar, BarNews, Clock, News, Stamp, TokenId};

/// What a lane has taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Of what: its id without a scope.
    pub(crate) id: TokenId,
    /// A reset that was not known.
    pub(crate) cleared: Option<Stamp>,
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
        Some(Heard { id, cleared: news.cleared.filter(|at| Some(*at) > known) })
    }

    /// When a reset was last heard of.
    pub(crate) fn cleared(&mut self, id: TokenId, clock: Clock) -> Option<Stamp> {
        let scale = self.scale(clock);
        self.ledger.as_ref()?.marks.get(&id)?.cleared.stamp(scale)
    }

    /// A reset without a scope is one in this lane too, and is told for it.
    pub(crate) fn apply_reset(&mut self, id: TokenId, at: Stamp, pool: &Arc<str>, clock: Clock) {
        let Some(mask) = self.ledger.as_ref().map(|ledger| ledger.mask) else { return };
        let is_marked = match self.subject(id) {
            Some(Subject::Token(index)) => self.records[index].is_marked(),
            Some(Subject::Group(group)) => self.groups.gate(group).is_marked(),
            None => false,
        };
        if !is_marked || self.cleared(id, clock) >= Some(at) {
            return;
        }
        let reset = News { cleared: Some(at), ..News::none(Arc::clone(pool), mask.put_on(id)) };
        self.apply(&reset, clock);
        let Some(ledger) = &mut self.ledger else { return };
        if let Some(marks) = ledger.marks.get_mut(&id) {
            if !marks.untold.any() {
                ledger.untold.push(id);
            }
            marks.untold.add(Touched::CLEARED);
        }
    }
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
