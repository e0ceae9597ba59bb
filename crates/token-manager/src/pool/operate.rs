//! What operators do and see.

use std::time::Duration;

use tidegate_backoff_core::Pace;
use tokio::time::Instant;

use super::{Moment, Pool, Touched, Way};
use crate::{Reason, State, StateCounts, TokenId, TokenStatus, UnknownToken};

impl Pool {
    /// Forgets a token's failures and ends its rest; a disabled one stays disabled.
    pub(crate) fn reset(&mut self, id: TokenId, now: Instant) -> Result<(), UnknownToken> {
        self.advance(now);
        let index = self.place(id).ok_or(UnknownToken { id })?;
        self.reset_at(index);
        Ok(())
    }

    /// [`reset`](Self::reset) for all tokens.
    pub(crate) fn reset_all(&mut self, now: Instant) {
        self.advance(now);
        let next = self.next_generation();
        self.blame.reset(next);
        self.groups.open(next);
        self.set_alert();
        (0..self.records.len()).for_each(|index| self.reset_at(index));
    }

    /// With a token's rest ends the one that it takes together with its group, or with all.
    fn reset_at(&mut self, index: usize) {
        let next = self.next_generation();
        self.records[index].reset(next);
        self.forget_pace(index);
        self.records[index].touched.add(Touched::LEARNED);
        self.refresh(index);
        if let Some(group) = self.records[index].group {
            self.groups.gate(group).open(next);
            self.refresh_group(Some(group));
        }
        if self.blame.gate.is_shut() {
            self.blame.reset(next);
            self.set_alert();
        }
    }

    /// Bars a token until it is enabled. Its rest goes on beneath.
    pub(crate) fn disable(&mut self, id: TokenId, now: Instant) -> Result<(), UnknownToken> {
        self.advance(now);
        let index = self.place(id).ok_or(UnknownToken { id })?;
        let next = self.next_generation();
        self.records[index].disable(next);
        self.refresh(index);
        Ok(())
    }

    /// Allows a token again; what is left of its rest, it rests.
    pub(crate) fn enable(&mut self, id: TokenId, now: Instant) -> Result<(), UnknownToken> {
        self.advance(now);
        let index = self.place(id).ok_or(UnknownToken { id })?;
        self.records[index].enable();
        self.refresh(index);
        Ok(())
    }

    /// Each token's state at `now`, in the settings' order.
    pub(crate) fn snapshot(&mut self, now: Instant) -> Vec<TokenStatus> {
        let now = self.advance(now);
        (0..self.records.len()).map(|index| self.status(index, now)).collect()
    }

    pub(super) fn status(&mut self, index: usize, now: Moment) -> TokenStatus {
        let origin = self.origin;
        let shared = self.shared_rest(index, now);
        let record = &self.records[index];
        let (own, own_until) = (record.state(now), record.rests_until(now));
        let (state, until, reason) = match shared {
            Some((until, why)) if rests_longer(own, own_until, until) => {
                let state = if own == State::Unavailable { own } else { State::Cooling };
                (state, Some(until), Some(why))
            }
            _ => (own, own_until, record.reason()),
        };
        TokenStatus {
            id: record.entry.id(),
            name: record.entry.name(),
            state,
            failures: record.failures,
            until: until.map(|until| origin.instant(until)),
            retry_in: until.map_or(Duration::ZERO, |until| now.until(until)),
            in_flight: record.entry.in_flight(),
            reason,
            last_status: record.entry.last_status(),
            requests: record.requests,
            successes: record.entry.successes(),
            rate_limited: record.rate_limited.into(),
            rejected: record.rejected.into(),
            cooldowns: record.cooldowns.map(u64::from),
            last_used: record.last_used().map(|at| origin.instant(at)),
            pace: record.pace().and_then(Pace::interval),
            scopes: Vec::new(),
        }
    }

    /// The end of a rest that the token takes together with others, and its reason.
    fn shared_rest(&mut self, index: usize, now: Moment) -> Option<(Moment, Reason)> {
        let whole = self.whole_rest(now);
        let group = self.records[index].group.and_then(|group| match self.groups.gate(group).way(now) {
            Way::From(until) => Some((until, Reason::RateLimited)),
            Way::Open | Way::ToProbe | Way::Held => None,
        });
        whole.into_iter().chain(group).max_by_key(|&(until, _)| until)
    }

    /// How many tokens are in each state at `now`.
    pub(crate) fn state_counts(&mut self, now: Instant) -> StateCounts {
        let now = self.advance(now);
        let mut counts = StateCounts::default();
        for index in 0..self.records.len() {
            let state = self.records[index].state(now);
            let waits_too =
                matches!(state, State::Ready | State::Probing) && self.shared_rest(index, now).is_some();
            counts.count(if waits_too { State::Cooling } else { state });
        }
        counts
    }
}

/// Whether a rest that is shared, to `shared`, is what keeps a token from being lent.
fn rests_longer(own: State, own_until: Option<Moment>, shared: Moment) -> bool {
    own != State::Disabled && own_until.is_none_or(|until| until < shared)
}
