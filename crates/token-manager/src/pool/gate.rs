use std::time::Duration;

use tidegate_backoff_core::{CoolDown, MAX_TOLD_REST};

use super::ledger::{Age, Rests};
use super::record::Shared;
use super::{Generation, Moment, Touched};
use crate::Reason;
use crate::news::SLACK;

/// A rest that several tokens take together, because one limit holds for all of them: of a group, or of the
/// caller's address. One cool-down, and at its end one probe for them all.
#[derive(Debug)]
pub(super) struct Gate {
    shut: bool,
    probe_out: bool,
    failures: u32,
    until: Moment,
    /// While it is open: when its latest rest was to end.
    ended: Moment,
    generation: Generation,
    /// What has changed since the pool last looked.
    pub(super) touched: Touched,
}

/// What a loan remembers of a gate, or of a token, that has let it pass: twice the generation, and one more if it is
/// the probe. A loan is moved several times on its way to who asked: as one number this is moved in one piece, and as
/// no field is a `bool`, the compiler does not tell an answer from a refusal by a byte in the middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass(u64);

impl Pass {
    /// Where there is no gate.
    pub(super) const NONE: Self = Self(0);

    pub(super) fn ordinary(generation: Generation) -> Self {
        Self(generation.0 << 1)
    }

    pub(super) fn probe(generation: Generation) -> Self {
        Self(generation.0 << 1 | 1)
    }

    pub(super) fn generation(self) -> Generation {
        Generation(self.0 >> 1)
    }

    pub(super) fn is_probe(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Whether a gate lets a lend through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Open,
    /// One may pass: the probe.
    ToProbe,
    /// When the probe has ended; nobody knows when.
    Held,
    From(Moment),
}

impl Gate {
    /// An open gate. Generations are the pool's, so that no two gates have the same.
    pub(super) fn new(generation: Generation) -> Self {
        let touched = Touched::NOTHING;
        Self {
            shut: false,
            probe_out: false,
            failures: 0,
            until: Moment::BEFORE,
            ended: Moment::BEFORE,
            generation,
            touched,
        }
    }

    pub(super) fn way(&self, now: Moment) -> Way {
        match self.shut {
            false => Way::Open,
            true if self.until > now => Way::From(self.until),
            true if self.probe_out => Way::Held,
            true => Way::ToProbe,
        }
    }

    /// When its latest rest ends, or did.
    pub(super) fn until(&self) -> Moment {
        self.until.max(self.ended)
    }

    pub(super) fn is_shut(&self) -> bool {
        self.shut
    }

    /// A lend passes. With a shut gate whose rest is over it is the probe.
    pub(super) fn pass(&mut self, now: Moment) -> Pass {
        if self.way(now) == Way::ToProbe {
            self.probe_out = true;
            Pass::probe(self.generation)
        } else {
            Pass::ordinary(self.generation)
        }
    }

    /// A loan that has passed was refused: the gate shuts, or shuts again for longer. Refusals of those that
    /// had passed before only prolong the rest that they were told.
    pub(super) fn refused(
        &mut self,
        pass: Pass,
        told: Duration,
        cool_down: &CoolDown,
        next: Generation,
        now: Moment,
    ) {
        if pass.generation() == self.generation {
            self.shut(told, cool_down, next, now);
        } else if self.shut && now.after(told.min(MAX_TOLD_REST)) > self.until && !told.is_zero() {
            self.until = now.after(told.min(MAX_TOLD_REST));
            self.touched.add(Touched::RESTED);
        }
    }

    /// One refusal more.
    pub(super) fn shut(&mut self, told: Duration, cool_down: &CoolDown, next: Generation, now: Moment) {
        self.failures = self.failures.saturating_add(1);
        let rest = cool_down.rest(self.failures, 0).duration.max(told.min(MAX_TOLD_REST));
        self.rest(now.after(rest), next);
    }

    /// Rests until then at least.
    pub(super) fn rest(&mut self, until: Moment, next: Generation) {
        self.until = self.until.max(until);
        self.shut = true;
        self.touched.add(Touched::RESTED);
        self.void(next);
    }

    /// The loans that are out tell nothing any more; the probe, if it was one of them, is another's to make.
    pub(super) fn void(&mut self, next: Generation) {
        self.generation = next;
        self.probe_out = false;
    }

    /// The probe has told nothing: another may pass.
    pub(super) fn give_back(&mut self, pass: Pass) -> bool {
        let ours = pass.is_probe() && pass.generation() == self.generation;
        if ours {
            self.probe_out = false;
        }
        ours
    }

    /// A loan that has passed was a success. Returns whether that opens the gate.
    pub(super) fn succeeded(&mut self, pass: Pass, next: Generation, now: Moment) -> bool {
        let opens = self.shut && pass.generation() == self.generation;
        if opens {
            // A rest that still runs was prolonged by one who had passed before: no probe's success ends that.
            let what = if self.until > now { Touched::CLEARED } else { Touched::RECOVERED };
            self.forget(what, next);
        }
        opens
    }

    /// Forgets failures and rest.
    pub(super) fn open(&mut self, next: Generation) {
        self.forget(Touched::CLEARED, next);
    }

    fn forget(&mut self, what: Touched, next: Generation) {
        let mut touched = self.touched;
        touched.add(what);
        *self = Self { touched, ended: self.until(), ..Self::new(next) };
    }
}

impl Rests for Gate {
    fn shared(&self) -> Option<Shared> {
        self.shut.then_some(Shared {
            until: self.until,
            failures: self.failures,
            rejections: 0,
            reason: Reason::RateLimited,
            worn_out: false,
        })
    }

    fn is_marked(&self) -> bool {
        self.shut
    }

    fn rests_no_longer_than(&self, at: Moment) -> bool {
        self.until <= at
    }

    fn rest_elsewhere(&mut self, told: &Shared, age: Age, next: Generation) -> bool {
        let is_later = !self.shut || told.until > self.until.after(SLACK);
        let is_taken = is_later || told.until.after(SLACK) >= self.until && age == Age::Newer;
        if is_taken {
            self.failures = told.failures;
        }
        if is_later {
            self.until = told.until;
            self.shut = true;
            self.void(next);
        }
        is_taken
    }

    fn reset_elsewhere(&mut self, next: Generation) {
        self.open(next);
    }

    fn recover_elsewhere(&mut self, next: Generation) {
        self.open(next);
    }
}
