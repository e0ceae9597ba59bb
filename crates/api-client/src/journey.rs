//! What the steps of one request share: its attempts so far, the waits, and the response kept for the caller.
//!
//! The outermost step ([`Entry`](crate::Entry)) gives each request a [`Journey`]. The steps below write down what they
//! did; the retry policy and the lease read it.

use std::any::Any;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use tidegate_token_manager::{LeaseStamp, TokenId};
use tokio::time::Instant;

use crate::body::Body;
use crate::observer::Observer;
use crate::verdict::{Fault, Verdict};

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
pub struct Attempts(List);

/// Most requests have one attempt, which then costs no allocation of its own.
#[derive(Clone, Debug, Default)]
enum List {
    #[default]
    None,
    One(Attempt),
    Many(Arc<[Attempt]>),
}

impl Attempts {
    /// How often the upstream was called.
    pub fn count(&self) -> usize {
        self.as_slice().len()
    }

    /// The attempts, first to last.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Attempt> {
        self.as_slice().iter()
    }

    fn as_slice(&self) -> &[Attempt] {
        match &self.0 {
            List::None => &[],
            List::One(attempt) => std::slice::from_ref(attempt),
            List::Many(attempts) => attempts,
        }
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
///
/// As a request extension a journey of the caller's own: its attempts can be read at any time, also when the caller has
/// gone and no response ever came. One request's alone.
///
/// ```
/// use tidegate_api_client::{Body, Journey};
///
/// let journey = Journey::new();
/// let request = http::Request::get("/").extension(journey.clone()).body(Body::empty())?;
/// // While the request is underway, and after it:
/// assert_eq!(journey.attempts().count(), 0);
/// # let _ = request;
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Journey(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    /// The current attempt; those before it are in `earlier`.
    attempt: Option<Attempt>,
    earlier: Vec<Attempt>,
    started: Option<Instant>,
    began: Option<Instant>,
    deadline: Option<Instant>,
    observer: Option<Arc<dyn Observer>>,
    /// The token that the next attempt was lent, and how long it waited for it.
    lent: Option<(TokenId, Duration)>,
    deposited: bool,
    plan: Option<Plan>,
    retries: u32,
    switches: u32,
    backoff: Duration,
    token_wait: Duration,
    suspects: Vec<LeaseStamp>,
    /// Boxed: there seldom is one, and notes are made for every request.
    kept: Option<Box<Response<Body>>>,
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

    /// The journey of a request that has come through [`Entry`](crate::Entry), or that brings one of its own.
    ///
    /// `Entry`'s travels with the [`Body`]. A step of one's own that puts another body in its place, between `Entry` and
    /// the transport, first puts the journey among the extensions, or the steps below know neither deadline nor
    /// attempts.
    pub fn of<B: 'static>(request: &Request<B>) -> Option<&Self> {
        let in_body = || (request.body() as &dyn Any).downcast_ref::<Body>()?.journey();
        request.extensions().get::<Self>().or_else(in_body)
    }

    /// The attempts so far.
    pub fn attempts(&self) -> Attempts {
        let notes = self.notes();
        Attempts(match &notes.attempt {
            None => List::None,
            Some(only) if notes.earlier.is_empty() => List::One(only.clone()),
            Some(last) => List::Many(notes.earlier.iter().chain([last]).cloned().collect()),
        })
    }

    /// The request begins at `now`.
    pub(crate) fn begin(&self, now: Instant, deadline: Option<Instant>, observer: Option<Arc<dyn Observer>>) {
        let mut notes = self.notes();
        notes.began = Some(now);
        notes.deadline = deadline;
        notes.observer = observer;
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.notes().deadline
    }

    /// The moment for which the request's share of the retry budget is still to be deposited. There is one once.
    pub(crate) fn owed_deposit(&self) -> Option<Instant> {
        let mut notes = self.notes();
        let owed = !mem::replace(&mut notes.deposited, true);
        owed.then(|| notes.began.unwrap_or_else(Instant::now))
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
        let observer = self.notes().observer.clone();
        if let Some(observer) = observer {
            observer.sending_again(plan.cause, plan.wait);
        }
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
        let notes = self.notes();
        notes.earlier.iter().chain(&notes.attempt).filter_map(|attempt| attempt.token).collect()
    }

    /// How long the request has waited for tokens, in all.
    pub(crate) fn token_wait(&self) -> Duration {
        self.notes().token_wait
    }

    pub(crate) fn add_token_wait(&self, wait: Duration) {
        let mut notes = self.notes();
        notes.token_wait = notes.token_wait.saturating_add(wait);
    }

    /// The next attempt was lent this token.
    pub(crate) fn lend(&self, token: TokenId, token_wait: Duration) {
        self.notes().lent = Some((token, token_wait));
    }

    /// Begins an attempt with the token that it was lent, which is returned with the request's deadline.
    pub(crate) fn begin_attempt(&self, now: Instant) -> (Option<TokenId>, Option<Instant>) {
        let mut notes = self.notes();
        let Plan { cause, wait, .. } = notes.plan.unwrap_or(FIRST);
        let lent = notes.lent.take();
        let (token, token_wait) =
            (lent.map(|(token, _)| token), lent.map_or(Duration::ZERO, |(_, wait)| wait));
        let (ended, fault, duration) = (Ended::Unfinished, None, Duration::ZERO);
        let attempt = Attempt { cause, token, wait, token_wait, ended, fault, duration };
        if let Some(before) = notes.attempt.replace(attempt) {
            notes.earlier.push(before);
        }
        notes.started = Some(now);
        (token, notes.deadline)
    }

    /// The attempt ended so, with this verdict, at `now`.
    pub(crate) fn end_attempt(&self, ended: Ended, verdict: &Verdict, now: Instant) {
        let mut notes = self.notes();
        let started = notes.started.unwrap_or(now);
        let Some(attempt) = &mut notes.attempt else { return };
        attempt.ended = ended;
        attempt.fault = Some(verdict.fault);
        attempt.duration = now.saturating_duration_since(started);
        tracing::debug!(cause = attempt.cause.as_str(), ?ended, duration = ?attempt.duration, "attempt ended");
        let Some(observer) = notes.observer.clone() else { return };
        let attempt = notes.attempt.clone();
        drop(notes);
        if let Some(attempt) = attempt {
            observer.attempt_ended(&attempt);
        }
    }

    /// Remembers a token that answered 403: whether that was the token's doing, only another's answer can tell.
    pub(crate) fn suspect(&self, stamp: LeaseStamp) {
        self.notes().suspects.push(stamp);
    }

    pub(crate) fn take_suspects(&self) -> Vec<LeaseStamp> {
        mem::take(&mut self.notes().suspects)
    }

    /// Keeps the response of a failed attempt, to be handed on if no token is found for the next.
    pub(crate) fn keep(&self, response: Response<Body>) {
        self.notes().kept = Some(Box::new(response));
    }

    pub(crate) fn take_kept(&self) -> Option<Response<Body>> {
        self.notes().kept.take().map(|kept| *kept)
    }
}
