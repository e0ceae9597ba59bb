mod shared;

use std::num::NonZeroU32;
use std::sync::Arc;

use tidegate_backoff_core::{CoolDown, MAX_TOLD_REST, Pace};

use super::gate::{Pass, Way};
use super::limits::{Lent, Limits};
use super::moment::Moment;
use super::quota::{self, Quota};
use super::touched::Touched;
pub(super) use shared::Shared;

use crate::entry::Entry;
use crate::{Outcome, Reason, Remaining, Report, State};

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
///
/// The order is the memory's: what the lend of a healthy token touches stands together, from the 16th byte on. Records
/// take 96 bytes and begin 16 or 48 bytes into a line of a cache, so that it is one line for every other token.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Record {
    pub(super) cooldowns: [u32; 4],
    pub(super) entry: Arc<Entry>,
    pub(super) generation: Generation,
    /// `Moment::BEFORE` if it was never lent.
    last_used: Moment,
    /// After a limit: how many leases may be out, until enough successes have lifted it. 0 is any number.
    ramp: u8,
    health: Health,
    reason: Option<Reason>,
    disabled: bool,
    probe_out: bool,
    /// The pool is told of every event of the token.
    attends: bool,
    /// What has changed since the pool last looked.
    pub(super) touched: Touched,
    /// How the pool has entered the token into its structures.
    pub(super) known: Kind,
    pub(super) requests: u64,
    /// What it is held to beyond its rests, where there is something: most tokens have none.
    pub(super) limits: Option<Box<Limits>>,
    /// Its group's place in the pool's list.
    pub(super) group: Option<NonZeroU32>,
    pub(super) weight: NonZeroU32,
    until: Moment,
    pub(super) rate_limited: u32,
    pub(super) rejected: u32,
    pub(super) failures: u32,
    rejections: u32,
}

/// What a report did to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// A failure of its own: the kind.
    Failed(Reason),
    /// Its quota is used up until then.
    QuotaEmpty(Moment),
    Succeeded,
}

/// What a token's standing depends on besides its own state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// 0 for any number.
    pub(super) max_concurrency: u32,
    /// The moment from which the token's limits allow a lend: the one that is known, and the pace.
    pub(super) limit_allows: Moment,
    /// What the group's gate says.
    pub(super) group: Way,
}

/// A rest that is the token's whatever is asked with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rejection {
    health: Health,
    until: Moment,
    failures: u32,
    rejections: u32,
}

/// When a token can be lent, as far as it is known now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Now.
    Lendable,
    /// From this moment on, if nothing else happens.
    From(Moment),
    /// When a lease of it ends or is answered, and nobody knows when; or from this moment on, if there is one.
    Held(Option<Moment>),
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
            Self::Held(_) => Kind::Held,
            Self::Barred => Kind::Barred,
        }
    }
}

impl Record {
    /// After a limit, a token begins with so many leases at a time...
    const RAMP: u8 = 2;
    /// ... and with each success one more, up to so many; then with any number.
    const RAMP_END: u8 = 16;

    pub(super) fn new(entry: Arc<Entry>, generation: Generation) -> Self {
        Self {
            entry,
            weight: NonZeroU32::MIN,
            group: None,
            ramp: 0,
            attends: false,
            limits: None,
            generation,
            until: Moment::BEFORE,
            last_used: Moment::BEFORE,
            requests: 0,
            rate_limited: 0,
            rejected: 0,
            cooldowns: [0; 4],
            failures: 0,
            rejections: 0,
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

    /// The end of the latest rest, over or not, until a success; before all time where there is none.
    pub(super) fn until(&self) -> Moment {
        self.until
    }

    /// When it can be lent. Reads how many leases are out: the pool attends by then.
    pub(super) fn standing(&self, bounds: &Bounds, now: Moment) -> Standing {
        let gate = if let Way::From(until) = bounds.group { until } else { Moment::BEFORE };
        let rest = self.rests_until(now).unwrap_or(Moment::BEFORE).max(bounds.limit_allows).max(gate);
        if self.disabled {
            Standing::Barred
        } else if rest > now {
            Standing::From(rest)
        } else if self.probe_out || bounds.group == Way::Held || self.is_full(bounds.max_concurrency) {
            Standing::Held(None)
        } else {
            match self.quota().filter(|quota| quota.is_out(now)) {
                Some(quota) => Standing::Held(quota.out_until()),
                None => Standing::Lendable,
            }
        }
    }

    /// Whether a request that will not wait may have the token though it rests.
    pub(super) fn lendable_early(&self, bounds: &Bounds, now: Moment) -> bool {
        self.rests_until(now).is_some()
            && bounds.limit_allows <= now
            && matches!(bounds.group, Way::Open | Way::ToProbe)
            && !self.is_full(bounds.max_concurrency)
            && !self.quota().is_some_and(|quota| quota.is_out(now))
    }

    fn is_full(&self, max_concurrency: u32) -> bool {
        let ramp = u32::from(self.ramp);
        if max_concurrency == 0 && ramp == 0 {
            return false;
        }
        let out = self.entry.in_flight();
        (max_concurrency != 0 && out >= max_concurrency) || (ramp != 0 && out >= ramp)
    }

    /// Has the leases tell the pool everything, or only what is remarkable: while the token is healthy and
    /// nothing depends on how many are out.
    pub(super) fn attend(&mut self, counted: bool) {
        let attends = counted
            || self.health != Health::Ready
            || self.failures != 0
            || self.rejections != 0
            || self.ramp != 0
            || self.group.is_some()
            || self.limits.as_ref().is_some_and(|limits| limits.hears());
        if attends != self.attends {
            self.attends = attends;
            if attends { self.entry.attend() } else { self.entry.neglect() }
        }
    }

    /// What its refusals have taught.
    pub(super) fn pace(&self) -> Option<&Pace> {
        self.limits.as_ref().and_then(|limits| limits.pace.as_ref())
    }

    fn quota(&self) -> Option<&Quota> {
        self.limits.as_ref().and_then(|limits| limits.quota.as_ref())
    }

    /// Which of its lends the latest was; begins anew after four billion.
    pub(super) fn nth(&self) -> u32 {
        u32::try_from(self.requests & u64::from(u32::MAX)).unwrap_or(0)
    }

    /// A lend was answered, or will not be. `told` is what the answer says is left of the quota.
    pub(super) fn answered(&mut self, lent: Lent, told: Option<Remaining>, now: Moment) {
        // One that was taken back meanwhile leaves the latest beyond the count.
        let later = self.nth().wrapping_sub(lent.nth);
        let later = if later > u32::MAX / 2 { 0 } else { later };
        if let Some(limits) = &mut self.limits {
            limits.answered(lent, later, told, now);
        }
    }

    /// From now on counts what is left of the quota. `out` is how many leases are out.
    pub(super) fn count_quota(&mut self, out: impl FnOnce(&Entry) -> u32, now: Moment) {
        if self.quota().is_none() {
            // Before its leases are counted, or one that ends meanwhile is never heard of: see `Entry`.
            self.attend(true);
            let out = out(&self.entry);
            self.limits.get_or_insert_default().quota = Some(Quota::new(out, now));
        }
    }

    /// A lease has ended.
    pub(super) fn ended(&mut self, lent: Lent) {
        if let Some(quota) = self.limits.as_mut().and_then(|limits| limits.quota.as_mut()) {
            quota.end(lent);
        }
    }

    pub(super) fn is_paced(&self) -> bool {
        self.pace().is_some_and(|pace| pace.interval().is_some())
    }

    pub(super) fn pace_mut(&mut self) -> Option<&mut Pace> {
        self.limits.as_mut().and_then(|limits| limits.pace.as_mut())
    }

    /// Whether a lend can change when the token can be lent next.
    pub(super) fn is_touched_by_lends(&self) -> bool {
        self.attends || self.limits.is_some()
    }

    /// Reads what a lend does, at each place where it stands. What is returned means nothing.
    pub(super) fn look(&self) -> u64 {
        let holders = u64::try_from(Arc::strong_count(&self.entry)).unwrap_or(0);
        self.requests ^ self.last_used.nanos() ^ u64::from(self.attends) ^ self.entry.look() ^ holders
    }

    /// Counts a lease. Returns what it is to remember.
    pub(super) fn lend(&mut self, now: Moment) -> Pass {
        self.entry.enter();
        self.requests += 1;
        self.last_used = now;
        if self.health != Health::Ready && self.until <= now {
            self.probe_out = true;
            Pass::probe(self.generation)
        } else {
            Pass::ordinary(self.generation)
        }
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
        at: Moment,
        report: &Report,
        cool_down: &CoolDown,
        next: Generation,
        now: Moment,
    ) -> Effect {
        let told = match report.outcome {
            Outcome::Limited | Outcome::Rejected => {
                report.told.max(report.quota).map(|rest| now.after(rest.min(MAX_TOLD_REST)))
            }
            Outcome::Success | Outcome::Unaffected => {
                report.quota.map(|rest| quota::more_at(at, rest.min(MAX_TOLD_REST), now))
            }
        };
        let told = told.unwrap_or(Moment::BEFORE);
        let counter = match report.outcome {
            Outcome::Limited => Some(&mut self.rate_limited),
            Outcome::Rejected => Some(&mut self.rejected),
            Outcome::Success | Outcome::Unaffected => None,
        };
        if let Some(counter) = counter {
            *counter = counter.saturating_add(1);
        }
        if lent != self.generation {
            self.extend(told, next, now);
            return Effect::Nothing;
        }
        let kind = match report.outcome {
            Outcome::Limited => Some(Reason::RateLimited),
            Outcome::Rejected => Some(Reason::Rejected),
            Outcome::Success => {
                self.succeed(now);
                None
            }
            Outcome::Unaffected => None,
        };
        if let Some(kind) = kind {
            self.fail(kind, told, cool_down, next, now);
            Effect::Failed(kind)
        } else if told > now {
            self.rest(Health::Resting, Reason::QuotaEmpty, told, next);
            Effect::QuotaEmpty(told)
        } else if report.outcome == Outcome::Success {
            Effect::Succeeded
        } else {
            Effect::Nothing
        }
    }

    /// Comes back: after a limit by a few leases at a time, and with each success by one more.
    fn succeed(&mut self, now: Moment) {
        self.touch_recovered(now);
        if self.reason == Some(Reason::RateLimited) {
            self.recover();
            self.ramp = Self::RAMP;
        } else if self.ramp == 0 || self.health != Health::Ready || self.rejections != 0 {
            self.recover();
        } else {
            self.failures = 0;
            self.ramp += 1;
            if self.ramp > Self::RAMP_END {
                self.ramp = 0;
            }
        }
    }

    /// A token that was lent early, while it rested, is proven as by a reset: there is no end that its probe
    /// could have come after.
    fn touch_recovered(&mut self, now: Moment) {
        if self.health != Health::Ready {
            self.touched.add(if self.until > now { Touched::CLEARED } else { Touched::RECOVERED });
        }
    }

    /// Its rest was the group's or the address's, and that is over.
    pub(super) fn pardon(&mut self, next: Generation, now: Moment) {
        if matches!(self.reason, Some(Reason::RateLimited | Reason::QuotaEmpty)) {
            self.touch_recovered(now);
            // If it is refused again, that was its own limit after all: its rests go on where they were.
            let failures = self.failures;
            self.recover();
            self.failures = failures;
            self.ramp = Self::RAMP;
            self.generation = next;
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

    /// What the token itself was refused for, so that it holds for all that is asked with it.
    pub(super) fn rejection(&self) -> Option<Rejection> {
        let rejected = self.reason == Some(Reason::Rejected) && self.health != Health::Ready;
        rejected.then_some(Rejection {
            health: self.health,
            until: self.until,
            failures: self.failures,
            rejections: self.rejections,
        })
    }

    /// Whether its rest is that of a rejection, and no longer.
    pub(super) fn ends_with(&self, rejection: Rejection) -> bool {
        self.until <= rejection.until
    }

    fn knows(&self, rejection: Rejection) -> bool {
        let Rejection { health, until, failures, rejections } = rejection;
        self.reason == Some(Reason::Rejected)
            && (self.health, self.failures, self.rejections) == (health, failures, rejections)
            && self.until >= until
    }

    /// Takes over a rejection, or the end of it.
    pub(super) fn take_over(&mut self, rejection: Option<Rejection>, next: Generation, now: Moment) {
        match rejection {
            // News of anything of the token may bring it once more.
            Some(known) if self.knows(known) => return,
            Some(Rejection { health, until, failures, rejections }) => {
                self.health = health;
                self.until = self.until.max(until);
                self.reason = Some(Reason::Rejected);
                self.failures = failures;
                self.rejections = rejections;
                self.touched.add(Touched::RESTED);
            }
            None if self.rejection().is_some() => {
                self.touch_recovered(now);
                self.recover();
            }
            None => return,
        }
        self.probe_out = false;
        self.generation = next;
    }

    /// The token has another value from here on. Results of the old one tell nothing any more; that it was
    /// rejected neither.
    pub(super) fn renew(&mut self, entry: Arc<Entry>, next: Generation, now: Moment) {
        if self.attends {
            entry.attend();
            self.entry.neglect();
        }
        entry.inherit(&self.entry);
        // Nobody would tell how those end that are out.
        if let Some(limits) = &mut self.limits {
            limits.quota = None;
        }
        self.entry = entry;
        self.take_over(None, next, now);
        if self.health != Health::Ready {
            // Others know the rest by the old value.
            self.touched.add(Touched::RESTED);
        }
        self.renew_learned();
        self.probe_out = false;
        self.generation = next;
    }

    pub(super) fn set_disabled(&mut self, disabled: bool) {
        self.disabled = disabled;
    }

    /// Whether results of what was lent before count: not while the token rests.
    pub(super) fn rests(&self, now: Moment) -> bool {
        self.health != Health::Ready && self.until > now
    }

    fn recover(&mut self) {
        self.health = Health::Ready;
        self.until = Moment::BEFORE;
        self.reason = None;
        self.failures = 0;
        self.rejections = 0;
        self.ramp = 0;
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
    }

    /// When it was last lent.
    pub(super) fn last_used(&self) -> Option<Moment> {
        (self.last_used > Moment::BEFORE).then_some(self.last_used)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if self.attends {
            self.entry.neglect();
        }
    }
}
