//! Every rule of a token's life, by explicit moments.

mod blame;
mod burst;
mod forecast;
mod groups;
mod limits;
mod operators;
mod paced;
mod probe;
mod quota;
mod reload;
mod rest;
mod selection;
mod soonest;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{Generation, Loan, Pool, Told};
use crate::{IdKey, Outcome, PoolParams, Report, State, TokenId, TokenSpec, TokenStatus};

/// A pool of the tokens "a", "b", "c"... whose clock moves by hand.
pub(super) struct Rig {
    pub(super) pool: Pool,
    pub(super) now: Instant,
    start: Instant,
    random: fastrand::Rng,
}

pub(super) fn id(name: &str) -> TokenId {
    IdKey::from_bytes(b"tests").id(&crate::Token::new(name))
}

/// `name`, `name*weight` or `group:name`, separated by blanks.
pub(super) fn specs(text: &str) -> Vec<(TokenId, TokenSpec)> {
    let spec = |word: &str| {
        let (name, weight) = word.split_once('*').unwrap_or((word, "1"));
        let (group, name) = name.split_once(':').map_or((None, name), |(group, name)| (Some(group), name));
        let group = group.map(str::to_owned);
        (id(name), TokenSpec { weight: weight.parse().unwrap(), group, ..TokenSpec::new(name) })
    };
    text.split_whitespace().map(spec).collect()
}

pub(super) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

impl Rig {
    pub(super) fn new(tokens: &str) -> Self {
        Self::with(tokens, PoolParams::default())
    }

    pub(super) fn with(tokens: &str, params: PoolParams) -> Self {
        let now = Instant::now();
        let mut pool = Pool::new(params, Arc::default(), now);
        pool.reload(specs(tokens), now);
        Self { pool, now, start: now, random: fastrand::Rng::with_seed(7) }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.now - self.start
    }

    pub(super) fn try_lend(&mut self) -> Option<Loan> {
        self.pool.lend_any(&[], self.random.u64(..), self.now)
    }

    pub(super) fn lend(&mut self) -> Loan {
        self.try_lend().expect("a token is ready")
    }

    /// Lends so many tokens, each another, and has all of them fail.
    pub(super) fn fail_together(&mut self, count: usize, report: &Report) {
        let loans: Vec<Loan> = (0..count).map(|_| self.lend()).collect();
        for loan in &loans {
            self.report(loan, report);
            self.leave(loan);
        }
    }

    /// Lends until it is this token's turn; the others' leases are dropped at once.
    pub(super) fn lend_this(&mut self, name: &str) -> Loan {
        for _ in 0..1000 {
            let loan = self.lend();
            if loan.entry.id() == id(name) {
                return loan;
            }
            self.drop(&loan);
        }
        panic!("{name} is never lent");
    }

    pub(super) fn report(&mut self, loan: &Loan, report: &Report) {
        loan.entry.note(report);
        self.pool.settle(loan, report, self.now);
    }

    /// Settles and ends a lease.
    pub(super) fn end(&mut self, loan: &Loan, outcome: Outcome) {
        self.report(loan, &Report::new(outcome));
        self.leave(loan);
    }

    /// Ends a lease that has been settled.
    pub(super) fn leave(&mut self, loan: &Loan) {
        loan.entry.leave();
        self.pool.left(loan, Told::Outcome, self.now);
    }

    /// Ends a lease that told nothing.
    pub(super) fn drop(&mut self, loan: &Loan) {
        loan.entry.leave();
        self.pool.left(loan, Told::Nothing, self.now);
    }

    /// Lends this token and has it fail.
    pub(super) fn fail(&mut self, name: &str, outcome: Outcome) {
        let loan = self.lend_this(name);
        self.end(&loan, outcome);
    }

    pub(super) fn status(&mut self, name: &str) -> TokenStatus {
        let all = self.pool.snapshot(self.now);
        all.into_iter().find(|status| status.id == id(name)).expect("the pool has this token")
    }

    pub(super) fn state(&mut self, name: &str) -> State {
        self.status(name).state
    }

    pub(super) fn retry_in(&mut self, name: &str) -> Duration {
        self.status(name).retry_in
    }

    /// The names of the next so many tokens, each lent and dropped.
    pub(super) fn lends(&mut self, count: usize) -> String {
        let names: Vec<String> = (0..count)
            .map(|_| {
                let loan = self.lend();
                self.drop(&loan);
                name(&loan)
            })
            .collect();
        names.join(" ")
    }
}

pub(super) fn name(loan: &Loan) -> String {
    loan.entry.value.expose().to_owned()
}

pub(super) fn told(outcome: Outcome, seconds: u64) -> Report {
    Report { told: Some(secs(seconds)), ..Report::new(outcome) }
}

pub(super) fn quota(outcome: Outcome, seconds: u64) -> Report {
    Report { quota: Some(secs(seconds)), ..Report::new(outcome) }
}

pub(super) fn generation(loan: &Loan) -> Generation {
    loan.generation()
}
