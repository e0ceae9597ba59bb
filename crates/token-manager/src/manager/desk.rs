use std::sync::Arc;
use std::time::Duration;

use std::task::Waker;

use tokio::time::Instant;

use super::Wakers;
use super::draws::Draws;
use super::line::{Line, Turn};
use super::rush::{First, Rush};
use crate::entry::Home;
use crate::pool::{Forecast, Loan, Pool};
use crate::wait_queue::{Comes, Others, Ticket};
use crate::{Ask, Exhausted, PoolParams, TokenId, TokenSpec, WhenExhausted};

/// What stands under the manager's lock: the tokens and those who wait for them. It is told the time.
///
/// Whoever changes the pool calls [`serve`](Self::serve) before the lock is let go. Then nobody waits while a
/// token can be lent, which is why one who asks may take a ready token without a look at the queues.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) pool: Pool,
    /// Those who take any token.
    any: Line,
    /// Those who want one token and no other: a line for each such token. One whose token is not there keeps
    /// nobody else from his.
    pinned: Vec<Line>,
    rush: Rush,
    draws: Draws,
    /// Who is woken when there are news to tell.
    pub(super) courier: Option<Waker>,
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
        Self {
            pool,
            any: Line::new(None),
            pinned: Vec::new(),
            rush: Rush::default(),
            draws: Draws::new(),
            courier: None,
        }
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.lines().map(|line| line.queue.len()).sum()
    }

    /// Whether nobody waits, nor has an answer to fetch.
    pub(super) fn is_idle(&self) -> bool {
        self.lines().all(|line| line.queue.is_spent())
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        std::iter::once(&self.any).chain(&self.pinned)
    }

    /// Those who wait for any token, or for `only`. Such a line is there as long as it has a ticket out.
    pub(super) fn line(&mut self, only: Option<TokenId>) -> &mut Line {
        let Some(only) = only else { return &mut self.any };
        let line = self.pinned.iter().position(|line| line.only == Some(only));
        let line = line.unwrap_or_else(|| {
            self.pinned.push(Line::new(Some(only)));
            self.pinned.len() - 1
        });
        &mut self.pinned[line]
    }

    /// A ticket is spent: a line of which none is left is forgotten.
    pub(super) fn forget_spent(&mut self) {
        self.pinned.retain(|line| !line.queue.is_spent());
    }

    /// Lends a ready token that is not among `tried`, or refuses.
    pub(super) fn try_lend(&mut self, tried: &[TokenId], now: Instant) -> Answer {
        let entropy = self.draws.next(&self.pool);
        self.pool.lend_untried(tried, entropy, now).ok_or_else(|| self.exhausted(None, "", now))
    }

    /// Lends, lets wait, or refuses. `elsewhere` is how many wait in other lanes.
    pub(super) fn ask(&mut self, ask: &Ask<'_>, elsewhere: usize, now: Instant) -> Asked {
        let entropy = self.draws.next(&self.pool);
        if let Some(loan) = self.pool.lend_for(ask.only, ask.tried, entropy, now) {
            return Asked::Answered(Ok(loan));
        }
        let params = *self.pool.params();
        let first = if self.waiting() == 0 { First::Yes } else { First::No };
        let in_a_rush = self.rush.joins(first, params.max_wait, now);
        let client = ask.client.unwrap_or_default();
        let comes = Comes::having(ask.tried);
        let give_up = later(now, ask.max_wait.min(params.max_wait));
        let give_up = ask.deadline.map_or(give_up, |deadline| give_up.min(deadline));
        let refused = params.when_exhausted == WhenExhausted::Fail
            || give_up <= now
            || self.waiting() + elsewhere >= params.max_waiting
            || match self.pool.patience(self.rush.stood(now)).filter(|_| !in_a_rush && comes == Comes::First)
            {
                Some(patience) => {
                    self.stands_too_long(ask.only, client, give_up.min(later(now, patience)), now)
                }
                None => self.forecast(ask.only, client, comes, Others::Stay, now).is_later_than(give_up),
            };
        if refused {
            return Asked::Answered(Err(self.exhausted(ask.only, client, now)));
        }
        Asked::Waiting(self.line(ask.only).queue.push(client, ask.tried, give_up), give_up)
    }

    /// Whether a queue stands from which one of this client would not come out by then. In a pool that is paced, who
    /// waits takes the place of those who come later: so the other clients are believed to go on asking.
    fn stands_too_long(&mut self, only: Option<TokenId>, client: &str, at: Instant, now: Instant) -> bool {
        self.forecast(only, client, Comes::First, Others::Come, now).is_later_than(at)
    }

    /// How long one would wait who asks now.
    pub(super) fn predicted_wait(&mut self, now: Instant) -> Option<Duration> {
        self.forecast(None, "", Comes::First, Others::Stay, now).wait(now)
    }

    /// What one of this client who asks now has to expect.
    fn forecast(
        &mut self,
        only: Option<TokenId>,
        client: &str,
        comes: Comes,
        others: Others,
        now: Instant,
    ) -> Forecast {
        let Self { pool, any, pinned, .. } = self;
        let line = match only {
            None => Some(&*any),
            Some(_) => pinned.iter().find(|line| line.only == only),
        };
        match line {
            Some(line) => line.forecast(client, comes, others, pool, now),
            None => pool.forecast_for(only, 0, now),
        }
    }

    pub(super) fn exhausted(&mut self, only: Option<TokenId>, client: &str, now: Instant) -> Exhausted {
        let forecast = self.forecast(only, client, Comes::First, Others::Stay, now);
        self.pool.exhausted_for(only, forecast, now)
    }

    /// Lends to those who wait, in their order, as many tokens as there are; refuses those for whom none can
    /// come in time any more; and sees to it that the heads wake when the next token's time comes.
    ///
    /// Where both those who want just this token and those who take any wait for it, they are lent it by turns.
    #[inline]
    pub(super) fn serve(&mut self, now: Instant, wakers: &mut Wakers) {
        if self.waiting() > 0 {
            self.serve_lines(now, wakers);
        }
    }

    fn serve_lines(&mut self, now: Instant, wakers: &mut Wakers) {
        self.rush.goes_on(now);
        let Self { pool, any, pinned, draws, .. } = self;
        for line in pinned.iter_mut().filter(|line| line.turn == Turn::Own) {
            line.serve_head(pool, 0, now, wakers);
        }
        while !any.queue.is_empty() {
            let Some(lent) = any.serve_head(pool, draws.next(pool), now, wakers) else { break };
            if let Some(line) = pinned.iter_mut().find(|line| line.only == Some(lent)) {
                line.turn = Turn::Own;
            }
        }
        for line in &mut *pinned {
            while line.serve_head(pool, 0, now, wakers).is_some() {}
        }
        any.look_ahead(pool, now, wakers);
        pinned.iter_mut().for_each(|line| line.look_ahead(pool, now, wakers));
    }
}

/// The moment `wait` from now; a year where the platform's clock does not reach that far.
fn later(now: Instant, wait: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    now.checked_add(wait).unwrap_or_else(|| now + YEAR)
}
