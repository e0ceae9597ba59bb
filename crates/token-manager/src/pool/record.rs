mod shared;

use std::sync::Arc;
use std::time::Duration;

use tidegate_backoff_core::{CoolDown, MAX_TOLD_REST};

use super::moment::Moment;
use super::touched::Touched;
use super::window::Window;
pub(super) use shared::{Age, Shared};

use crate::{Outcome, Reason, Report, State, TokenId, TokenSpec};

/// What stays the same while a token lives; leases share it with the pool.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: TokenId,
    pub(crate) spec: TokenSpec,
}

/// A result's age: of this rest, or of one before. Numbers are the pool's, so that no token ever has one
/// twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Generation(pub(super) u64);

/// Where a token's latest results have left it. A rest that is over is not entered here: `until` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Ready,
    Resting,
    WornOut,
}

/// One token's state, and how results and operators move it. Knows nothing of other tokens.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) entry: Arc<Entry>,
    pub(super) window: Option<Box<Window>>,
    pub(super) generation: Generation,
    until: Moment,
    /// `Moment::BEFORE` if it was never lent.
    last_used: Moment,
    pub(super) requests: u64,
    pub(super) successes: u64,
    pub(super) rate_limited: u64,
    pub(super) rejected: u64,
    pub(super) cooldowns: [u32; 4],
    pub(super) failures: u32,
    rejections: u32,
    pub(super) in_flight: u32,
    pub(super) last_status: Option<u16>,
    health: Health,
    reason: Option<Reason>,
    disabled: bool,
    probe_out: bool,
    /// What has changed since the pool last looked.
    pub(super) touched: Touched,
    /// How the pool has entered the token into its structures.
    pub(super) known: Kind,
}

/// When a token can be lent, as far as it is known now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Now.
    Lendable,
    /// From this moment on, if nothing else happens.
    From(Moment),
    /// When a lease of it ends; nobody knows when.
    Held,
    /// Not until an operator allows it.
    Barred,
}

/// A standing without its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Lendable,
    Timed,
    Held,
    Barred,
}

impl Standing {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Lendable => Kind::Lendable,
            Self::From(_) => Kind::Timed,
            Self::Held => Kind::Held,
            Self::Barred => Kind::Barred,
        }
    }
}

impl Record {
    pub(super) fn new(entry: Arc<Entry>, generation: Generation) -> Self {
        Self {
            entry,
            window: None,
            generation,
            until: Moment::BEFORE,
            last_used: Moment::BEFORE,
            requests: 0,
            successes: 0,
            rate_limited: 0,
            rejected: 0,
            cooldowns: [0; 4],
            failures: 0,
            rejections: 0,
            in_flight: 0,
            last_status: None,
            health: Health::Ready,
            reason: None,
            disabled: false,
            probe_out: false,
            touched: Touched::NOTHING,
            known: Kind::Barred,
        }
    }

    pub(super) fn state(&self, now: Moment) -> State {
        match self.health {
            _ if self.disabled => State::Disabled,
            Health::Ready => State::Ready,
            _ if self.until <= now => State::Probing,
            Health::Resting => State::Cooling,
            Health::WornOut => State::Unavailable,
        }
    }

    pub(super) fn reason(&self) -> Option<Reason> {
        if self.disabled { Some(Reason::Operator) } else { self.reason }
    }

    /// The end of the rest that the token takes at `now`, if it takes one.
    pub(super) fn rests_until(&self, now: Moment) -> Option<Moment> {
        (self.health != Health::Ready && self.until > now && !self.disabled).then_some(self.until)
    }

    /// `limit_allows` is the moment from which the token's limit allows a lend, `max_concurrency` 0 for any
    /// number.
    pub(super) fn standing(&self, max_concurrency: u32, limit_allows: Moment, now: Moment) -> Standing {
        let rest = self.rests_until(now).unwrap_or(Moment::BEFORE).max(limit_allows);
        if self.disabled {
            Standing::Barred
        } else if rest > now {
            Standing::From(rest)
        } else if self.is_full(max_concurrency) || self.probe_out {
            Standing::Held
        } else {
            Standing::Lendable
        }
    }

    /// Whether a request that will not wait may have the token though it rests.
    pub(super) fn lendable_early(&self, max_concurrency: u32, limit_allows: Moment, now: Moment) -> bool {
        self.rests_until(now).is_some() && limit_allows <= now && !self.is_full(max_concurrency)
    }

    fn is_full(&self, max_concurrency: u32) -> bool {
        max_concurrency != 0 && self.in_flight >= max_concurrency
    }

    /// Counts a lease. Returns whether it is the token's probe.
    pub(super) fn lend(&mut self, now: Moment) -> bool {
        self.in_flight = self.in_flight.saturating_add(1);
        self.requests += 1;
        self.last_used = now;
        let is_probe = self.health != Health::Ready && self.until <= now;
        self.probe_out |= is_probe;
        is_probe
    }

    /// The lease has ended, whether or not it told anything.
    pub(super) fn release(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// The probe has told nothing: another may have it.
    pub(super) fn give_back_probe(&mut self, generation: Generation) {
        if generation == self.generation {
            self.probe_out = false;
        }
    }

    /// What a lease of `lent` tells. `next` is the generation to take if a rest begins or grows.
    ///
    /// Only results of leases of the current generation count: those of an older one were in flight when the
    /// token was rested, reset or barred. Of them a longer told rest is still kept, as the upstream will hold
    /// the token to it.
    pub(super) fn settle(
        &mut self,
        lent: Generation,
        report: &Report,
        cool_down: &CoolDown,
        next: Generation,
        now: Moment,
    ) {
        self.last_status = report.status.or(self.last_status);
        let told = match report.outcome {
            Outcome::Limited | Outcome::Rejected => report.told.max(report.quota),
            Outcome::Success | Outcome::Unaffected => report.quota,
        };
        let told = told.map_or(Moment::BEFORE, |rest| now.after(rest.min(MAX_TOLD_REST)));
        match report.outcome {
            Outcome::Success => self.successes += 1,
            Outcome::Limited => self.rate_limited += 1,
            Outcome::Rejected => self.rejected += 1,
            Outcome::Unaffected => {}
        }
        if lent != self.generation {
            return self.extend(told, next, now);
        }
        match report.outcome {
            Outcome::Success => self.succeed(now),
            Outcome::Limited => return self.fail(Reason::RateLimited, told, cool_down, next, now),
            Outcome::Rejected => return self.fail(Reason::Rejected, told, cool_down, next, now),
            Outcome::Unaffected => {}
        }
        if told > now {
            self.rest(Health::Resting, Reason::QuotaEmpty, told, next);
        }
    }

    fn extend(&mut self, told: Moment, next: Generation, now: Moment) {
        if self.health != Health::Ready && told > now && told > self.until {
            self.until = told;
            self.generation = next;
            self.probe_out = false;
            self.touched.add(Touched::RESTED);
        }
    }

    /// A token that was lent early, while it rested, is proven as by a reset: there is no end that its probe
    /// could have come after.
    fn succeed(&mut self, now: Moment) {
        if self.health != Health::Ready {
            self.touched.add(if self.until > now { Touched::CLEARED } else { Touched::RECOVERED });
        }
        self.recover();
    }

    fn fail(&mut self, reason: Reason, told: Moment, cool_down: &CoolDown, next: Generation, now: Moment) {
        self.failures = self.failures.saturating_add(1);
        if reason == Reason::Rejected {
            self.rejections = self.rejections.saturating_add(1);
        }
        let rest = cool_down.rest(self.failures, self.rejections);
        let health = if rest.unavailable { Health::WornOut } else { Health::Resting };
        self.rest(health, reason, now.after(rest.duration).max(told), next);
    }

    /// A rest that still runs (its token was lent early) is never cut short by the next.
    fn rest(&mut self, health: Health, reason: Reason, until: Moment, next: Generation) {
        self.health = health;
        self.until = self.until.max(until);
        self.reason = Some(reason);
        self.cooldowns[reason.index()] = self.cooldowns[reason.index()].saturating_add(1);
        self.generation = next;
        self.probe_out = false;
        self.touched.add(Touched::RESTED);
    }

    fn recover(&mut self) {
        self.health = Health::Ready;
        self.until = Moment::BEFORE;
        self.reason = None;
        self.failures = 0;
        self.rejections = 0;
        self.probe_out = false;
    }

    /// Forgets failures and rest. A disabled token stays disabled.
    pub(super) fn reset(&mut self, next: Generation) {
        self.recover();
        self.generation = next;
        self.touched.add(Touched::CLEARED);
    }

    /// Bars the token. Its rest goes on beneath.
    pub(super) fn disable(&mut self, next: Generation) {
        if !self.disabled {
            self.disabled = true;
            self.generation = next;
            self.probe_out = false;
            self.touched.add(Touched::BARRED);
            let count = &mut self.cooldowns[Reason::Operator.index()];
            *count = count.saturating_add(1);
        }
    }

    /// Allows the token again; what is left of its rest, it rests.
    pub(super) fn enable(&mut self) {
        self.disabled = false;
        self.touched.add(Touched::BARRED);
    }

    /// Forgets a lend that was never used.
    pub(super) fn unlend(&mut self) {
        self.requests = self.requests.saturating_sub(1);
        self.release();
    }

    /// When it was last lent.
    pub(super) fn last_used(&self) -> Option<Moment> {
        (self.last_used > Moment::BEFORE).then_some(self.last_used)
    }

    /// How long the rest lasts from now.
    pub(super) fn retry_in(&self, now: Moment) -> Duration {
        self.rests_until(now).map_or(Duration::ZERO, |until| now.until(until))
    }
}
