//! One token and no other, for those who want just that.

use tokio::time::Instant;

use super::{Forecast, Kind, Loan, Moment, Pool, Way};
use crate::{Exhausted, OnlyToken, State, TokenId, WhenExhausted};

impl Pool {
    /// [`lend_any`](Self::lend_any), or with `only` that token as soon as it can be lent, tried or not.
    pub(crate) fn lend_for(
        &mut self,
        only: Option<TokenId>,
        tried: &[TokenId],
        entropy: u64,
        now: Instant,
    ) -> Option<Loan> {
        let Some(only) = only else { return self.lend_any(tried, entropy, now) };
        let now = self.advance(now);
        let index = self.place(only)?;
        let never_waits = self.params.when_exhausted == WhenExhausted::Soonest;
        let lends = match self.records[index].known {
            Kind::Lendable => never_waits || self.lets_pass(now),
            Kind::Timed if never_waits => {
                let bounds = self.bounds(index);
                self.records[index].lendable_early(&bounds, now)
            }
            Kind::Timed | Kind::Held | Kind::Barred => false,
        };
        lends.then(|| {
            self.selector.used(index);
            self.lend(index, now)
        })
    }

    /// [`forecast`](Self::forecast), or with `only` when that token is expected.
    pub(crate) fn forecast_for(&mut self, only: Option<TokenId>, ahead: usize, now: Instant) -> Forecast {
        let Some(only) = only else { return self.forecast(ahead, now) };
        let now = self.advance(now);
        let Some(index) = self.place(only) else { return Forecast::Never };
        let own = match self.records[index].known {
            Kind::Lendable => now,
            Kind::Timed => self.serves_alone_at(index, ahead),
            Kind::Held => return Forecast::Unknown,
            Kind::Barred => return Forecast::Never,
        };
        match self.blame.gate.way(now) {
            Way::Open | Way::ToProbe => Forecast::At(self.origin.instant(own)),
            Way::From(until) => Forecast::At(self.origin.instant(own.max(until))),
            Way::Held => Forecast::Unknown,
        }
    }

    /// The moment at which the token can have served `ahead` and can serve one more.
    fn serves_alone_at(&self, index: usize, ahead: usize) -> Moment {
        let wake = self.wakes.of(index).unwrap_or(self.latest);
        let record = &self.records[index];
        let rested = record.rests_until(self.latest).unwrap_or(self.latest);
        let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
        record.limits.as_deref().map_or(wake, |limits| limits.serves_at(ahead, rested).max(wake))
    }

    /// [`next_wake`](Self::next_wake), or with `only` the moment at which time alone makes that token lendable.
    pub(crate) fn next_wake_for(&self, only: Option<TokenId>) -> Option<Instant> {
        let Some(only) = only else { return self.next_wake() };
        let index = self.place(only)?;
        let wake = match (self.records[index].known, self.blame.gate.way(self.latest)) {
            (Kind::Lendable, Way::From(until)) => Some(until),
            (Kind::Timed, Way::From(until)) => self.wakes.of(index).map(|at| at.max(until)),
            (Kind::Timed, Way::Open | Way::ToProbe | Way::Held) => self.wakes.of(index),
            _ => None,
        };
        wake.map(|at| self.origin.instant(at))
    }

    /// Why nothing is lent: of one token also how it stands.
    pub(crate) fn exhausted_for(
        &mut self,
        only: Option<TokenId>,
        forecast: Forecast,
        now: Instant,
    ) -> Exhausted {
        let refusal = forecast.exhausted(self.len(), now);
        let only = only.map(|id| OnlyToken { id, state: self.state_of(id) });
        Exhausted { only, ..refusal }
    }

    /// How a token stands as people are shown it; none if the pool has none of this id.
    fn state_of(&mut self, id: TokenId) -> Option<State> {
        let index = self.place(id)?;
        Some(self.status(index, self.latest).state)
    }

    /// The token of this name.
    pub(crate) fn find(&self, name: &str) -> Option<TokenId> {
        self.records.iter().find(|record| record.entry.is_named(name)).map(|record| record.entry.id())
    }

    /// Whether the pool has a token of this id.
    pub(crate) fn has(&self, id: TokenId) -> bool {
        self.place(id).is_some()
    }
}
