use std::future::poll_fn;
use std::task::{Context, Poll};

use tokio::time::Instant;

use super::desk::Answer;
use super::{Shared, Wakers};
use crate::sync::{Timer, now};
use crate::wait_queue::Ticket;
use crate::{Exhausted, Lease, TokenId};

/// One who waits. Dropped before its answer, it leaves the queue, and a token that it was granted goes to the
/// next.
pub(super) struct Waiting<'a> {
    shared: &'a Shared,
    lane: u32,
    only: Option<TokenId>,
    ticket: Option<Ticket>,
    give_up: Instant,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        lane: u32,
        only: Option<TokenId>,
        ticket: Ticket,
        give_up: Instant,
    ) -> Self {
        Self { shared, lane, only, ticket: Some(ticket), give_up }
    }

    pub(super) async fn answer(mut self) -> Result<Lease, Exhausted> {
        let mut timer = Timer::new(self.give_up);
        let answer = poll_fn(|cx| self.poll(cx, &mut timer)).await;
        answer.map(Lease::new)
    }

    fn poll(&mut self, cx: &mut Context<'_>, timer: &mut Timer) -> Poll<Answer> {
        loop {
            let alarm = match self.look(cx) {
                Ok(answer) => {
                    self.ticket = None;
                    return Poll::Ready(answer);
                }
                Err(alarm) => alarm,
            };
            timer.set(alarm);
            std::task::ready!(timer.poll(cx));
        }
    }

    /// The answer, or else the moment at which to look again.
    fn look(&self, cx: &mut Context<'_>) -> Result<Answer, Instant> {
        let Some(ticket) = &self.ticket else { return Err(self.give_up) };
        let waker = cx.waker().clone();
        let mut wakers = Wakers::default();
        let now = now();
        let mut lanes = self.shared.lock();
        // A lane with waiters is never forgotten.
        let Some(desk) = lanes.get_mut(self.lane) else { return Err(self.give_up) };
        if desk.line(self.only).queue.alarm().is_some_and(|alarm| alarm <= now) || self.give_up <= now {
            desk.serve(now, &mut wakers);
        }
        let mut unused = None;
        let queue = &mut desk.line(self.only).queue;
        let result = if let Some(answer) = queue.take(ticket) {
            desk.forget_spent();
            Ok(answer)
        } else if self.give_up <= now {
            (_, unused) = queue.remove(ticket);
            let refusal = desk.exhausted(self.only, "", now);
            desk.forget_spent();
            // Who is next may have a timer to set.
            desk.serve(now, &mut wakers);
            Ok(Err(refusal))
        } else {
            unused = queue.register(ticket, waker);
            let mut alarm = self.give_up;
            if queue.is_head(ticket) {
                alarm = desk.pool.next_wake_for(self.only).map_or(alarm, |wake| wake.min(alarm));
                desk.line(self.only).queue.arm(alarm);
            }
            Err(alarm)
        };
        drop(lanes);
        drop(unused);
        result
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        let mut wakers = Wakers::default();
        let now = now();
        let mut lanes = self.shared.lock();
        let Some(desk) = lanes.get_mut(self.lane) else { return };
        let (answer, unused) = desk.line(self.only).queue.remove(&ticket);
        desk.forget_spent();
        if let Some(Ok(loan)) = &answer {
            desk.pool.take_back(loan, now);
            lanes.touch_others(loan, now);
        }
        lanes.serve_all(now, &mut wakers);
        drop(lanes);
        drop(unused);
    }
}
