//! The pool's state machine: which token is lent, how long a refused one rests, and when one is expected.
//!
//! It is synchronous and total. Time and chance come in as arguments; it reads no clock, holds no lock, draws
//! no number and knows nothing of those who wait.
//!
//! Three structures follow the records, and [`Pool::refresh`] is the one place that keeps them true: the
//! selector holds exactly the tokens that can be lent now, the wakes hold exactly those that time alone will
//! make lendable, or may, and the tally counts the rest.

mod bits;
mod blame;
mod bucket;
mod forecast;
mod gate;
mod groups;
mod known;
mod learned;
mod lease_length;
mod ledger;
mod limits;
mod loan;
mod moment;
mod operate;
mod paced;
mod pinned;
mod places;
mod quota;
mod record;
mod reload;
mod scopes;
mod select;
mod touched;
mod wakes;
mod window;

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
mod model_tests;
#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use blame::Blame;
pub(crate) use forecast::Forecast;
use gate::{Pass, Way};
use groups::Groups;
use lease_length::LeaseLength;
use ledger::Ledger;
pub(crate) use ledger::Mask;
use limits::Limits;
pub(crate) use loan::{Loan, Told};
use moment::{Moment, Origin};
use paced::Surprise;
use places::{IdHash, Places};
pub(crate) use record::Generation;
pub(crate) use record::Rejection;
use record::{Bounds, Effect, Kind, Record, Standing};
pub(crate) use reload::Renewed;
use select::Selector;
use touched::Touched;
use wakes::Wakes;

use crate::entry::{Entry, Hears, Home};
use crate::{Limit, Outcome, PoolParams, Reason, Report, TokenId, WhenExhausted};

#[derive(Debug)]
pub(crate) struct Pool {
    params: PoolParams,
    /// The settings', if it limits anything.
    limit: Option<Limit>,
    origin: Origin,
    latest: Moment,
    /// In the settings' order; the other structures know a token by its index here.
    records: Vec<Record>,
    places: Places,
    /// Tokens that a reload took away while leases of them were out: kept until the last one ends.
    retired: HashMap<TokenId, Record, IdHash>,
    /// Which reload the indices of a loan are from.
    epoch: u32,
    generations: u64,
    /// Ids that tokens had under an earlier key.
    aliases: HashMap<TokenId, TokenId, IdHash>,
    /// What is told to others, where there are any.
    ledger: Option<Ledger>,
    selector: Selector,
    wakes: Wakes,
    tally: Tally,
    /// How many tokens have a pace.
    paced: usize,
    lease_length: LeaseLength,
    /// A rest of the whole pool, where a limit holds for the caller's address.
    blame: Blame,
    groups: Groups,
    home: Arc<Home>,
    /// Whether the home is on alert.
    alert: bool,
    /// Which of the manager's lanes this is.
    lane: u32,
    /// What was lent, for the other lanes to hear of: filled only where there are others to whom it matters.
    lent: Vec<TokenId>,
    has_others: bool,
}

/// How many tokens stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    lendable: usize,
    timed: usize,
    held: usize,
}

impl Pool {
    /// A pool without tokens, whose time begins now.
    pub(crate) fn new(params: PoolParams, home: Arc<Home>, now: Instant) -> Self {
        Self {
            params,
            limit: params.limit.filter(Limit::limits),
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
            paced: 0,
            lease_length: LeaseLength::default(),
            blame: Blame::new(Generation(0)),
            groups: Groups::default(),
            home,
            alert: false,
            lane: 0,
            lent: Vec::new(),
            has_others: false,
        }
    }

    pub(crate) fn params(&self) -> &PoolParams {
        &self.params
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Has a cache fetch the tokens that these numbers would choose now.
    pub(crate) fn look_at(&self, draws: &[u64]) {
        self.selector.look_at(&self.records, draws);
    }

    /// Lends a ready token that is not among `tried`.
    pub(crate) fn lend_untried(&mut self, tried: &[TokenId], entropy: u64, now: Instant) -> Option<Loan> {
        let now = self.advance(now);
        if self.tally.lendable == 0 || !self.lets_pass(now) {
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
        let never_waits = self.params.when_exhausted == WhenExhausted::Soonest;
        if self.tally.lendable > 0 && (never_waits || self.lets_pass(now)) {
            return self.selector.next(&self.records, entropy).map(|index| self.lend(index, now));
        }
        if !never_waits {
            return None;
        }
        let index = self.soonest_resting(tried, now)?;
        self.selector.used(index);
        Some(self.lend(index, now))
    }

    /// What came of a lease. Called once for each at most, with the head or without one. What people are
    /// shown of it ([`Entry::note`](crate::entry::Entry::note)) is the caller's to count.
    ///
    /// Returns what of it holds for the token in every lane.
    pub(crate) fn settle(&mut self, loan: &Loan, report: &Report, now: Instant) -> Whole {
        let now = self.advance(now);
        let next = self.next_generation();
        let cool_down = self.params.cool_down;
        let has_others = self.has_others;
        // In several lanes it is not known whose leases are out.
        let out = |entry: &Entry| if has_others { 0 } else { entry.in_flight() };
        let effect = self.change(loan, |record| {
            let effect = record.settle(loan.generation(), loan.lent, report, &cool_down, next, now);
            if loan.is_probe() && report.outcome == Outcome::Unaffected {
                record.give_back_probe(loan.generation());
            }
            if report.remaining.is_some() {
                record.count_quota(out, now);
            }
            record.answered(loan.when(), report.remaining, now);
            effect
        });
        let effect = effect.unwrap_or(Effect::Nothing);
        let surprise = self.learn(loan, report, effect, now);
        self.settle_gates(loan, report, effect, surprise, now);
        match effect {
            Effect::Failed(Reason::Rejected) => Whole::Rejected,
            Effect::Succeeded if loan.is_probe() => Whole::Works,
            _ => Whole::Nothing,
        }
    }

    /// A lease of this token and generation turned out to be the token's fault. Unknown tokens and old
    /// generations change nothing.
    pub(crate) fn charge(&mut self, id: TokenId, generation: Generation, status: u16, now: Instant) {
        let now = self.advance(now);
        let next = self.next_generation();
        let cool_down = self.params.cool_down;
        let report = Report { status: Some(status), ..Report::new(Outcome::Limited) };
        if let Some(index) = self.place(id) {
            self.records[index].entry.note(&report);
            self.records[index].settle(generation, now, &report, &cool_down, next, now);
            self.refresh(index);
        }
    }

    /// A lease has ended. `told` is whether [`settle`](Self::settle) was called for it; if not, it was
    /// nobody's fault. It counts as out until [`Entry::leave`](crate::entry::Entry::leave) is called, which
    /// comes first.
    pub(crate) fn left(&mut self, loan: &Loan, told: Told, now: Instant) {
        let now = self.advance(now);
        if self.params.max_concurrency != 0 {
            self.lease_length.note(loan.lent.until(now));
        }
        self.change(loan, |record| {
            if told == Told::Nothing {
                record.answered(loan.when(), None, now);
                if loan.is_probe() {
                    record.give_back_probe(loan.generation());
                }
            }
            record.ended(loan.when());
        });
        if told == Told::Nothing {
            self.give_back_passes(loan);
        }
    }

    /// A lease that nobody took: as if it had never been lent.
    pub(crate) fn take_back(&mut self, loan: &Loan, now: Instant) {
        self.advance(now);
        loan.entry.leave();
        self.change(loan, |record| {
            record.unlend();
            if let Some(limits) = &mut record.limits {
                limits.take_back(loan.when());
            }
            if loan.is_probe() {
                record.give_back_probe(loan.generation());
            }
        });
        self.give_back_passes(loan);
    }

    /// Whether a token that is not among `tried` can be lent now.
    pub(crate) fn has_ready(&mut self, tried: &[TokenId], now: Instant) -> bool {
        let now = self.advance(now);
        let distinct = tried.iter().enumerate().filter(|(at, id)| !tried[..*at].contains(id));
        let listed = distinct.filter_map(|(_, &id)| self.place(id));
        self.lets_pass(now)
            && self.tally.lendable
                > listed.filter(|&index| self.records[index].known == Kind::Lendable).count()
    }

    /// Whether what is told of an ended or settled lease may matter to anybody.
    pub(crate) fn hears(loan: &Loan, hears: Hears, told: Told) -> bool {
        hears == Hears::Pool
            || (told == Told::Nothing && (loan.is_probe() || loan.passes.iter().any(|pass| pass.is_probe())))
    }

    /// Whether the end of each lease is of interest, and when it is.
    pub(crate) fn counts_leases(&self) -> bool {
        self.params.max_concurrency != 0
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
        if self.alert {
            self.blame.forget(self.latest);
            self.set_alert();
        }
        self.latest
    }

    fn lend(&mut self, index: usize, now: Moment) -> Loan {
        self.end_paces_rest(index);
        let record = &mut self.records[index];
        let own = record.lend(now);
        let mut passes = [self.blame.gate.pass(now), Pass::NONE];
        let group = record.group;
        if let Some(group) = group {
            passes[1] = self.groups.gate(group).pass(now);
        }
        let mut loan = Loan {
            entry: Arc::clone(&record.entry),
            own,
            lane: self.lane,
            index: small(index),
            epoch: self.epoch,
            nth: record.nth(),
            ended: None,
            lent: now,
            passes,
        };
        let taught = record.limits.as_mut().map(|limits| limits.lend(now));
        if let Some((ended, lesson)) = taught {
            loan.ended = ended;
            if let Some(lesson) = lesson {
                self.pass_on(index, &lesson, now.as_duration());
            }
        }
        if self.records[index].is_touched_by_lends() || self.params.max_concurrency != 0 {
            self.refresh(index);
        }
        if self.has_others && self.params.max_concurrency != 0 {
            self.lent.push(loan.entry.id());
        }
        if passes[1].is_probe() {
            self.refresh_group(group);
        }
        loan
    }

    /// Changes the record that a loan is of, wherever a reload has put it, and what follows from it.
    fn change<R>(&mut self, loan: &Loan, change: impl FnOnce(&mut Record) -> R) -> Option<R> {
        let id = loan.entry.id();
        let index = if loan.epoch == self.epoch { Some(loan.index as usize) } else { self.place(id) };
        if let Some(index) = index {
            let result = change(&mut self.records[index]);
            self.refresh(index);
            return Some(result);
        }
        let record = self.retired.get_mut(&id)?;
        change(record);
        if record.entry.in_flight() == 0 {
            self.retired.remove(&id);
        }
        None
    }

    /// Enters how a token stands into the structures that follow the records.
    fn refresh(&mut self, index: usize) {
        let now = self.latest;
        let counted = self.params.max_concurrency != 0;
        // Before its leases are counted: see `Entry`.
        self.records[index].attend(counted);
        let bounds = self.bounds(index);
        let standing = self.records[index].standing(&bounds, now);
        let known = std::mem::replace(&mut self.records[index].known, standing.kind());
        if known != standing.kind() {
            match known {
                Kind::Lendable => {
                    self.tally.lendable -= 1;
                    self.selector.remove(index);
                }
                Kind::Timed => self.tally.timed -= 1,
                Kind::Held => self.tally.held -= 1,
                Kind::Barred => {}
            }
            match standing.kind() {
                Kind::Lendable => {
                    self.tally.lendable += 1;
                    self.selector.insert(index);
                }
                Kind::Timed => self.tally.timed += 1,
                Kind::Held => self.tally.held += 1,
                Kind::Barred => {}
            }
        }
        match standing {
            Standing::From(at) => self.wakes.set(index, Some(at)),
            Standing::Held(at) => self.wakes.set(index, at),
            _ if matches!(known, Kind::Timed | Kind::Held) => self.wakes.set(index, None),
            _ => {}
        }
        if let Some(ledger) = &self.ledger {
            let record = &mut self.records[index];
            let id = record.entry.id();
            record.note_learned(|| ledger.is_untold(id), now);
        }
        if self.records[index].touched.any() {
            self.note(index);
        }
    }

    fn note(&mut self, index: usize) {
        let record = &mut self.records[index];
        let touched = std::mem::take(&mut record.touched);
        if let Some(ledger) = &mut self.ledger {
            ledger.note(record.entry.id(), touched, self.latest);
        }
    }

    fn bounds(&mut self, index: usize) -> Bounds {
        let record = &mut self.records[index];
        let limits = record.limits.as_deref_mut();
        let limit_allows = limits.map_or(Moment::BEFORE, |limits| limits.free_at(self.latest));
        let group = match record.group {
            Some(group) => self.groups.gate(group).way(self.latest),
            None => Way::Open,
        };
        Bounds { max_concurrency: self.params.max_concurrency, limit_allows, group }
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
        let id_at = |index: usize| self.records[index].entry.id();
        self.places.get(id, id_at).or_else(|| self.places.get(*self.aliases.get(&id)?, id_at))
    }

    fn next_generation(&mut self) -> Generation {
        self.generations += 1;
        Generation(self.generations)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.alert {
            self.home.end_alert();
        }
    }
}

/// What a report says of a token in every lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    Nothing,
    Rejected,
    Works,
}

/// An index as the structures store it. A pool has fewer than 2^32 tokens; `reload` sees to it.
fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
