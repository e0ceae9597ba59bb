//! When a token is expected, for those who consider waiting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use tokio::time::Instant;

use super::{Kind, Moment, Pool, Way};
use crate::{Exhausted, TokenId};

/// When the pool expects to lend to one who asks now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forecast {
    /// At this moment at the soonest.
    At(Instant),
    /// When some lease ends; nobody knows when.
    Unknown,
    /// Not before an operator does something.
    Never,
}

impl Forecast {
    /// How long from now, for a `Retry-After`.
    pub(crate) fn wait(self, now: Instant) -> Option<Duration> {
        match self {
            Self::At(at) => Some(at.saturating_duration_since(now)),
            Self::Unknown => Some(Duration::from_secs(1)),
            Self::Never => None,
        }
    }

    /// Whether it is sure that no token comes by `at`.
    pub(crate) fn is_later_than(self, at: Instant) -> bool {
        match self {
            Self::At(expected) => expected > at,
            Self::Unknown => false,
            Self::Never => true,
        }
    }

    pub(crate) fn exhausted(self, total: usize, now: Instant) -> Exhausted {
        Exhausted { total, retry_in: self.wait(now), only: None }
    }
}

impl Pool {
    /// The next moment at which time alone makes a token lendable.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        let wake = match self.blame.gate.way(self.latest) {
            Way::From(until) if self.tally.lendable > 0 => Some(until),
            Way::From(until) => self.wakes.first().map(|(at, _)| at.max(until)),
            Way::Open | Way::ToProbe | Way::Held => self.wakes.first().map(|(at, _)| at),
        };
        wake.map(|at| self.origin.instant(at))
    }

    /// When to expect a token with so many waiting before.
    ///
    /// A token that has rested serves one, its probe, and after that everybody; so those behind are told the
    /// same moment as the first. A token at its limit serves one for each lend that leaves its window, and a paced one at its
    /// intervals.
    pub(crate) fn forecast(&mut self, ahead: usize, now: Instant) -> Forecast {
        let now = self.advance(now);
        let gate = match self.blame.gate.way(now) {
            Way::Open | Way::ToProbe => now,
            Way::From(until) => until,
            Way::Held => return Forecast::Unknown,
        };
        if self.tally.lendable > 0 {
            return Forecast::At(self.origin.instant(gate));
        }
        // Where tokens are paced, how long a lease lasts is little beside the pace.
        if self.tally.held > 0 && !self.is_paced() {
            return self.forecast_of_held(ahead, gate);
        }
        match self.serves_at(ahead) {
            Some(at) => Forecast::At(self.origin.instant(at.max(gate))),
            None if self.tally.held > 0 => Forecast::Unknown,
            None => Forecast::Never,
        }
    }

    /// Where a place is waited for: when those ahead will have had theirs, if leases last as long as of late; or when a
    /// token's time comes before that.
    fn forecast_of_held(&self, ahead: usize, from: Moment) -> Forecast {
        let places = self.tally.held.saturating_mul(self.params.max_concurrency.max(1) as usize);
        let turns = self.lease_length.turns(ahead, places);
        if turns.is_zero() {
            return Forecast::Unknown;
        }
        let ended = from.after(turns);
        let timed = self.serves_at(ahead).map_or(ended, |at| at.max(from));
        Forecast::At(self.origin.instant(ended.min(timed)))
    }

    /// The moment at which the tokens that wait for their time will have served `ahead` and can serve one
    /// more.
    fn serves_at(&self, ahead: usize) -> Option<Moment> {
        if self.limit.is_none() && !self.is_paced() {
            return self.wakes.first().map(|(at, _)| at);
        }
        // The wakes' heap is walked from its top, so that only tokens whose time comes early enough are
        // looked at.
        let mut soonest = BinaryHeap::new();
        let mut nodes = BinaryHeap::new();
        nodes.extend(self.wakes.entry(0).map(|(at, _)| Reverse((at, 0))));
        let mut served = 0;
        loop {
            while let Some(&Reverse((at, node))) = nodes.peek() {
                if soonest.peek().is_some_and(|&Reverse((served_at, _, _))| served_at < at) {
                    break;
                }
                nodes.pop();
                // One that is held may come back sooner.
                let entry = self.wakes.entry(node);
                if let Some((at, index)) = entry.filter(|&(_, index)| self.records[index].known != Kind::Held)
                {
                    soonest.push(Reverse((at, index, 0)));
                }
                for child in [2 * node + 1, 2 * node + 2] {
                    nodes.extend(self.wakes.entry(child).map(|(at, _)| Reverse((at, child))));
                }
            }
            let Reverse((at, index, nth)) = soonest.pop()?;
            if served == ahead {
                return Some(at);
            }
            served += 1;
            let record = &self.records[index];
            let rested = record.rests_until(self.latest).unwrap_or(self.latest);
            let limits = record.limits.as_deref();
            let next = limits.map_or(at, |limits| limits.serves_at(nth + 1, rested).max(at));
            soonest.push(Reverse((next, index, nth + 1)));
        }
    }

    /// The token whose rest ends first, of those that limits allow and that the request has not tried.
    pub(super) fn soonest_resting(&mut self, tried: &[TokenId], now: Moment) -> Option<usize> {
        let mut nodes = BinaryHeap::new();
        nodes.extend(self.wakes.entry(0).map(|(at, _)| Reverse((at, 0))));
        while let Some(Reverse((_, node))) = nodes.pop() {
            let (_, index) = self.wakes.entry(node)?;
            let bounds = self.bounds(index);
            let record = &self.records[index];
            if record.lendable_early(&bounds, now) && !tried.contains(&record.entry.id()) {
                return Some(index);
            }
            for child in [2 * node + 1, 2 * node + 2] {
                nodes.extend(self.wakes.entry(child).map(|(at, _)| Reverse((at, child))));
            }
        }
        None
    }
}
