//! What the steps of one request share: its attempts so far, the waits, and the response kept for the caller.
//!
//! The outermost step ([`Entry`](crate::Entry)) puts a [`Journey`] into the request's extensions. The steps below
//! write down what they did; the retry policy and the lease read it. Whoever puts a journey of their own into a
//! request can read its attempts at any time, also when the caller has gone and no response ever came.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Response, StatusCode};
use tidegate_token_manager::{LeaseStamp, TokenId};
use tokio::time::Instant;

use crate::body::Body;
use crate::verdict::Fault;

/// Why an attempt was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The request's first attempt.
    First,
    /// The attempt before failed by the upstream's fault.
    Retry,
    /// The attempt before failed by its token's fault; this one uses another token.
    Switch,
}

impl Cause {
    /// A word for logs and metric labels: `first`, `retry` or `switch`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Retry => "retry",
            Self::Switch => "switch",
        }
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It has not ended, or its caller went away first.
    Unfinished,
    /// The upstream answered with this status.
    Status(StatusCode),
    /// No answer came; the word is [`Error::kind`](crate::Error::kind).
    Failed(&'static str),
}

/// One call of the upstream.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Why it was made.
    pub cause: Cause,
    /// The token that signed it; `None` outside a pool.
    pub token: Option<TokenId>,
    /// The back-off before it.
    pub wait: Duration,
    /// How long it waited for a token after that.
    pub token_wait: Duration,
    /// How it ended.
    pub ended: Ended,
    /// Whose fault the end was; `None` while it runs.
    pub fault: Option<Fault>,
    /// From the call of the transport to the response head, or to the error.
    pub duration: Duration,
}

/// All attempts of a request, first to last: a response extension, and part of every [`Failure`](crate::Failure).
#[derive(Clone, Debug, Default)]
pub struct Attempts(Arc<[Attempt]>);

impl Attempts {
    /// How often the upstream was called.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The attempts, first to last.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Attempt> {
        self.0.iter()
    }
}

/// What the next attempt will be, as the policy planned it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) cause: Cause,
    pub(crate) wait: Duration,
    pub(crate) may_wait_for_token: bool,
}

const FIRST: Plan = Plan { cause: Cause::First, wait: Duration::ZERO, may_wait_for_token: true };

/// The notes that the steps of one request share; a clone is the same journey.
#[derive(Clone, Debug, Default)]
pub struct Journey(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    attempts: Vec<Attempt>,
    started: Option<Instant>,
    plan: Option<Plan>,
    retries: u32,
    switches: u32,
    backoff: Duration,
    token_wait: Duration,
    suspects: Vec<LeaseStamp>,
    kept: Option<Response<Body>>,
}

/// The counts that the retry policy decides by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) retries: u32,
    pub(crate) switches: u32,
    pub(crate) backoff: Duration,
}

impl Journey {
    /// A journey that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// The attempts so far.
    pub fn attempts(&self) -> Attempts {
        Attempts(self.notes().attempts.as_slice().into())
    }

    // A step that panics holds the lock over plain assignments only, so the notes are sound all the same.
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn progress(&self) -> Progress {
        let notes = self.notes();
        Progress { retries: notes.retries, switches: notes.switches, backoff: notes.backoff }
    }

    pub(crate) fn plan(&self) -> Plan {
        self.notes().plan.unwrap_or(FIRST)
    }

    pub(crate) fn set_plan(&self, plan: Plan) {
        let mut notes = self.notes();
        match plan.cause {
            Cause::First => {}
            Cause::Retry => {
                notes.retries += 1;
                notes.backoff = plan.wait;
            }
            Cause::Switch => notes.switches += 1,
        }
        notes.plan = Some(plan);
    }

    /// The tokens that have signed an attempt of this request.
    pub(crate) fn tried(&self) -> Vec<TokenId> {
        self.notes().attempts.iter().filter_map(|attempt| attempt.token).collect()
    }

    /// How long the request has waited for tokens, in all.
    pub(crate) fn token_wait(&self) -> Duration {
        self.notes().token_wait
    }

    pub(crate) fn add_token_wait(&self, wait: Duration) {
        let mut notes = self.notes();
        notes.token_wait = notes.token_wait.saturating_add(wait);
    }

    pub(crate) fn begin_attempt(&self, token: Option<TokenId>, token_wait: Duration, now: Instant) {
        let mut notes = self.notes();
        let Plan { cause, wait, .. } = notes.plan.unwrap_or(FIRST);
        let (ended, fault, duration) = (Ended::Unfinished, None, Duration::ZERO);
        notes.attempts.push(Attempt { cause, token, wait, token_wait, ended, fault, duration });
        notes.started = Some(now);
    }

    pub(crate) fn end_attempt(&self, ended: Ended, fault: Fault, now: Instant) {
        let mut notes = self.notes();
        let started = notes.started.unwrap_or(now);
        if let Some(attempt) = notes.attempts.last_mut() {
            attempt.ended = ended;
            attempt.fault = Some(fault);
            attempt.duration = now.saturating_duration_since(started);
        }
    }

    /// Remembers a token that answered 403: whether that was the token's doing, only another's answer can tell.
    pub(crate) fn suspect(&self, stamp: LeaseStamp) {
        self.notes().suspects.push(stamp);
    }

    pub(crate) fn take_suspects(&self) -> Vec<LeaseStamp> {
        std::mem::take(&mut self.notes().suspects)
    }

    /// Keeps the response of a failed attempt, to be handed on if no token is found for the next.
    pub(crate) fn keep(&self, response: Response<Body>) {
        self.notes().kept = Some(response);
    }

    pub(crate) fn take_kept(&self) -> Option<Response<Body>> {
        self.notes().kept.take()
    }
}
