//! The retry policy that tower's `Retry` asks after each attempt.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderValue, Request, Response};
use tokio::time::Instant;
use tower::retry::Policy;

use crate::body::{Body, read_prefix};
use crate::budget::RetryBudget;
use crate::deadline::Deadline;
use crate::decision::{Decision, RetryParams, Situation};
use crate::error::Error;
use crate::journey::{Cause, Journey, Plan};
use crate::replay::ReplayBody;
use crate::verdict::{Fault, Verdict};

/// As much of a failed attempt's body as is read, so that its connection can be used again.
const KEPT_BYTES: usize = 64 * 1024;
/// A body that has not ended by then keeps its connection; a switch does not wait longer for it.
const KEPT_TIME: Duration = Duration::from_millis(100);

/// Decides whether, when and with which token a request is sent again.
///
/// A policy holds no state of a request (tower clones it at will): that travels in the request's [`Journey`].
#[derive(Clone, Debug)]
pub struct RetryPolicy {
    params: Arc<RetryParams>,
    budget: RetryBudget,
}

impl RetryPolicy {
    /// A policy within `params` whose retries are paid from `budget`, which all callers of one upstream share.
    pub fn new(params: RetryParams, budget: RetryBudget) -> Self {
        Self { params: Arc::new(params), budget }
    }
}

impl Policy<Request<ReplayBody<Body>>, Response<Body>, Error> for RetryPolicy {
    type Future = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn retry(
        &mut self,
        request: &mut Request<ReplayBody<Body>>,
        result: &mut Result<Response<Body>, Error>,
    ) -> Option<Self::Future> {
        let journey = request.extensions().get::<Journey>()?.clone();
        if let Err(Error::NoToken(exhausted)) = result {
            if let Some(kept) = journey.take_kept() {
                *result = Ok(told_when_to_return(kept, exhausted.retry_in));
            }
            return None;
        }
        let situation = situation(request, result, &journey);
        let decision = self.params.decide(&situation, || self.budget.try_withdraw());
        let (cause, wait, may_wait_for_token) = match decision {
            Decision::Return => return None,
            Decision::Retry { wait } => (Cause::Retry, wait, true),
            Decision::Switch { may_wait } => (Cause::Switch, Duration::ZERO, may_wait),
        };
        tracing::debug!(cause = cause.as_str(), ?wait, "sending the request again");
        journey.set_plan(Plan { cause, wait, may_wait_for_token });
        // tower drops `result` before the next attempt begins; what the caller may yet need is taken out of it.
        let failed =
            result.as_mut().ok().map(|response| std::mem::replace(response, Response::new(Body::empty())));
        Some(Box::pin(async move {
            let end = Instant::now().checked_add(wait);
            if let Some(failed) = failed {
                journey.keep(drained(failed, wait.max(KEPT_TIME).min(Duration::from_secs(1))).await);
            }
            match end {
                Some(end) if !wait.is_zero() => tokio::time::sleep_until(end).await,
                _ => {}
            }
        }))
    }

    /// Always a clone: whether the body can really be sent again is only known when the attempt has ended.
    fn clone_request(&mut self, request: &Request<ReplayBody<Body>>) -> Option<Request<ReplayBody<Body>>> {
        Some(request.clone())
    }
}

fn situation<'a>(
    request: &'a Request<ReplayBody<Body>>,
    result: &Result<Response<Body>, Error>,
    journey: &Journey,
) -> Situation<'a> {
    let (verdict, status, surely_unsent) = match result {
        Ok(response) => {
            let none = Verdict::new(Fault::None);
            let verdict = response.extensions().get::<Verdict>().copied().unwrap_or(none);
            (verdict, Some(response.status()), false)
        }
        Err(error) => (Verdict::from(error), None, error.surely_unsent()),
    };
    Situation {
        verdict,
        status,
        surely_unsent,
        method: request.method(),
        headers: request.headers(),
        body_is_held: request.body().is_replayable(),
        progress: journey.progress(),
        now: Instant::now(),
        deadline: Deadline::of(request.extensions()),
        entropy: fastrand::u64(..),
    }
}

/// The response with as much of its body read as fits [`KEPT_BYTES`] within `time`; the rest still follows.
async fn drained(response: Response<Body>, time: Duration) -> Response<Body> {
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, read_prefix(body, KEPT_BYTES, time).await.into_body())
}

/// What is handed on for want of a token says when one is expected, which the upstream cannot know; a longer delay of
/// a failing upstream stays. A lone 403 is the page's answer, and stays as it came.
fn told_when_to_return(mut kept: Response<Body>, retry_in: Option<Duration>) -> Response<Body> {
    let verdict = kept.extensions().get::<Verdict>().copied().unwrap_or(Verdict::new(Fault::None));
    let wait = match verdict.fault {
        Fault::TokenLimited | Fault::TokenRejected => retry_in,
        Fault::Upstream => retry_in.filter(|wait| verdict.told.is_none_or(|told| told < *wait)),
        _ => None,
    };
    if let Some(wait) = wait {
        kept.headers_mut().insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
    }
    kept
}

/// `wait` in whole seconds for `Retry-After`: rounded up, at least 1.
pub fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}
