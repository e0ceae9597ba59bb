//! What operators do and see.

use tokio::time::Instant;

use super::Pool;
use crate::{StateCounts, TokenId, TokenStatus, UnknownToken};

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
        (0..self.records.len()).for_each(|index| self.reset_at(index));
    }

    fn reset_at(&mut self, index: usize) {
        let next = self.next_generation();
        self.records[index].reset(next);
        self.refresh(index);
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
        let origin = self.origin;
        let status = |record: &super::Record| TokenStatus {
            id: record.entry.id,
            name: record.entry.spec.name.clone(),
            state: record.state(now),
            failures: record.failures,
            until: record.rests_until(now).map(|until| origin.instant(until)),
            retry_in: record.retry_in(now),
            in_flight: record.in_flight,
            reason: record.reason(),
            last_status: record.last_status,
            requests: record.requests,
            successes: record.successes,
            rate_limited: record.rate_limited,
            rejected: record.rejected,
            cooldowns: record.cooldowns.map(u64::from),
            last_used: record.last_used().map(|at| origin.instant(at)),
        };
        self.records.iter().map(status).collect()
    }

    /// Every token, in the settings' order.
    pub(crate) fn ids(&self) -> Vec<TokenId> {
        self.records.iter().map(|record| record.entry.id).collect()
    }

    /// How many tokens are in each state at `now`.
    pub(crate) fn state_counts(&mut self, now: Instant) -> StateCounts {
        let now = self.advance(now);
        let mut counts = StateCounts::default();
        self.records.iter().for_each(|record| counts.count(record.state(now)));
        counts
    }
}
