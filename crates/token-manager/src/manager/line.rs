use tokio::time::Instant;

use super::Wakers;
use super::desk::Answer;
use crate::TokenId;
use crate::pool::{Forecast, Pool};
use crate::wait_queue::{Comes, Others, WaitQueue};

/// Those who wait for the same: for any token, or for one and no other.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) only: Option<TokenId>,
    pub(super) queue: WaitQueue<Answer>,
    /// All who wait do so to this moment or longer; none where that is not known.
    all_wait_to: Option<Instant>,
    pub(super) turn: Turn,
}

/// Who is lent one token next: those who want just that one, or those who take any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Own,
    Others,
}

impl Line {
    pub(super) fn new(only: Option<TokenId>) -> Self {
        Self { only, queue: WaitQueue::new(), all_wait_to: None, turn: Turn::Others }
    }

    /// Lends to the head. Returns which token, if there was one.
    pub(super) fn serve_head(
        &mut self,
        pool: &mut Pool,
        entropy: u64,
        now: Instant,
        wakers: &mut Wakers,
    ) -> Option<TokenId> {
        let loan = pool.lend_for(self.only, self.queue.head()?, entropy, now)?;
        let lent = loan.entry.id();
        wakers.extend(self.queue.answer_head(Ok(loan)));
        self.turn = Turn::Others;
        Some(lent)
    }

    /// What one of this client who joins now has to expect.
    pub(super) fn forecast(
        &self,
        client: &str,
        comes: Comes,
        others: Others,
        pool: &mut Pool,
        now: Instant,
    ) -> Forecast {
        pool.forecast_for(self.only, self.queue.ahead_of(client, comes, others), now)
    }

    /// After the lends: refuses those for whom no token can come in time any more, and sees to it that the head
    /// wakes when the next one's time comes.
    pub(super) fn look_ahead(&mut self, pool: &mut Pool, now: Instant, wakers: &mut Wakers) {
        if self.queue.is_empty() {
            return;
        }
        self.refuse_the_hopeless(pool, now, wakers);
        if let (Some(wake), Some(alarm)) = (pool.next_wake_for(self.only), self.queue.alarm()) {
            if wake < alarm {
                wakers.extend(self.queue.rearm(wake));
            }
        }
    }

    /// The queue is gone through only when the next token has moved further away: who joins it is looked at
    /// then.
    fn refuse_the_hopeless(&mut self, pool: &mut Pool, now: Instant, wakers: &mut Wakers) {
        let forecast = pool.forecast_for(self.only, 0, now);
        let expected = match forecast {
            Forecast::At(at) => Some(at),
            Forecast::Unknown | Forecast::Never => None,
        };
        let all_can_wait =
            forecast == Forecast::Unknown || expected.is_some_and(|at| self.all_wait_to >= Some(at));
        self.all_wait_to = expected;
        if !all_can_wait {
            let refusal = pool.exhausted_for(self.only, forecast, now);
            self.queue.answer_where(
                |give_up| forecast.is_later_than(give_up).then_some(Err(refusal)),
                |waker| wakers.push(waker),
            );
        }
    }
}
