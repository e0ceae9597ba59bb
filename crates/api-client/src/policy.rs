//! The retry policy that tower's `Retry` asks after each attempt.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderValue, Request, Response};
use tidegate_token_manager::{Exhausted, whole_seconds};
use tokio::time::Instant;
use tower::retry::Policy;

use crate::body::{Body, read_prefix};
use crate::budget::RetryBudget;
use crate::deadline::Deadline;
use crate::decision::{Decision, RetryParams, Situation};
use crate::error::Error;
use crate::journey::{Cause, Journey, Plan};
use crate::overrides::{PinnedToken, Repeat};
use crate::replay::Replayable;
use crate::verdict::{Fault, Verdict};

/// As much of a failed attempt's body as is read, so that its connection can be used again.
const KEPT_BYTES: usize = 64 * 1024;
/// A body that has not ended by then keeps its connection; a switch does not wait longer for it.
const KEPT_TIME: Duration = Duration::from_millis(100);

/// Decides whether, when and with which token a request is sent again, as the policy of tower's `RetryLayer`.
///
/// It works over any request body that is [`Replayable`], and over any service beneath a
/// [`ClassifyLayer`](crate::ClassifyLayer), which makes of its answers and errors what a policy can read. Beneath an
/// [`EntryLayer`](crate::EntryLayer) it also knows a deadline, and the caller is told of the attempts; without one
/// retries are counted all the same.
///
/// A policy holds no state of a request (tower clones it at will): that travels in the request's [`Journey`].
///
/// ```
/// use http::{Request, Response};
/// use std::sync::atomic::{AtomicU16, Ordering};
/// use tidegate_api_client::{ClassifyLayer, RetryBudget, RetryParams, RetryPolicy};
/// use tower::{BoxError, ServiceBuilder, ServiceExt, retry::RetryLayer};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), BoxError> {
/// // A client of one's own, with bodies and errors of its own.
/// static ANSWERS: AtomicU16 = AtomicU16::new(503);
/// let client = tower::service_fn(|request: Request<String>| async move {
///     let status = ANSWERS.swap(200, Ordering::Relaxed);
///     Response::builder().status(status).body(request.into_body())
/// });
/// let policy = RetryPolicy::new(RetryParams::default(), RetryBudget::default());
/// let service =
///     ServiceBuilder::new().layer(RetryLayer::new(policy)).layer(ClassifyLayer::default()).service(client);
///
/// let response = service.oneshot(Request::put("/").body("again".to_owned())?).await?;
/// assert_eq!(response.status(), 200);
/// assert_eq!(response.into_body().bytes().await?, "again");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RetryPolicy {
    /// As one: it is cloned for each request, with the rest of the stack.
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    params: RetryParams,
    budget: RetryBudget,
}

impl RetryPolicy {
    /// A policy within `params` whose retries are paid from `budget`, which all callers of one upstream share.
    pub fn new(params: RetryParams, budget: RetryBudget) -> Self {
        Self { shared: Arc::new(Shared { params, budget }) }
    }
}

impl<B: Replayable + 'static> Policy<Request<B>, Response<Body>, Error> for RetryPolicy {
    type Future = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn retry(
        &mut self,
        request: &mut Request<B>,
        result: &mut Result<Response<Body>, Error>,
    ) -> Option<Self::Future> {
        // Most attempts are good, and their request has nothing more to be looked at.
        if matches!(result, Ok(response) if Verdict::of(response).fault == Fault::None) {
            return None;
        }
        let journey = journey(request);
        if let Err(Error::NoToken(Exhausted { retry_in, .. })) = result {
            if let Some(kept) = journey.take_kept() {
                *result = Ok(told_when_to_return(kept, *retry_in));
            }
            return None;
        }
        if let Err(Error::UnknownToken(_)) = result {
            // It went between two attempts.
            if let Some(kept) = journey.take_kept() {
                *result = Ok(kept);
            }
            return None;
        }
        let (verdict, status, surely_unsent) = match result {
            Ok(response) => (Verdict::of(response), Some(response.status()), false),
            Err(error) => (Verdict::from(&*error), None, error.surely_unsent()),
        };
        let situation = Situation {
            verdict,
            status,
            surely_unsent,
            method: request.method(),
            headers: request.headers(),
            body_is_held: request.body().is_replayable(),
            repeat: request.extensions().get::<Repeat>().copied(),
            is_pinned: request.extensions().get::<PinnedToken>().is_some(),
            progress: journey.progress(),
            now: Instant::now(),
            deadline: Deadline::of(request),
            entropy: fastrand::u64(..),
        };
        let params = request.extensions().get::<RetryParams>().unwrap_or(&self.shared.params);
        let decision = params.decide(&situation, || self.shared.budget.try_withdraw());
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

    /// A clone wherever the body has one: whether it can really be sent again is only known when the attempt has
    /// ended. This is asked before each attempt, and so the request is booked here.
    fn clone_request(&mut self, request: &Request<B>) -> Option<Request<B>> {
        let owed = Journey::of(request).map_or_else(|| Some(Instant::now()), Journey::owed_deposit);
        if let Some(now) = owed {
            self.shared.budget.deposit_at(now);
        }
        let mut clone = Request::new(request.body().try_clone()?);
        *clone.method_mut() = request.method().clone();
        *clone.uri_mut() = request.uri().clone();
        *clone.version_mut() = request.version();
        *clone.headers_mut() = request.headers().clone();
        *clone.extensions_mut() = request.extensions().clone();
        Some(clone)
    }
}

/// The request's journey. One that comes through no [`Entry`](crate::Entry) gets it here, for the attempts after the
/// first.
fn journey<B: 'static>(request: &mut Request<B>) -> Journey {
    if let Some(journey) = Journey::of(request) {
        return journey.clone();
    }
    let journey = Journey::new();
    // The first attempt was booked without it.
    journey.owed_deposit();
    request.extensions_mut().insert(journey.clone());
    journey
}

/// The response with as much of its body read as fits [`KEPT_BYTES`] within `time`; the rest still follows.
async fn drained(response: Response<Body>, time: Duration) -> Response<Body> {
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, read_prefix(body, KEPT_BYTES, time).await.into_body())
}

/// What is handed on for want of a token says when one is expected, which the upstream cannot know; a longer delay of
/// a failing upstream stays. A lone 403 is the page's answer, and stays as it came.
fn told_when_to_return(mut kept: Response<Body>, retry_in: Option<Duration>) -> Response<Body> {
    let verdict = Verdict::of(&kept);
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
