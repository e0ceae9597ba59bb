//! A pool as one lane of several: the same tokens, with cool-downs, quotas and limits of a scope's own.

use tokio::time::Instant;

use super::{Kind, Loan, Moment, Pool, Rejection};
use crate::{Report, State, TokenId};

impl Pool {
    /// A lane of its own for a scope: the same tokens, all ready but those that are barred or rejected as a
    /// whole.
    pub(crate) fn branch(&mut self, lane: u32, now: Instant) -> Self {
        self.has_others = true;
        let mut branch = Self::new(self.params, self.home.clone(), self.origin.start());
        branch.lane = lane;
        branch.has_others = true;
        branch.aliases = self.aliases.clone();
        branch.seat(self.seats(), &super::reload::Renewals::new(), now);
        branch.follow(self);
        branch
    }

    /// Takes over what holds for the tokens in every lane.
    pub(crate) fn follow(&mut self, base: &Self) {
        for index in 0..self.records.len().min(base.records.len()) {
            let next = self.next_generation();
            let whole = &base.records[index];
            self.records[index].set_disabled(whole.is_barred());
            if let Some(rejection) = whole.rejection() {
                self.take_over_at(index, Some(rejection), next);
            }
            self.refresh(index);
        }
    }

    /// Takes over from `base` what was told of these tokens elsewhere.
    pub(crate) fn follow_some(&mut self, base: &Self, ids: impl Iterator<Item = TokenId>, now: Instant) {
        self.advance(now);
        for id in ids {
            let (Some(index), Some(whole)) = (self.place(id), base.place(id)) else { continue };
            let whole = &base.records[whole];
            let next = self.next_generation();
            self.records[index].set_disabled(whole.is_barred());
            self.take_over_at(index, whole.rejection(), next);
            self.refresh(index);
        }
    }

    /// The rejection of a token, if it rests for one.
    pub(crate) fn rejection(&self, id: TokenId) -> Option<Rejection> {
        self.place(id).and_then(|index| self.records[index].rejection())
    }

    /// A rejection of the token in another lane, or the end of it.
    pub(crate) fn take_over(&mut self, id: TokenId, rejection: Option<Rejection>, now: Instant) {
        self.advance(now);
        let Some(index) = self.place(id) else { return };
        let next = self.next_generation();
        self.take_over_at(index, rejection, next);
        self.refresh(index);
    }

    /// Of a scope's lane it is not told, since it is told for all lanes at once; unless a rest of the lane's own lasts
    /// longer.
    fn take_over_at(&mut self, index: usize, rejection: Option<Rejection>, next: super::Generation) {
        let record = &mut self.records[index];
        record.take_over(rejection, next, self.latest);
        if self.lane != 0 && rejection.is_some_and(|rejection| record.ends_with(rejection)) {
            record.touched.remove(super::Touched::RESTED);
        }
    }

    /// What was lent since this was last asked, as far as it matters to other lanes.
    pub(crate) fn take_lent(&mut self) -> Vec<TokenId> {
        std::mem::take(&mut self.lent)
    }

    /// Another lane has lent the token, or a lease of it has ended there.
    pub(crate) fn touch(&mut self, id: TokenId, now: Instant) {
        self.advance(now);
        if let Some(index) = self.place(id) {
            self.refresh(index);
        }
    }

    /// What a lease tells that another lane lent: the response named this scope. It counts unless the token
    /// rests here by now.
    pub(crate) fn settle_from(&mut self, loan: &Loan, report: &Report, now: Instant) -> super::Whole {
        let moment = self.advance(now);
        let Some(index) = self.place(loan.entry.id()) else { return super::Whole::Nothing };
        let record = &self.records[index];
        let generation = if record.rests(moment) { super::Generation(0) } else { record.generation };
        let loan = Loan {
            entry: loan.entry.clone(),
            own: super::Pass::ordinary(generation),
            lane: self.lane,
            index: super::small(index),
            epoch: self.epoch,
            nth: 0,
            ended: None,
            lent: loan.lent,
            passes: [super::Pass::NONE; 2],
        };
        self.settle(&loan, report, now)
    }

    /// Whether nothing is known of the tokens that a new lane would not know.
    pub(crate) fn is_blank(&mut self, now: Instant) -> bool {
        let now = self.advance(now);
        !self.blame.watches()
            && self.limit.is_none()
            && !self.is_paced()
            && self.records.iter().all(|record| {
                matches!(record.known, Kind::Lendable | Kind::Barred) && record.state(now) != State::Probing
            })
    }

    /// What people may know of the tokens that do not stand ready in this lane.
    pub(crate) fn not_ready(&mut self, now: Instant) -> Vec<(usize, crate::TokenStatus)> {
        let now: Moment = self.advance(now);
        let kinds = 0..self.records.len();
        kinds
            .map(|index| (index, self.status(index, now)))
            .filter(|(_, status)| !matches!(status.state, State::Ready | State::Disabled))
            .collect()
    }

    /// Of each token: requests, rate-limited, rejected, cool-downs by reason, and its last use.
    pub(crate) fn counts(&self) -> impl Iterator<Item = Counts> {
        self.records.iter().map(|record| Counts {
            requests: record.requests,
            rate_limited: record.rate_limited.into(),
            rejected: record.rejected.into(),
            cooldowns: record.cooldowns.map(u64::from),
            last_used: record.last_used().map(|at| self.origin.instant(at)),
        })
    }
}

/// What a lane counts of a token.
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) rate_limited: u64,
    pub(crate) rejected: u64,
    pub(crate) cooldowns: [u64; 4],
    pub(crate) last_used: Option<Instant>,
}
