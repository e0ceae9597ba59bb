//! What others tell of a token, and what is told to them.

use super::{Generation, Health, Moment, Record};
use crate::Reason;
use crate::news::SLACK;
use crate::pool::ledger::{Age, Rests};

/// A rest as it is shared, without the moment at which it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pool) struct Shared {
    pub(in crate::pool) until: Moment,
    pub(in crate::pool) failures: u32,
    pub(in crate::pool) rejections: u32,
    pub(in crate::pool) reason: Reason,
    pub(in crate::pool) worn_out: bool,
}

impl Rests for Record {
    fn shared(&self) -> Option<Shared> {
        let reason = self.reason.filter(|_| self.health != Health::Ready)?;
        Some(Shared {
            until: self.until,
            failures: self.failures,
            rejections: self.rejections,
            reason,
            worn_out: self.health == Health::WornOut,
        })
    }

    fn is_marked(&self) -> bool {
        self.health != Health::Ready || self.failures > 0
    }

    fn rests_no_longer_than(&self, at: Moment) -> bool {
        self.until <= at
    }

    fn rest_elsewhere(&mut self, told: &Shared, age: Age, next: Generation) -> bool {
        let is_later = self.health == Health::Ready || told.until > self.until.after(SLACK);
        let is_same = told.until.after(SLACK) >= self.until;
        let is_taken = is_later || is_same && age == Age::Newer;
        if is_taken {
            self.failures = told.failures;
            self.rejections = told.rejections;
            self.reason = Some(told.reason);
            self.health = if told.worn_out { Health::WornOut } else { Health::Resting };
        }
        if is_later {
            self.until = told.until;
            self.generation = next;
            self.probe_out = false;
        }
        is_taken
    }

    fn reset_elsewhere(&mut self, next: Generation) {
        self.reset(next);
    }

    /// Leases that are out may still tell otherwise.
    fn recover_elsewhere(&mut self, _next: Generation) {
        self.recover();
    }
}

impl Record {
    pub(in crate::pool) fn is_barred(&self) -> bool {
        self.disabled
    }

    /// An operator has barred the token elsewhere.
    pub(in crate::pool) fn bar_elsewhere(&mut self, next: Generation) {
        self.disabled = true;
        self.generation = next;
        self.probe_out = false;
    }

    /// An operator has allowed the token elsewhere.
    pub(in crate::pool) fn allow_elsewhere(&mut self) {
        self.disabled = false;
    }
}
