//! The pool's state machine: which token is lent, how long a refused one rests, and when one is expected.
//!
//! It is synchronous and total. Time and chance come in as arguments; it reads no clock, holds no lock, draws
//! no number and knows nothing of those who wait.
//!
//! Three structures follow the records, and [`Pool::refresh`] is the one place that keeps them true: the
//! selector holds exactly the tokens that can be lent now, the wakes hold exactly those that time alone will
//! make lendable, and the tally counts the rest.

mod bits;
mod forecast;
mod ledger;
mod loan;
mod moment;
mod operate;
mod places;
mod record;
mod reload;
mod select;
mod touched;
mod wakes;
mod window;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

pub(crate) use forecast::Forecast;
use ledger::Ledger;
pub(crate) use loan::{Loan, Told};
use moment::{Moment, Origin};
use places::{IdHash, Places};
pub(crate) use record::{Entry, Generation};
use record::{Kind, Record, Standing};
use select::Selector;
use touched::Touched;
use wakes::Wakes;
use window::{Frame, Window};

use crate::{Outcome, PoolParams, Report, TokenId, WhenExhausted};

#[derive(Debug)]
pub(crate) struct Pool {
    params: PoolParams,
    frame: Option<Frame>,
    origin: Origin,
    latest: Moment,
    /// In the settings' order; the other structures know a token by its index here.
    records: Vec<Record>,
    places: Places,
    /// Tokens that a reload took away while leases of them were out: kept until the last one ends.
    retired: HashMap<TokenId, Record, IdHash>,
    /// Which reload the indices of a loan are from.
    epoch: u64,
    generations: u64,
    /// Ids that tokens had under an earlier key.
    aliases: HashMap<TokenId, TokenId, IdHash>,
    /// What is told to others, where there are any.
    ledger: Option<Ledger>,
    selector: Selector,
    wakes: Wakes,
    tally: Tally,
}

/// How many tokens stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    lendable: usize,
    held: usize,
}

impl Pool {
    /// A pool without tokens, whose time begins now.
    pub(crate) fn new(params: PoolParams, now: Instant) -> Self {
        Self {
            params,
            frame: params.limit.and_then(Frame::new),
            origin: Origin::new(now),
            latest: Moment::BEFORE,
            records: Vec::new(),
            places: Places::default(),
            retired: HashMap::default(),
            epoch: 0,
            generations: 0,
            aliases: HashMap::default(),
            ledger: None,
            selector: Selector::new(params.strategy, &[], 0),
            wakes: Wakes::new(0),
            tally: Tally::default(),
        }
    }

    pub(crate) fn params(&self) -> &PoolParams {
        &self.params
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Lends a ready token that is not among `tried`.
    pub(crate) fn lend_untried(&mut self, tried: &[TokenId], entropy: u64, now: Instant) -> Option<Loan> {
        let now = self.advance(now);
        if self.tally.lendable == 0 {
            return None;
        }
        for id in tried {
            self.hide(*id);
        }
        let chosen = self.selector.next(&self.records, entropy);
        for id in tried {
            self.show(*id);
        }
        chosen.map(|index| self.lend(index, now))
    }

    /// Lends a ready token, one that is not among `tried` if there is one. With [`WhenExhausted::Soonest`]
    /// and none ready, lends the one that is free soonest.
    pub(crate) fn lend_any(&mut self, tried: &[TokenId], entropy: u64, now: Instant) -> Option<Loan> {
        let untried = self.lend_untried(tried, entropy, now);
        if untried.is_some() {
            return untried;
        }
        let now = self.latest;
        if self.tally.lendable > 0 {
            return self.selector.next(&self.records, entropy).map(|index| self.lend(index, now));
        }
        if self.params.when_exhausted != WhenExhausted::Soonest {
            return None;
        }
        let index = self.soonest_resting(tried, now)?;
        self.selector.used(index);
        Some(self.lend(index, now))
    }

    /// What came of a lease. Called once for each at most, with the head or without one.
    pub(crate) fn settle(&mut self, loan: &Loan, report: &Report, now: Instant) {
        let now = self.advance(now);
        let next = self.next_generation();
        let cool_down = self.params.cool_down;
        self.change(loan, |record| {
            record.settle(loan.generation, report, &cool_down, next, now);
            if loan.is_probe && report.outcome == Outcome::Unaffected {
                record.give_back_probe(loan.generation);
            }
        });
    }

    /// A lease of this token and generation turned out to be the token's fault. Unknown tokens and old
    /// generations change nothing.
    pub(crate) fn charge(&mut self, id: TokenId, generation: Generation, status: u16, now: Instant) {
        let now = self.advance(now);
        let next = self.next_generation();
        let cool_down = self.params.cool_down;
        let report = Report { status: Some(status), ..Report::new(Outcome::Limited) };
        if let Some(index) = self.place(id) {
            self.records[index].settle(generation, &report, &cool_down, next, now);
            self.refresh(index);
        }
    }

    /// A lease has ended. `told` is whether [`settle`](Self::settle) was called for it; if not, it was
    /// nobody's fault.
    pub(crate) fn release(&mut self, loan: &Loan, told: Told, now: Instant) {
        self.advance(now);
        self.change(loan, |record| {
            record.release();
            if loan.is_probe && told == Told::Nothing {
                record.give_back_probe(loan.generation);
            }
        });
    }

    /// A lease that nobody took: as if it had never been lent.
    pub(crate) fn take_back(&mut self, loan: &Loan, now: Instant) {
        self.advance(now);
        let frame = self.frame;
        self.change(loan, |record| {
            record.unlend();
            if let (Some(frame), Some(window)) = (frame, &mut record.window) {
                window.take_back(frame, loan.lent);
            }
            if loan.is_probe {
                record.give_back_probe(loan.generation);
            }
        });
    }

    /// Whether a token that is not among `tried` can be lent now.
    pub(crate) fn has_ready(&mut self, tried: &[TokenId], now: Instant) -> bool {
        self.advance(now);
        let distinct = tried.iter().enumerate().filter(|(at, id)| !tried[..*at].contains(id));
        let listed = distinct.filter_map(|(_, &id)| self.place(id));
        self.tally.lendable > listed.filter(|&index| self.records[index].known == Kind::Lendable).count()
    }

    /// The latest moment that the pool has seen: good enough a `now` for what does not depend on time.
    pub(crate) fn latest(&self) -> Instant {
        self.origin.instant(self.latest)
    }

    /// Brings the pool to `now`: tokens whose time has come can be lent. A clock that goes back stands still.
    fn advance(&mut self, now: Instant) -> Moment {
        self.latest = self.latest.max(self.origin.moment(now));
        while let Some((at, index)) = self.wakes.first() {
            if at > self.latest {
                break;
            }
            self.refresh(index);
        }
        self.latest
    }

    fn lend(&mut self, index: usize, now: Moment) -> Loan {
        let record = &mut self.records[index];
        let is_probe = record.lend(now);
        let loan = Loan {
            entry: Arc::clone(&record.entry),
            generation: record.generation,
            index,
            epoch: self.epoch,
            lent: now,
            is_probe,
        };
        if let (Some(frame), Some(window)) = (self.frame, &mut record.window) {
            window.lend(frame, now);
        }
        self.refresh(index);
        loan
    }

    /// Changes the record that a loan is of, wherever a reload has put it, and what follows from it.
    fn change(&mut self, loan: &Loan, change: impl FnOnce(&mut Record)) {
        let index = if loan.epoch == self.epoch { Some(loan.index) } else { self.place(loan.entry.id) };
        if let Some(index) = index {
            change(&mut self.records[index]);
            self.refresh(index);
            return;
        }
        let id = self.renamed(loan.entry.id);
        if let Some(record) = self.retired.get_mut(&id) {
            change(record);
            if record.in_flight == 0 {
                self.retired.remove(&id);
            }
        }
    }

    /// Enters how a token stands into the structures that follow the records.
    fn refresh(&mut self, index: usize) {
        let now = self.latest;
        let limit_allows = self.limit_allows(index);
        let standing = self.records[index].standing(self.params.max_concurrency, limit_allows, now);
        let known = std::mem::replace(&mut self.records[index].known, standing.kind());
        if known != standing.kind() {
            match known {
                Kind::Lendable => {
                    self.tally.lendable -= 1;
                    self.selector.remove(index);
                }
                Kind::Held => self.tally.held -= 1,
                Kind::Timed | Kind::Barred => {}
            }
            match standing.kind() {
                Kind::Lendable => {
                    self.tally.lendable += 1;
                    self.selector.insert(index);
                }
                Kind::Held => self.tally.held += 1,
                Kind::Timed | Kind::Barred => {}
            }
        }
        match standing {
            Standing::From(at) => self.wakes.set(index, Some(at)),
            _ if known == Kind::Timed => self.wakes.set(index, None),
            _ => {}
        }
        if self.records[index].touched.any() {
            self.note(index);
        }
    }

    fn note(&mut self, index: usize) {
        let record = &mut self.records[index];
        let touched = std::mem::take(&mut record.touched);
        if let Some(ledger) = &mut self.ledger {
            ledger.note(record.entry.id, touched, self.latest);
        }
    }

    fn limit_allows(&mut self, index: usize) -> Moment {
        match (self.frame, &mut self.records[index].window) {
            (Some(frame), Some(window)) => window.free_at(frame, self.latest),
            _ => Moment::BEFORE,
        }
    }

    fn hide(&mut self, id: TokenId) {
        if let Some(index) = self.place(id) {
            self.selector.remove(index);
        }
    }

    fn show(&mut self, id: TokenId) {
        if let Some(index) = self.place(id).filter(|&index| self.records[index].known == Kind::Lendable) {
            self.selector.insert(index);
        }
    }

    fn place(&self, id: TokenId) -> Option<usize> {
        let index = self.places.get(&id).or_else(|| self.places.get(self.aliases.get(&id)?));
        index.map(|&index| index as usize)
    }

    fn renamed(&self, id: TokenId) -> TokenId {
        self.aliases.get(&id).copied().unwrap_or(id)
    }

    fn next_generation(&mut self) -> Generation {
        self.generations += 1;
        Generation(self.generations)
    }

    fn new_window(&self) -> Option<Box<Window>> {
        self.frame.map(|frame| Box::new(Window::new(frame)))
    }
}

/// An index as the structures store it. A pool has fewer than 2^32 tokens; `reload` sees to it.
fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
