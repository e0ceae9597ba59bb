use std::sync::Arc;
use std::time::Duration;

use std::task::Waker;

use tokio::time::Instant;

use super::Wakers;
use crate::entry::Home;
use crate::pool::{Forecast, Loan, Pool};
use crate::wait_queue::{Ticket, WaitQueue};
use crate::{Ask, Exhausted, PoolParams, TokenId, TokenSpec, WhenExhausted};

/// What stands under the manager's lock: the tokens and those who wait for them. It is told the time.
///
/// Whoever changes the pool calls [`serve`](Self::serve) before the lock is let go. Then nobody waits while a
/// token can be lent, which is why one who asks may take a ready token without a look at the queue.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) pool: Pool,
    pub(super) queue: WaitQueue<Answer>,
    random: fastrand::Rng,
    /// Who is woken when there are news to tell.
    pub(super) courier: Option<Waker>,
    /// All who wait do so to this moment or longer; none where that is not known.
    all_wait_to: Option<Instant>,
}

/// What a waiter gets.
pub(super) type Answer = Result<Loan, Exhausted>;

/// What comes of asking.
pub(super) enum Asked {
    Answered(Answer),
    Waiting(Ticket, Instant),
}

impl Desk {
    pub(super) fn new(
        params: PoolParams,
        specs: Vec<(TokenId, TokenSpec)>,
        home: Arc<Home>,
        now: Instant,
    ) -> Self {
        let mut pool = Pool::new(params, home, now);
        pool.reload(specs, now);
        Self::over(pool)
    }

    /// Nobody waits yet.
    pub(super) fn over(pool: Pool) -> Self {
        Self { pool, queue: WaitQueue::new(), random: fastrand::Rng::new(), courier: None, all_wait_to: None }
    }

    /// Lends a ready token that is not among `tried`, or refuses.
    pub(super) fn try_lend(&mut self, tried: &[TokenId], now: Instant) -> Answer {
        let entropy = self.random.u64(..);
        self.pool.lend_untried(tried, entropy, now).ok_or_else(|| self.exhausted("", now))
    }

    /// Lends, lets wait, or refuses. `elsewhere` is how many wait in other lanes.
    pub(super) fn ask(&mut self, ask: &Ask<'_>, elsewhere: usize, now: Instant) -> Asked {
        let entropy = self.random.u64(..);
        if let Some(loan) = self.pool.lend_any(ask.tried, entropy, now) {
            return Asked::Answered(Ok(loan));
        }
        let params = *self.pool.params();
        let client = ask.client.unwrap_or_default();
        let give_up = later(now, ask.max_wait.min(params.max_wait));
        let give_up = ask.deadline.map_or(give_up, |deadline| give_up.min(deadline));
        let refused = params.when_exhausted == WhenExhausted::Fail
            || give_up <= now
            || self.queue.len() + elsewhere >= params.max_waiting
            || self.forecast(client, now).is_later_than(give_up);
        if refused {
            return Asked::Answered(Err(self.exhausted(client, now)));
        }
        Asked::Waiting(self.queue.push(client, ask.tried, give_up), give_up)
    }

    /// What one of this client who asks now has to expect.
    pub(super) fn forecast(&mut self, client: &str, now: Instant) -> Forecast {
        let ahead = self.queue.ahead_of(client);
        self.pool.forecast(ahead, now)
    }

    pub(super) fn exhausted(&mut self, client: &str, now: Instant) -> Exhausted {
        self.forecast(client, now).exhausted(self.pool.len(), now)
    }

    /// Lends to those who wait, in their order, as many tokens as there are; refuses those for whom none can
    /// come in time any more; and sees to it that the head wakes when the next token's time comes.
    pub(super) fn serve(&mut self, now: Instant, wakers: &mut Wakers) {
        let Self { pool, queue, random, .. } = self;
        while let Some(tried) = queue.head() {
            let Some(loan) = pool.lend_any(tried, random.u64(..), now) else { break };
            wakers.extend(queue.answer_head(Ok(loan)));
        }
        if queue.is_empty() {
            return;
        }
        self.refuse_the_hopeless(now, wakers);
        if let (Some(wake), Some(alarm)) = (self.pool.next_wake(), self.queue.alarm()) {
            if wake < alarm {
                wakers.extend(self.queue.rearm(wake));
            }
        }
    }

    /// The queue is gone through only when the next token has moved further away: who joins it is looked at
    /// then.
    fn refuse_the_hopeless(&mut self, now: Instant, wakers: &mut Wakers) {
        let forecast = self.pool.forecast(0, now);
        let expected = match forecast {
            Forecast::At(at) => Some(at),
            Forecast::Unknown | Forecast::Never => None,
        };
        let all_can_wait =
            forecast == Forecast::Unknown || expected.is_some_and(|at| self.all_wait_to >= Some(at));
        self.all_wait_to = expected;
        if !all_can_wait {
            let refusal = forecast.exhausted(self.pool.len(), now);
            self.queue.answer_where(
                |give_up| forecast.is_later_than(give_up).then_some(Err(refusal)),
                |waker| wakers.push(waker),
            );
        }
    }
}

/// The moment `wait` from now; a year where the platform's clock does not reach that far.
fn later(now: Instant, wait: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    now.checked_add(wait).unwrap_or_else(|| now + YEAR)
}
