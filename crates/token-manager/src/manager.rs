//! The pool among threads and tasks: the lock, the clock, the generator and the wait queue.

mod waiting;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use tokio::time::Instant;
use waiting::Waiting;

use crate::pool::{Forecast, Loan, Pool, Told};
use crate::wait_queue::{Ticket, WaitQueue};
use crate::{
    Ask, Exhausted, IdKey, Lease, LeaseStamp, Outcome, PoolParams, Report, StateCounts, TokenId, TokenSpec,
    TokenStatus, UnknownToken, WhenExhausted,
};

/// A pool of tokens: lends them, rests those that were refused, and lets requests wait for them.
///
/// Cloning is cheap, and all clones are one pool. Every time is [`tokio::time::Instant`]'s, so that a paused clock drives it.
///
/// ```
/// use tidegate_token_manager::{Ask, IdKey, Outcome, PoolParams, Report, State, TokenManager, TokenSpec};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let specs = vec![TokenSpec::new("first"), TokenSpec::new("second")];
/// let pool = TokenManager::new("default", PoolParams::default(), specs, IdKey::random()?);
///
/// let mut lease = pool.acquire(Ask::default()).await?;
/// assert_eq!(lease.token().expose(), "first");
/// lease.settle(&Report { status: Some(429), ..Report::new(Outcome::Limited) });
///
/// assert_eq!(pool.snapshot()[0].state, State::Cooling);
/// assert_eq!(pool.acquire(Ask::default()).await?.token().expose(), "second");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TokenManager {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    name: String,
    key: IdKey,
    state: Mutex<Inner>,
}

struct Inner {
    pool: Pool,
    queue: WaitQueue<Answer>,
    random: fastrand::Rng,
}

/// What a waiter gets.
type Answer = Result<Loan, Exhausted>;

/// What comes of asking.
enum Asked {
    Answered(Answer),
    Waiting(Ticket, Instant),
}

impl TokenManager {
    /// A pool of these tokens. Of two specs with the same value the first counts.
    pub fn new(name: &str, params: PoolParams, specs: Vec<TokenSpec>, key: IdKey) -> Self {
        let now = Instant::now();
        let mut pool = Pool::new(params, now);
        pool.reload(with_ids(&key, specs), now);
        let state = Mutex::new(Inner { pool, queue: WaitQueue::new(), random: fastrand::Rng::new() });
        Self { shared: Arc::new(Shared { name: name.to_owned(), key, state }) }
    }

    /// The pool's name in the settings.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The parameters as they are now.
    pub fn params(&self) -> PoolParams {
        *self.shared.lock().pool.params()
    }

    /// Lends a token: at once if one is ready, else after a wait, first come first served.
    ///
    /// A token that the request has not tried comes first. If none is ready, one that it has tried is lent once it is ready again.
    /// The future may be dropped at any time: a token that was granted meanwhile goes to the next.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when no token came in time, and at once when none can: when the wait to expect is longer than the one allowed,
    /// when `max_waiting` wait already, and with [`WhenExhausted::Fail`].
    ///
    /// # Panics
    ///
    /// Where it has to wait outside of a tokio runtime with its time driver enabled.
    pub async fn acquire(&self, ask: Ask<'_>) -> Result<Lease, Exhausted> {
        match self.shared.ask(&ask) {
            Asked::Answered(answer) => answer.map(|loan| self.lease(loan)),
            Asked::Waiting(ticket, give_up) => Waiting::new(&self.shared, ticket, give_up).answer().await,
        }
    }

    /// Lends a ready token that is not among `tried`, without waiting and without overtaking those who wait.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] if there is none.
    pub fn try_acquire(&self, tried: &[TokenId]) -> Result<Lease, Exhausted> {
        let loan = self.shared.change(|inner, now| {
            let entropy = inner.random.u64(..);
            inner.pool.lend_untried(tried, entropy, now).ok_or_else(|| inner.exhausted(now))
        })?;
        Ok(self.lease(loan))
    }

    /// Whether [`try_acquire`](Self::try_acquire) would lend a token now.
    pub fn has_ready(&self, tried: &[TokenId]) -> bool {
        self.shared.change(|inner, now| inner.pool.has_ready(tried, now))
    }

    /// How long one who asks now would wait: zero if a token is ready, a second where only the end of running requests can tell,
    /// none where no token is expected at all.
    pub fn predicted_wait(&self) -> Option<Duration> {
        self.shared.change(|inner, now| inner.forecast(now).wait(now))
    }

    /// Charges a token with a fault that was found out after its lease was settled: a lone 403 to which another token then had a
    /// better answer. It cools down as after a 429, unless it has been rested or reset since.
    pub fn charge(&self, stamp: LeaseStamp, status: u16) {
        self.shared.change(|inner, now| inner.pool.charge(stamp.id, stamp.generation, status, now));
    }

    /// Forgets a token's failures and ends its rest. A disabled one stays disabled.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn reset(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|inner, now| inner.pool.reset(id, now))
    }

    /// [`reset`](Self::reset) for all tokens.
    pub fn reset_all(&self) {
        self.shared.change(|inner, now| inner.pool.reset_all(now));
    }

    /// Bars a token until [`enable`](Self::enable). What is out of it may end; its rest goes on beneath.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn disable(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|inner, now| inner.pool.disable(id, now))
    }

    /// Allows a disabled token again. What is left of its rest, it rests.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn enable(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|inner, now| inner.pool.enable(id, now))
    }

    /// Takes these tokens for the pool's, in this order.
    ///
    /// A token that stays, known by its value, keeps its state and its leases. One that goes gets no new request. One that comes is
    /// ready, also where it is a new value under a known name.
    pub fn reload(&self, specs: Vec<TokenSpec>) {
        let specs = with_ids(&self.shared.key, specs);
        self.shared.change(|inner, now| inner.pool.reload(specs, now));
    }

    /// Takes effect at once. Rests that have begun stay as they are.
    pub fn set_params(&self, params: PoolParams) {
        self.shared.change(|inner, now| inner.pool.set_params(params, now));
    }

    /// Each token's state, in the settings' order.
    pub fn snapshot(&self) -> Vec<TokenStatus> {
        self.shared.change(|inner, now| inner.pool.snapshot(now))
    }

    /// How many tokens are in each state.
    pub fn state_counts(&self) -> StateCounts {
        self.shared.change(|inner, now| inner.pool.state_counts(now))
    }

    /// How many requests wait for a token.
    pub fn waiting(&self) -> usize {
        self.shared.lock().queue.len()
    }

    fn lease(&self, loan: Loan) -> Lease {
        Lease::new(Arc::clone(&self.shared), loan)
    }
}

impl fmt::Debug for TokenManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenManager").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

fn with_ids(key: &IdKey, specs: Vec<TokenSpec>) -> Vec<(TokenId, TokenSpec)> {
    specs.into_iter().map(|spec| (key.id(&spec.value), spec)).collect()
}

impl Shared {
    /// A panic under the lock is one request's bug: the others go on with the state as it is.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the pool, then serves those who wait. Whoever is to be woken is woken without the lock.
    fn change<R>(&self, change: impl FnOnce(&mut Inner, Instant) -> R) -> R {
        let now = Instant::now();
        let mut wakers = Wakers::default();
        let mut inner = self.lock();
        // First those who wait: a change that lends must not overtake them where time has freed a token.
        inner.serve(now, &mut wakers);
        let result = change(&mut inner, now);
        inner.serve(now, &mut wakers);
        drop(inner);
        wakers.wake();
        result
    }

    /// As [`change`](Self::change), for what depends on time only where somebody waits: the clock is not read for nothing.
    fn change_timeless(&self, change: impl FnOnce(&mut Pool, Instant)) {
        let mut wakers = Wakers::default();
        let mut inner = self.lock();
        if inner.queue.is_empty() {
            let latest = inner.pool.latest();
            return change(&mut inner.pool, latest);
        }
        let now = Instant::now();
        change(&mut inner.pool, now);
        inner.serve(now, &mut wakers);
        drop(inner);
        wakers.wake();
    }

    pub(crate) fn settle(&self, loan: &Loan, report: &Report) {
        if report.outcome == Outcome::Success && report.quota.is_none() {
            self.change_timeless(|pool, now| pool.settle(loan, report, now));
        } else {
            self.change(|inner, now| inner.pool.settle(loan, report, now));
        }
    }

    pub(crate) fn release(&self, loan: &Loan, told: Told) {
        self.change_timeless(|pool, now| pool.release(loan, told, now));
    }

    fn ask(&self, ask: &Ask<'_>) -> Asked {
        self.change(|inner, now| inner.ask(ask, now))
    }
}

impl Inner {
    fn ask(&mut self, ask: &Ask<'_>, now: Instant) -> Asked {
        let entropy = self.random.u64(..);
        if let Some(loan) = self.pool.lend_any(ask.tried, entropy, now) {
            return Asked::Answered(Ok(loan));
        }
        let params = *self.pool.params();
        let give_up = later(now, ask.max_wait.min(params.max_wait));
        let give_up = ask.deadline.map_or(give_up, |deadline| give_up.min(deadline));
        let refused = params.when_exhausted == WhenExhausted::Fail
            || give_up <= now
            || self.queue.len() >= params.max_waiting
            || self.forecast(now).is_later_than(give_up);
        if refused {
            return Asked::Answered(Err(self.exhausted(now)));
        }
        Asked::Waiting(self.queue.push(ask.tried, give_up), give_up)
    }

    /// What one who asks now has to expect.
    fn forecast(&mut self, now: Instant) -> Forecast {
        let ahead = self.queue.len();
        self.pool.forecast(ahead, now)
    }

    fn exhausted(&mut self, now: Instant) -> Exhausted {
        self.forecast(now).exhausted(self.pool.len(), now)
    }

    /// Lends to those who wait, in their order, as many tokens as there are; refuses those for whom none can come in time any more;
    /// and sees to it that the head wakes when the next token's time comes.
    fn serve(&mut self, now: Instant, wakers: &mut Wakers) {
        let Self { pool, queue, random } = self;
        while let Some(tried) = queue.head() {
            let Some(loan) = pool.lend_any(tried, random.u64(..), now) else { break };
            wakers.extend(queue.answer_head(Ok(loan)));
        }
        if queue.is_empty() {
            return;
        }
        let forecast = pool.forecast(0, now);
        if forecast != Forecast::Unknown {
            let refusal = forecast.exhausted(pool.len(), now);
            queue.answer_where(
                |give_up| forecast.is_later_than(give_up).then_some(Err(refusal)),
                |waker| wakers.0.push(waker),
            );
        }
        if let (Some(wake), Some(alarm)) = (pool.next_wake(), queue.alarm()) {
            if wake < alarm {
                wakers.extend(queue.rearm(wake));
            }
        }
    }
}

/// The moment `wait` from now; a year where the platform's clock does not reach that far.
fn later(now: Instant, wait: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    now.checked_add(wait).unwrap_or_else(|| now + YEAR)
}

/// Whom to wake once the lock is let go: a waker may run anything, the pool included.
#[derive(Default)]
struct Wakers(Vec<Waker>);

impl Wakers {
    fn extend(&mut self, waker: Option<Waker>) {
        self.0.extend(waker);
    }

    fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}
