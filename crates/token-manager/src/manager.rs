//! The pool among threads and tasks: the lock, the clock, the generator and the wait queue.

mod desk;
mod draws;
mod lanes;
mod line;
mod rush;
mod share;
mod waiting;

use std::fmt;
use std::sync::{Arc, RwLock, Weak};
use std::task::Waker;
use std::time::Duration;

use desk::{Asked, Desk};
use lanes::Lanes;
use tokio::sync::Notify;
use tokio::time::Instant;
use waiting::Waiting;

use crate::entry::Home;
use crate::pool::{Loan, Renewed, Told};
use crate::sync::{Mutex, MutexGuard, PoisonError, now};
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
    lanes: Mutex<Lanes>,
    /// Told of each rejection of a token.
    rejected: Notify,
}

impl TokenManager {
    /// A pool of these tokens. Of two specs with the same value the first counts.
    pub fn new(name: &str, params: PoolParams, specs: Vec<TokenSpec>, key: IdKey) -> Self {
        let specs = with_ids(&key, specs);
        let shared = Arc::new_cyclic(|shared: &Weak<Shared>| {
            let home = Arc::new(Home::of(shared.clone()));
            let lanes = Mutex::new(Lanes::new(Desk::new(params, specs, home, now())));
            Shared { name: name.into(), key: RwLock::new(key), lanes, rejected: Notify::new() }
        });
        Self { shared }
    }

    /// The pool's name in the settings.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The parameters as they are now.
    pub fn params(&self) -> PoolParams {
        *self.shared.lock().base().pool.params()
    }

    /// Lends a token: at once if one is ready, else after a wait: by turns between clients, and
    /// within one first come first served.
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
        let (lane, asked) =
            self.shared.change_in(ask.scope, |desk, elsewhere, now| desk.ask(&ask, elsewhere, now));
        match asked {
            Asked::Answered(answer) => answer.map(Lease::new),
            Asked::Waiting(ticket, give_up) => {
                Waiting::new(&self.shared, lane, ask.only, ticket, give_up).answer().await
            }
        }
    }

    /// Lends a ready token that is not among `tried`, without waiting and without overtaking those who wait.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] if there is none.
    pub fn try_acquire(&self, tried: &[TokenId]) -> Result<Lease, Exhausted> {
        self.try_acquire_in(None, tried)
    }

    /// [`try_acquire`](Self::try_acquire) for what is asked in a scope.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] if there is none.
    pub fn try_acquire_in(&self, scope: Option<&str>, tried: &[TokenId]) -> Result<Lease, Exhausted> {
        self.shared.change_in(scope, |desk, _, now| desk.try_lend(tried, now)).1.map(Lease::new)
    }

    /// The id of the token of this name, for [`Ask::only`]. Looks at one token after the other.
    pub fn find(&self, name: &str) -> Option<TokenId> {
        self.shared.lock().base().pool.find(name)
    }

    /// Whether the pool has a token of this id.
    pub fn has(&self, id: TokenId) -> bool {
        self.shared.lock().base().pool.has(id)
    }

    /// Whether [`try_acquire`](Self::try_acquire) would lend a token now.
    pub fn has_ready(&self, tried: &[TokenId]) -> bool {
        self.shared.change(|lanes, now| lanes.base_mut().pool.has_ready(tried, now))
    }

    /// How long one who asks now would wait: zero if a token is ready, a second where only the end of running
    /// requests can tell, none where no token is expected at all.
    pub fn predicted_wait(&self) -> Option<Duration> {
        self.shared.change(|lanes, now| lanes.base_mut().predicted_wait(now))
    }

    /// Charges a token with a fault that was found out after its lease was settled: a lone 403 to which
    /// another token then had a better answer. It cools down as after a 429, unless it has been rested or
    /// reset since.
    pub fn charge(&self, stamp: LeaseStamp, status: u16) {
        self.shared.change(|lanes, now| {
            if let Some(desk) = lanes.get_mut(stamp.lane) {
                desk.pool.charge(stamp.id, stamp.generation, status, now);
            }
        });
    }

    /// Forgets a token's failures and ends its rest. A disabled one stays disabled.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn reset(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|lanes, now| lanes.each(|pool| pool.reset(id, now)))
    }

    /// [`reset`](Self::reset) for all tokens.
    pub fn reset_all(&self) {
        self.shared.change(|lanes, now| lanes.each(|pool| pool.reset_all(now)));
    }

    /// Bars a token until [`enable`](Self::enable). What is out of it may end; its rest goes on beneath.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn disable(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|lanes, now| lanes.each(|pool| pool.disable(id, now)))
    }

    /// Allows a disabled token again. What is left of its rest, it rests.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the pool has none of this id.
    pub fn enable(&self, id: TokenId) -> Result<(), UnknownToken> {
        self.shared.change(|lanes, now| lanes.each(|pool| pool.enable(id, now)))
    }

    /// Takes these tokens for the pool's, in this order.
    ///
    /// A token that stays, known by its value, keeps its state and its leases. One that goes gets no new
    /// request. One that comes is ready, also where it is a new value under a known name.
    pub fn reload(&self, specs: Vec<TokenSpec>) {
        self.reload_renewed(specs, Renewed::No);
    }

    /// As [`reload`](Self::reload), but a new value under the name of a token that goes is that token renewed: it
    /// keeps its limits and its rest, unless it was the old value that was rejected.
    pub fn renew(&self, specs: Vec<TokenSpec>) {
        self.reload_renewed(specs, Renewed::ByName);
    }

    fn reload_renewed(&self, specs: Vec<TokenSpec>, renewed: Renewed) {
        // Held to the end: a new key must not come between the ids and their entry.
        let key = self.shared.key.read().unwrap_or_else(PoisonError::into_inner);
        let specs = with_ids(&key, specs);
        self.shared.change(|lanes, now| lanes.reload(specs, renewed, now));
    }

    /// Waits until a token is rejected; one that was since this was last awaited counts.
    pub async fn rejection(&self) {
        self.shared.rejected.notified().await;
    }

    /// Takes effect at once. Rests that have begun stay as they are.
    pub fn set_params(&self, params: PoolParams) {
        self.shared.change(|lanes, now| lanes.set_params(params, now));
    }

    /// Each token's state, in the settings' order.
    pub fn snapshot(&self) -> Vec<TokenStatus> {
        self.shared.change(Lanes::snapshot)
    }

    /// How many tokens are in each state.
    pub fn state_counts(&self) -> StateCounts {
        self.shared.change(|lanes, now| lanes.base_mut().pool.state_counts(now))
    }

    /// How many requests wait for a token.
    pub fn waiting(&self) -> usize {
        self.shared.lock().waiting()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
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
    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the pool, then serves those who wait. Whoever is to be woken is woken without the
    /// lock.
    fn change<R>(&self, change: impl FnOnce(&mut Lanes, Instant) -> R) -> R {
        let now = now();
        let mut wakers = Wakers::default();
        let mut lanes = self.lock();
        // First those who wait: a change that lends must not overtake them where time has freed a token.
        lanes.serve_all(now, &mut wakers);
        let result = change(&mut lanes, now);
        lanes.serve_all(now, &mut wakers);
        lanes.call_courier(&mut wakers);
        result
    }

    /// Asks something of a scope's lane, whose number is returned beside the answer. The change is told how
    /// many wait in the other lanes.
    fn change_in<R>(
        &self,
        scope: Option<&str>,
        change: impl FnOnce(&mut Desk, usize, Instant) -> R,
    ) -> (u32, R) {
        let now = now();
        let mut wakers = Wakers::default();
        let mut lanes = self.lock();
        let lane = lanes.find(scope, now);
        let elsewhere = lanes.waiting_beside(lane);
        let desk = lanes.get_or_base(lane);
        desk.serve(now, &mut wakers);
        let result = change(desk, elsewhere, now);
        desk.serve(now, &mut wakers);
        // A lend can be what makes a pace a faster one.
        let has_news = desk.pool.untold() > 0;
        lanes.tell_lends(now);
        if has_news {
            lanes.call_courier(&mut wakers);
        } else {
            lanes.call_courier_of_new(&mut wakers);
        }
        (lane, result)
    }

    /// What came of a lease; with a scope that the response names, it is that scope's.
    pub(crate) fn settle(&self, loan: &Loan, scope: Option<&str>, report: &Report) {
        self.change_lane(loan, Now::Read, |lanes, now| lanes.settle(loan, scope, report, now));
        if report.outcome == Outcome::Rejected {
            self.rejected.notify_one();
        }
    }

    /// A lease has ended that the pool must hear of.
    pub(crate) fn left(&self, loan: &Loan, told: Told) {
        self.change_lane(loan, Now::Latest, |lanes, now| lanes.left(loan, told, now));
    }

    fn change_lane(&self, loan: &Loan, which: Now, change: impl FnOnce(&mut Lanes, Instant)) {
        let mut wakers = Wakers::default();
        let mut lanes = self.lock();
        let nobody_waits = lanes.waiting() == 0;
        let now = match lanes.get_mut(loan.lane) {
            Some(desk) if which == Now::Latest && nobody_waits && !desk.pool.counts_leases() => {
                desk.pool.latest()
            }
            _ => now(),
        };
        change(&mut lanes, now);
        if !nobody_waits {
            lanes.serve_all(now, &mut wakers);
        }
        lanes.call_courier(&mut wakers);
    }
}

/// Which moment a change is told: what depends on time only where somebody waits need not read the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Now {
    Read,
    /// The latest that the pool has seen, where nobody waits.
    Latest,
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
    #[inline]
    fn drop(&mut self) {
        std::mem::take(&mut self.0).into_iter().for_each(Waker::wake);
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_under_the_lock_stops_nobody_else() {
        let specs = vec![TokenSpec::new("a")];
        let pool = TokenManager::new("tests", PoolParams::default(), specs, IdKey::from_bytes(b"tests"));
        let panicked =
            catch_unwind(AssertUnwindSafe(|| pool.shared.change(|_, _| panic!("a bug of our own"))));
        assert!(panicked.is_err() && pool.shared.lanes.is_poisoned());
        let mut lease = pool.try_acquire(&[]).unwrap();
        lease.settle(&Report::new(Outcome::Success));
        drop(lease);
        assert_eq!(pool.snapshot()[0].successes, 1);
    }
}
