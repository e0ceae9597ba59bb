use std::time::Duration;

use tidegate_token_manager::TokenStatus;

use super::operator::{Operator, Overview, Readiness};
use super::tokens::{Now, TokenView, whole_millis};
use super::update::{BudgetView, PoolView, RequestView, Row, Update};
use crate::live::{Live, SLOT, Slot};

/// How far one dashboard has been told what happens.
#[derive(Debug, Default)]
pub(super) struct Watch {
    begun: bool,
    /// The number of the first second, and of the first request, that it does not know.
    second: u64,
    request: u64,
    tokens: Vec<Known>,
}

/// A token as it was last told.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    /// One token may be in two pools.
    key: String,
    pool: String,
    /// Without the time that is left, which changes by itself.
    status: TokenStatus,
    retry_in: Unheeded,
    history: Vec<Slot>,
}

/// Two of them are equal, whatever they say.
#[derive(Clone, Copy, Debug)]
struct Unheeded(Duration);

impl PartialEq for Unheeded {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Watch {
    /// The next update as JSON; none where nothing has happened since the last one and no second is over.
    pub(super) fn next(&mut self, operator: &dyn Operator, now: Now) -> Option<String> {
        let live = operator.live();
        let second = live.second(now.instant);
        let tokens = tokens(operator, live, now);
        let requests = live.requests(self.request);
        let others = !self.begun || !tokens.iter().map(|t| &t.key).eq(self.tokens.iter().map(|t| &t.key));
        let changed: Vec<&Known> = match others {
            true => tokens.iter().collect(),
            false => {
                tokens.iter().zip(&self.tokens).filter(|(new, old)| new != old).map(|(new, _)| new).collect()
            }
        };
        if second == self.second && changed.is_empty() && !others && requests.is_empty() {
            return None;
        }
        if others {
            live.keep(|id| tokens.iter().any(|token| token.status.id == id));
        }
        let Overview { pools, budgets, in_flight } = operator.overview();
        let update = Update {
            full: !self.begun,
            readiness: match operator.readiness() {
                Readiness::Ready => "ready",
                Readiness::Starting => "starting",
                Readiness::Stopping => "stopping",
            },
            version: env!("CARGO_PKG_VERSION"),
            second,
            slot_seconds: SLOT,
            in_flight,
            pools: pools
                .iter()
                .map(|pool| PoolView {
                    name: &pool.name,
                    waiting: pool.waiting,
                    predicted_wait_ms: pool.predicted_wait.map(whole_millis),
                })
                .collect(),
            budgets: budgets
                .iter()
                .map(|(upstream, balance)| BudgetView { upstream, balance: *balance })
                .collect(),
            order: others.then(|| tokens.iter().map(|token| token.key.as_str()).collect()),
            tokens: changed.into_iter().map(|token| row(token, now)).collect(),
            figures: live.figures(now.instant).into(),
            seconds: live.seconds(self.second, now.instant).iter().map(Into::into).collect(),
            requests: requests.iter().map(|(number, seen)| RequestView::new(*number, seen, now)).collect(),
        };
        let text = serde_json::to_string(&update);
        self.begun = true;
        self.second = second;
        self.request = requests.last().map_or(self.request, |(number, _)| number + 1);
        self.tokens = tokens;
        text.inspect_err(|error| tracing::error!(%error, "an update of the dashboard cannot be written")).ok()
    }
}

fn tokens(operator: &dyn Operator, live: &Live, now: Now) -> Vec<Known> {
    let pools = operator.tokens().into_iter();
    let known = |pool: &str, mut status: TokenStatus| {
        let retry_in = Unheeded(std::mem::take(&mut status.retry_in));
        let (key, history) = (format!("{pool} {}", status.id), live.history(status.id, now.instant));
        Known { key, pool: pool.to_owned(), status, retry_in, history }
    };
    pools.flat_map(|(pool, tokens)| tokens.into_iter().map(move |status| known(&pool, status))).collect()
}

fn row(token: &Known, now: Now) -> Row<'_> {
    let status = TokenStatus { retry_in: token.retry_in.0, ..token.status.clone() };
    Row {
        key: &token.key,
        token: TokenView::new(&token.pool, status, now),
        history: token.history.iter().map(|slot| (slot.number, slot.successes, slot.refusals)).collect(),
    }
}
