use std::borrow::Cow;
use std::fmt;

use crate::entry::Entry;
use crate::pool::{Generation, Loan, Pool, Told};
use crate::{Outcome, Report, Token, TokenId};

/// A token, lent to one attempt.
///
/// The response's body keeps it until it has ended, been dropped, or failed: a token's `max_concurrency`
/// counts it till then. What the attempt says about the token is told at the head, by
/// [`settle`](Self::settle). A lease that is dropped without it is nobody's fault.
#[must_use = "a lease that is dropped frees its token"]
pub struct Lease {
    loan: Loan,
    told: Told,
}

/// What a lease is remembered by after it has ended, for [`charge`](crate::TokenManager::charge).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseStamp {
    pub(crate) id: TokenId,
    pub(crate) lane: u32,
    pub(crate) generation: Generation,
}

impl LeaseStamp {
    /// Which token was lent.
    pub const fn id(&self) -> TokenId {
        self.id
    }
}

impl Lease {
    pub(crate) fn new(loan: Loan) -> Self {
        Self { loan, told: Told::Nothing }
    }

    /// The secret.
    pub fn token(&self) -> &Token {
        &self.loan.entry.value
    }

    /// What stands for it.
    pub fn id(&self) -> TokenId {
        self.loan.entry.id()
    }

    /// What to call it where people can see it: its name, or its id.
    pub fn label(&self) -> Cow<'_, str> {
        Cow::Owned(self.loan.entry.name().unwrap_or_else(|| self.id().to_string()))
    }

    /// What to keep of it.
    pub fn stamp(&self) -> LeaseStamp {
        LeaseStamp { id: self.loan.entry.id(), lane: self.loan.lane, generation: self.loan.generation() }
    }

    /// Tells what came of the attempt, as soon as the head of the response is there. Only the first call
    /// counts.
    pub fn settle(&mut self, report: &Report) {
        self.tell(None, report);
    }

    /// [`settle`](Self::settle), where the response says which scope it was counted in: what it tells is that
    /// scope's, whichever the token was asked for.
    pub fn settle_in(&mut self, scope: &str, report: &Report) {
        self.tell(Some(scope), report);
    }

    fn tell(&mut self, scope: Option<&str>, report: &Report) {
        if self.told == Told::Outcome {
            return;
        }
        self.told = Told::Outcome;
        let entry = &self.loan.entry;
        entry.note(report);
        let plain = report.outcome == Outcome::Success && report.quota.is_none() && !is_scarce(report, entry);
        if plain && scope.is_none() && !Pool::hears(&self.loan, entry.who_hears(), self.told) {
            return;
        }
        // Without a pool nobody is left to hear of it.
        if let Some(pool) = entry.home.pool.upgrade() {
            pool.settle(&self.loan, scope, report);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let hears = self.loan.entry.leave();
        if Pool::hears(&self.loan, hears, self.told) {
            if let Some(pool) = self.loan.entry.home.pool.upgrade() {
                pool.left(&self.loan, self.told);
            }
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("id", &self.id()).field("told", &self.told).finish_non_exhaustive()
    }
}

/// Whether so little is left of the quota that all of it may be out before the next answer says so.
fn is_scarce(report: &Report, entry: &Entry) -> bool {
    const PLENTY: u32 = 64;
    report.remaining.is_some_and(|it| it.calls < PLENTY || it.calls / 4 < entry.in_flight())
}
