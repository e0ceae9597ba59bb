//! One event of the dashboard, as JSON. A token is named by its id, and a path has no query.

use serde::Serialize;
use tidegate_api_client::{Attempt, Ended};

use super::tokens::{Now, TokenView};
use crate::access_log::Printable;
use crate::live::{Figures, Second, Seen, Service, millis};

/// Paths are shown to this length: a list of fifty requests stays one that can be read.
const LONGEST_PATH: usize = 200;

/// Tokens, seconds and requests are those that are new since the update before; with `full` all of them.
#[derive(Debug, Serialize)]
pub(super) struct Update<'a> {
    pub(super) full: bool,
    pub(super) readiness: &'static str,
    pub(super) version: &'static str,
    /// The second that runs, counted from the start of the process.
    pub(super) second: u64,
    pub(super) slot_seconds: u64,
    pub(super) in_flight: u64,
    pub(super) pools: Vec<PoolView<'a>>,
    pub(super) budgets: Vec<BudgetView<'a>>,
    /// The keys of all tokens, where there are others than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) order: Option<Vec<&'a str>>,
    pub(super) tokens: Vec<Row<'a>>,
    pub(super) figures: FiguresView,
    pub(super) seconds: Vec<SecondView>,
    /// Oldest first.
    pub(super) requests: Vec<RequestView>,
}

#[derive(Debug, Serialize)]
pub(super) struct PoolView<'a> {
    pub(super) name: &'a str,
    pub(super) waiting: usize,
    /// What a request that asks for a token now has to expect; null where no token is expected at all.
    pub(super) predicted_wait_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct BudgetView<'a> {
    pub(super) upstream: &'a str,
    /// Retries that it would grant now.
    pub(super) balance: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    pub(super) key: &'a str,
    #[serde(flatten)]
    pub(super) token: TokenView,
    /// Slot, successes and refusals, where there were any.
    pub(super) history: Vec<(u64, u32, u32)>,
}

/// Of the last complete seconds, ten at most.
#[derive(Debug, Serialize)]
pub(super) struct FiguresView {
    seconds: u64,
    requests: u64,
    served: u64,
    failed: u64,
    attempts: u64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
}

impl From<Figures> for FiguresView {
    fn from(figures: Figures) -> Self {
        let Figures { seconds, requests, served, failed, attempts, p50, p99 } = figures;
        Self { seconds, requests, served, failed, attempts, p50_ms: p50.map(tenths), p99_ms: p99.map(tenths) }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct SecondView {
    number: u64,
    requests: u32,
    served: u32,
    failed: u32,
    attempts: u32,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
}

impl From<&Second> for SecondView {
    fn from(second: &Second) -> Self {
        Self {
            number: second.number,
            requests: second.requests,
            served: second.served,
            failed: second.failed,
            attempts: second.attempts,
            p50_ms: second.p50().map(tenths),
            p99_ms: second.p99().map(tenths),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct RequestView {
    number: u64,
    id: String,
    /// When it came.
    at: Option<String>,
    method: String,
    path: String,
    route: String,
    client: Option<String>,
    /// Null where the caller had gone.
    status: Option<u16>,
    service: &'static str,
    took_ms: u64,
    attempts: Vec<AttemptView>,
}

impl RequestView {
    pub(super) fn new(number: u64, seen: &Seen, now: Now) -> Self {
        let path = Printable(&seen.asked.path).to_string();
        Self {
            number,
            id: seen.asked.id.clone(),
            at: now.show(seen.at),
            method: seen.asked.method.to_string(),
            path: match path.get(..LONGEST_PATH) {
                Some(beginning) if path.len() > LONGEST_PATH => format!("{beginning}..."),
                _ => path,
            },
            route: seen.route.clone(),
            client: seen.client.as_deref().map(str::to_owned),
            status: seen.status.map(|status| status.as_u16()),
            service: match Service::of(seen.status) {
                Service::Served => "served",
                Service::Failed => "failed",
                Service::Left => "left",
            },
            took_ms: millis(seen.took),
            attempts: seen.attempts.iter().map(AttemptView::from).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct AttemptView {
    cause: &'static str,
    token: Option<String>,
    /// A status, or the kind of the error.
    ended: String,
    /// Whose fault the end was; null where its caller left it.
    fault: Option<&'static str>,
    /// The back-off before it, and the wait for its token after that.
    wait_ms: u64,
    token_wait_ms: u64,
    took_ms: u64,
}

impl From<&Attempt> for AttemptView {
    fn from(attempt: &Attempt) -> Self {
        Self {
            cause: attempt.cause.as_str(),
            token: attempt.token.map(|token| token.to_string()),
            ended: match attempt.ended {
                Ended::Status(status) => status.as_str().to_owned(),
                Ended::Failed(kind) => kind.to_owned(),
                Ended::Unfinished => "unfinished".to_owned(),
            },
            fault: attempt.fault.map(tidegate_api_client::Fault::as_str),
            wait_ms: millis(attempt.wait),
            token_wait_ms: millis(attempt.token_wait),
            took_ms: millis(attempt.duration),
        }
    }
}

/// To a tenth: the buckets are no finer.
fn tenths(millis: f64) -> f64 {
    (millis * 10.0).round() / 10.0
}
