//! What refusals teach of the limits behind them: how fast each token is used from then on.

use std::time::Duration;

use tidegate_backoff_core::{Lesson, Pace};

use super::{Effect, Limits, Loan, Moment, Pool};
use crate::{Outcome, Pacing, Report};

/// Whether a refusal is what the token's own limit, as far as it is known, lets expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surprise {
    Expected,
    Unexpected,
}

impl Pool {
    /// How many tokens hear of what one has learned: those after it in the settings' order. A dear refusal is
    /// spared them then, and in a large pool it need not be spared to all.
    const HEARERS: usize = 32;

    /// A quota that is told and renewed only after this is used as its user wants: an hour's calls may all be made in
    /// a minute, and the token rests for the hour.
    const LONG_QUOTA: Duration = Duration::from_secs(120);

    /// A queue that has stood for so many times the longest wait came about by no chance.
    const BY_CHANCE: u32 = 12;

    /// Whether any token has a pace.
    pub(super) fn is_paced(&self) -> bool {
        self.paced > 0
    }

    /// How long a wait may be that is worth to begin in a queue that has stood for so long, where it is less than allowed.
    /// A paced pool serves at its pace however many wait: a longer queue would not make it more, only later. So does one
    /// of a known limit; but a queue that comes about by chance uses what is left of that, and it is never refused.
    pub(crate) fn patience(&self, stood: Duration) -> Option<Duration> {
        let max_wait = self.params.max_wait;
        let is_steady =
            self.is_paced() || self.limit.is_some() && stood >= max_wait.saturating_mul(Self::BY_CHANCE);
        is_steady.then(|| max_wait / 20 * 7)
    }

    /// What a report teaches of the token's limit, and of others'.
    pub(super) fn learn(&mut self, loan: &Loan, report: &Report, effect: Effect, now: Moment) -> Surprise {
        let told_long = report.quota.is_some_and(|rest| rest > Self::LONG_QUOTA);
        let limited = report.outcome == Outcome::Limited && !told_long;
        let succeeded = report.outcome == Outcome::Success && effect != Effect::Nothing;
        if self.params.pacing == Pacing::Off || !(limited || succeeded) {
            return Surprise::Unexpected;
        }
        let Some(index) = self.place(loan.entry.id()) else { return Surprise::Unexpected };
        let record = &mut self.records[index];
        let at = now.as_duration();
        let was_paced = record.is_paced();
        let mut surprise = Surprise::Unexpected;
        let lesson = if limited {
            if was_paced && !record.pace().is_some_and(Pace::is_surprised) {
                surprise = Surprise::Expected;
            }
            let lends = u32::try_from(record.requests).unwrap_or(u32::MAX);
            let pace = &mut record.limits.get_or_insert_default().pace;
            // The pool's age is the token's at most.
            pace.get_or_insert_with(|| Pace::new(lends, at, at)).refused(at)
        } else if let Some(pace) = record.pace_mut().filter(|pace| pace.is_resting()) {
            pace.succeeded(at)
        } else {
            return Surprise::Unexpected;
        };
        if !was_paced && record.is_paced() {
            self.paced += 1;
        }
        self.refresh(index);
        if let Some(lesson) = lesson {
            self.pass_on(index, &lesson, at);
        }
        surprise
    }

    /// Before a lend: from when the token could have been lent, if it was refused and nobody knows yet that it works.
    pub(super) fn end_paces_rest(&mut self, index: usize) {
        let record = &self.records[index];
        if record.pace().is_some_and(Pace::is_resting) {
            let group = record.group.map_or(Moment::BEFORE, |group| self.groups.gate(group).until());
            let until = record.until().max(self.blame.gate.until()).max(group);
            if let Some(pace) = self.records[index].pace_mut().filter(|_| until > Moment::BEFORE) {
                pace.rests_until(until.as_duration());
            }
        }
    }

    pub(super) fn pass_on(&mut self, teacher: usize, lesson: &Lesson, at: Duration) {
        let tokens = self.records.len();
        for step in 1..tokens.min(Self::HEARERS + 1) {
            let index = (teacher + step) % tokens;
            if let Some(pace) = self.records[index].pace_mut() {
                pace.heed(lesson, at);
                self.refresh(index);
            }
        }
    }

    /// An operator has reset the token: its limit may be another.
    pub(super) fn forget_pace(&mut self, index: usize) {
        let record = &mut self.records[index];
        self.paced -= usize::from(record.is_paced());
        record.limits = Limits::unpaced(record.limits.take());
    }

    /// After a change of tokens or parameters.
    pub(super) fn count_paced(&mut self) {
        self.paced = self.records.iter().filter(|record| record.is_paced()).count();
    }
}
