mod told;

use std::collections::HashMap;

use tokio::time::Instant;

use super::Wakers;
use super::desk::Desk;
use crate::pool::{Loan, Mask, Pool, Renewed, Told, Whole};
use crate::{PoolParams, Report, ScopeStatus, TokenId, TokenSpec, TokenStatus};

/// A pool's lanes: one for what is asked without a scope, and one for each scope that was asked for lately.
///
/// Every lane has all tokens, with rests, quotas, limits and waiters of its own. What is the token's whatever
/// is asked with it is told to all: that it is barred, that it was rejected, and how many leases of it are out.
#[derive(Debug)]
pub(super) struct Lanes {
    base: Desk,
    by_scope: HashMap<Box<str>, u32>,
    scoped: Vec<Lane>,
    /// Numbers are not given twice (but for the one after four billion), so that a lease of a lane that is
    /// forgotten means none.
    latest: u32,
    /// Lanes of a shared pool of which others may know what is not known here.
    unread: Vec<u32>,
}

#[derive(Debug)]
struct Lane {
    number: u32,
    scope: Box<str>,
    used: Instant,
    desk: Desk,
}

/// At most so many scopes...
const SCOPES: usize = 256;
/// ... and so many pairs of a token and a scope, at some 100 bytes each.
const PAIRS: usize = 1 << 20;
/// But always a few.
const LEAST: usize = 4;
/// What a client may have written is not kept longer than this.
const NAME: usize = 128;

impl Lanes {
    pub(super) fn new(base: Desk) -> Self {
        Self { base, by_scope: HashMap::new(), scoped: Vec::new(), latest: 0, unread: Vec::new() }
    }

    pub(super) fn base(&self) -> &Desk {
        &self.base
    }

    pub(super) fn base_mut(&mut self) -> &mut Desk {
        &mut self.base
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Desk> {
        if number == 0 {
            return Some(&mut self.base);
        }
        self.scoped.iter_mut().find(|lane| lane.number == number).map(|lane| &mut lane.desk)
    }

    /// The number of a scope's lane, which is made if there is none. Where there are too many the one goes
    /// that was asked for least lately, one that knows nothing first; if all have waiters, the scope is none.
    pub(super) fn find(&mut self, scope: Option<&str>, now: Instant) -> u32 {
        let Some(scope) = scope.filter(|scope| !scope.is_empty() && scope.len() <= NAME) else { return 0 };
        if let Some(&number) = self.by_scope.get(scope) {
            if let Some(lane) = self.scoped.iter_mut().find(|lane| lane.number == number) {
                lane.used = now;
            }
            return number;
        }
        let room = (PAIRS / self.base.pool.len().max(1)).clamp(LEAST, SCOPES);
        while self.scoped.len() >= room {
            let idle = self.scoped.iter_mut().enumerate().filter(|(_, lane)| lane.desk.is_idle());
            let ranked = idle.map(|(at, lane)| (!lane.desk.pool.is_blank(now), lane.used, at));
            let Some((_, _, oldest)) = ranked.min() else { return 0 };
            let gone = self.scoped.swap_remove(oldest);
            self.by_scope.remove(&gone.scope);
        }
        self.latest = self.latest.checked_add(1).unwrap_or(1);
        let number = self.latest;
        let mut desk = Desk::over(self.base.pool.branch(number, now));
        if self.base.pool.is_shared() {
            desk.pool.share(Mask::of_scope(scope));
            self.unread.push(number);
        }
        self.by_scope.insert(scope.into(), number);
        self.scoped.push(Lane { number, scope: scope.into(), used: now, desk });
        number
    }

    pub(super) fn get_or_base(&mut self, number: u32) -> &mut Desk {
        let lane = self.scoped.iter_mut().find(|lane| lane.number == number);
        lane.map_or(&mut self.base, |lane| &mut lane.desk)
    }

    fn desks(&mut self) -> impl Iterator<Item = &mut Desk> {
        std::iter::once(&mut self.base).chain(self.scoped.iter_mut().map(|lane| &mut lane.desk))
    }

    /// All but the lane of this number.
    fn others(&mut self, number: u32) -> impl Iterator<Item = &mut Desk> {
        let base = (number != 0).then_some(&mut self.base);
        let scoped = self.scoped.iter_mut().filter(move |lane| lane.number != number);
        base.into_iter().chain(scoped.map(|lane| &mut lane.desk))
    }

    pub(super) fn waiting(&self) -> usize {
        self.base.waiting() + self.scoped.iter().map(|lane| lane.desk.waiting()).sum::<usize>()
    }

    pub(super) fn waiting_beside(&mut self, number: u32) -> usize {
        self.others(number).map(|desk| desk.waiting()).sum()
    }

    pub(super) fn serve_all(&mut self, now: Instant, wakers: &mut Wakers) {
        self.base.serve(now, wakers);
        // One after the other: what one lends, the next must know.
        for lane in 0..self.scoped.len() {
            self.tell_lends(now);
            self.scoped[lane].desk.serve(now, wakers);
        }
        self.tell_lends(now);
    }

    /// Tells every lane what the others have lent.
    pub(super) fn tell_lends(&mut self, now: Instant) {
        if self.scoped.is_empty() {
            return;
        }
        let lent: Vec<TokenId> = self.desks().flat_map(|desk| desk.pool.take_lent()).collect();
        for id in lent {
            self.desks().for_each(|desk| desk.pool.touch(id, now));
        }
    }

    /// Does the same in every lane; what it returns in the first is returned.
    pub(super) fn each<R>(&mut self, mut change: impl FnMut(&mut Pool) -> R) -> R {
        let result = change(&mut self.base.pool);
        for lane in &mut self.scoped {
            // All lanes have the same tokens, so that the first one's answer is everybody's.
            let _ = change(&mut lane.desk.pool);
        }
        result
    }

    pub(super) fn reload(&mut self, specs: Vec<(TokenId, TokenSpec)>, renewed: Renewed, now: Instant) {
        let renewals = self.base.pool.reload_renewed(specs, renewed, now);
        for lane in &mut self.scoped {
            lane.desk.pool.seat(self.base.pool.seats(), &renewals, now);
            lane.desk.pool.follow(&self.base.pool);
        }
    }

    pub(super) fn set_params(&mut self, params: PoolParams, now: Instant) {
        self.desks().for_each(|desk| desk.pool.set_params(params, now));
    }

    /// What came of a lease, and in every lane what of it holds for the token as a whole.
    pub(super) fn settle(&mut self, loan: &Loan, scope: Option<&str>, report: &Report, now: Instant) {
        let told = scope.map_or(loan.lane, |scope| self.find(Some(scope), now));
        let mut whole = Whole::Nothing;
        if told != loan.lane {
            if let Some(desk) = self.get_mut(told) {
                whole = desk.pool.settle_from(loan, report, now);
            }
            // It was no attempt in the lane that lent it.
            let nothing = Report::new(crate::Outcome::Unaffected);
            if let Some(desk) = self.get_mut(loan.lane) {
                desk.pool.settle(loan, &nothing, now);
            }
        } else if let Some(desk) = self.get_mut(told) {
            whole = desk.pool.settle(loan, report, now);
        }
        let id = loan.entry.id();
        match whole {
            Whole::Nothing => {}
            Whole::Rejected => {
                let rejection = self.get_mut(told).and_then(|desk| desk.pool.rejection(id));
                self.others(told).for_each(|desk| desk.pool.take_over(id, rejection, now));
            }
            Whole::Works => self.others(told).for_each(|desk| desk.pool.take_over(id, None, now)),
        }
    }

    pub(super) fn left(&mut self, loan: &Loan, told: Told, now: Instant) {
        if let Some(desk) = self.get_mut(loan.lane) {
            desk.pool.left(loan, told, now);
        }
        self.touch_others(loan, now);
    }

    /// How many leases of the loan's token are out has changed.
    pub(super) fn touch_others(&mut self, loan: &Loan, now: Instant) {
        self.others(loan.lane).for_each(|desk| desk.pool.touch(loan.entry.id(), now));
    }

    /// Each token's state, in the settings' order: that without a scope, and the scopes where it is another.
    pub(super) fn snapshot(&mut self, now: Instant) -> Vec<TokenStatus> {
        let mut tokens = self.base.pool.snapshot(now);
        for lane in &mut self.scoped {
            for (token, counts) in tokens.iter_mut().zip(lane.desk.pool.counts()) {
                token.requests += counts.requests;
                token.rate_limited += counts.rate_limited;
                token.rejected += counts.rejected;
                token.last_used = token.last_used.max(counts.last_used);
                for (sum, count) in token.cooldowns[..3].iter_mut().zip(counts.cooldowns) {
                    *sum += count;
                }
            }
            for (index, TokenStatus { state, until, retry_in, reason, .. }) in lane.desk.pool.not_ready(now) {
                let scope = lane.scope.to_string();
                tokens[index].scopes.push(ScopeStatus { scope, state, until, retry_in, reason });
            }
        }
        tokens
    }
}
