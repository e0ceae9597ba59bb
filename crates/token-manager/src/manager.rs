//! The pool among threads and tasks: the lock, the clock, the generator and the wait queue.

mod desk;
mod share;
mod waiting;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::Waker;
use std::time::Duration;

use desk::{Asked, Desk};
use tokio::time::Instant;
use waiting::Waiting;

use crate::pool::{Loan, Pool, Told};
use crate::{
    Ask, Exhausted, IdKey, Lease, LeaseStamp, Outcome, PoolParams, Report, StateCounts, TokenId, TokenSpec,
    TokenStatus, UnknownToken,
};

/// A pool of tokens: lends them, rests those that were refused, and lets requests wait for them.
///
/// Cloning is cheap, and all clones are one pool. Every time is [`tokio::time::Instant`]'s, so that a paused
/// clock drives it.
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
    name: Arc<str>,
    key: RwLock<IdKey>,
    desk: Mutex<Desk>,
}

impl TokenManager {
    /// A pool of these tokens. Of two specs with the same value the first counts.
    pub fn new(name: &str, params: PoolParams, specs: Vec<TokenSpec>, key: IdKey) -> Self {
        let desk = Mutex::new(Desk::new(params, with_ids(&key, specs), Instant::now()));
        Self { shared: Arc::new(Shared { name: name.into(), key: RwLock::new(key), desk }) }
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
    /// A token that the request has not tried comes first. If none is ready, one that it has tried is lent
    /// once it is ready again. The future may be dropped at any time: a token that was granted meanwhile goes
    /// to the next.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when no token came in time, and at once when none can: when the wait to expect is longer
    /// than the one allowed, when `max_waiting` wait already, and with
    /// [`WhenExhausted::Fail`](crate::WhenExhausted::Fail).
    ///
    /// # Panics
    ///
    /// Where it has to wait outside of a tokio runtime with its time driver enabled.
    pub async fn acquire(&self, ask: Ask<'_>) -> Result<Lease, Exhausted> {
        match self.shared.change(|desk, now| desk.ask(&ask, now)) {
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
        self.shared.change(|desk, now| desk.try_lend(tried, now)).map(|loan| self.lease(loan))
    }

    /// Whether [`try_acquire`](Self::try_acquire) would lend a token now.
    pub fn has_ready(&self, tried: &[TokenId]) -> bool {
        self.shared.change(|desk, now| desk.pool.has_ready(tried, now))
    }

    /// How long one who asks now would wait: zero if a token is ready, a second where only the end of running
    /// requests can tell, none where no token is expected at all.
    pub fn predicted_wait(&self) -> Option<Duration> {
        self.shared.change(|desk, now| desk.forecast(now).wait(now))
    }

    /// Charges a token with a fault that was found out after its lease was settled: a lone 403 to which
    /// another token then had a better answer. It cools down as after a 429, unless it has been rested or
    /// reset since.
    pub fn charge(&self, stamp: LeaseStamp, status: u16) {
        self.shared.change(|desk, now| desk.pool.charge(stamp.id, stamp.generation, status, now));
    }

    /// Forgets a token's failures and ends its rest. A disabled one stays disabled.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn reset(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|desk, now| desk.pool.reset(id, now))
    }

    /// [`reset`](Self::reset) for all tokens.
    pub fn reset_all(&self) {
        self.shared.change(|desk, now| desk.pool.reset_all(now));
    }

    /// Bars a token until [`enable`](Self::enable). What is out of it may end; its rest goes on beneath.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn disable(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|desk, now| desk.pool.disable(id, now))
    }

    /// Allows a disabled token again. What is left of its rest, it rests.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn enable(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|desk, now| desk.pool.enable(id, now))
    }

    /// Takes these tokens for the pool's, in this order.
    ///
    /// A token that stays, known by its value, keeps its state and its leases. One that goes gets no new
    /// request. One that comes is ready, also where it is a new value under a known name.
    pub fn reload(&self, specs: Vec<TokenSpec>) {
        // Held to the end: a new key must not come between the ids and their entry.
        let key = self.shared.key.read().unwrap_or_else(PoisonError::into_inner);
        let specs = with_ids(&key, specs);
        self.shared.change(|desk, now| desk.pool.reload(specs, now));
    }

    /// Takes effect at once. Rests that have begun stay as they are.
    pub fn set_params(&self, params: PoolParams) {
        self.shared.change(|desk, now| desk.pool.set_params(params, now));
    }

    /// Each token's state, in the settings' order.
    pub fn snapshot(&self) -> Vec<TokenStatus> {
        self.shared.change(|desk, now| desk.pool.snapshot(now))
    }

    /// How many tokens are in each state.
    pub fn state_counts(&self) -> StateCounts {
        self.shared.change(|desk, now| desk.pool.state_counts(now))
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
    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the pool, then serves those who wait. Whoever is to be woken is woken without the
    /// lock.
    fn change<R>(&self, change: impl FnOnce(&mut Desk, Instant) -> R) -> R {
        let now = Instant::now();
        let mut wakers = Wakers::default();
        let mut desk = self.lock();
        // First those who wait: a change that lends must not overtake them where time has freed a token.
        desk.serve(now, &mut wakers);
        let result = change(&mut desk, now);
        desk.serve(now, &mut wakers);
        desk.call_courier(&mut wakers);
        result
    }

    /// As [`change`](Self::change), for what depends on time only where somebody waits: the clock is not read
    /// for nothing.
    fn change_timeless(&self, change: impl FnOnce(&mut Pool, Instant)) {
        let mut wakers = Wakers::default();
        let mut desk = self.lock();
        if desk.queue.is_empty() {
            let latest = desk.pool.latest();
            change(&mut desk.pool, latest);
            return desk.call_courier(&mut wakers);
        }
        let now = Instant::now();
        change(&mut desk.pool, now);
        desk.serve(now, &mut wakers);
        desk.call_courier(&mut wakers);
    }

    pub(crate) fn settle(&self, loan: &Loan, report: &Report) {
        if report.outcome == Outcome::Success && report.quota.is_none() {
            self.change_timeless(|pool, now| pool.settle(loan, report, now));
        } else {
            self.change(|desk, now| desk.pool.settle(loan, report, now));
        }
    }

    pub(crate) fn release(&self, loan: &Loan, told: Told) {
        self.change_timeless(|pool, now| pool.release(loan, told, now));
    }
}

/// Whom to wake, which happens when this is dropped. It is made before the lock is taken and so outlives it,
/// by a panic too: a waker may run anything, the pool included, and a grant of which nobody is told would be
/// lost.
#[derive(Default)]
struct Wakers(Vec<Waker>);

impl Wakers {
    fn extend(&mut self, waker: Option<Waker>) {
        self.0.extend(waker);
    }

    fn push(&mut self, waker: Waker) {
        self.0.push(waker);
    }
}

impl Drop for Wakers {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_under_the_lock_stops_nobody_else() {
        let specs = vec![TokenSpec::new("a")];
        let pool = TokenManager::new("tests", PoolParams::default(), specs, IdKey::from_bytes(b"tests"));
        let panicked =
            catch_unwind(AssertUnwindSafe(|| pool.shared.change(|_, _| panic!("a bug of our own"))));
        assert!(panicked.is_err() && pool.shared.desk.is_poisoned());
        let mut lease = pool.try_acquire(&[]).unwrap();
        lease.settle(&Report::new(Outcome::Success));
        drop(lease);
        assert_eq!(pool.snapshot()[0].successes, 1);
    }
}
