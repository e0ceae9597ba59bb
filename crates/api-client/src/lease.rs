//! Lends each attempt a token, signs it, and tells the pool how it went.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use tidegate_token_manager::{Ask, Lease, OnlyToken, Outcome, Report, Token, TokenManager};
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::body::Body;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::held::held;
use crate::journey::Journey;
use crate::overrides::PinnedToken;
use crate::scope::Scoping;
use crate::signature::Signature;
use crate::verdict::{Fault, Verdict};

/// A pool and how its tokens are put on a request.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Where the tokens come from.
    pub manager: TokenManager,
    /// How a token is put on a request.
    pub signature: Signature,
    /// By what the upstream's limits for one token are told apart.
    pub scoping: Scoping,
}

/// A request extension: this request goes outside the pool (it brings a credential of its own).
#[derive(Clone, Copy, Debug)]
pub struct BypassPool;

/// A response extension: the token that signed the request, so that nothing that holds it is shown to a client.
#[derive(Clone, Debug)]
pub struct SignedBy(pub Token);

/// A request extension: which client asks, for fairness between clients that wait.
#[derive(Clone, Debug)]
pub struct Client(pub Arc<str>);

/// Adds [`LeaseTokens`] to the steps below; without a pool a request passes through as it is.
#[derive(Clone, Debug)]
pub struct LeaseLayer(Option<Arc<Pool>>);

impl LeaseLayer {
    /// A layer that lends from `pool`.
    pub fn new(pool: Option<Pool>) -> Self {
        Self(pool.map(Arc::new))
    }
}

impl<S> Layer<S> for LeaseLayer {
    type Service = LeaseTokens<S>;

    fn layer(&self, inner: S) -> Self::Service {
        LeaseTokens { inner, pool: self.0.clone() }
    }
}

/// Lends each attempt a token until its response body has ended.
#[derive(Clone, Debug)]
pub struct LeaseTokens<S> {
    inner: S,
    pool: Option<Arc<Pool>>,
}

impl<S, B> Service<Request<B>> for LeaseTokens<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = Error> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = LeaseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let extensions = request.extensions();
        let bypass = extensions.get::<BypassPool>().is_some();
        let Some(pool) = self.pool.clone().filter(|_| !bypass) else {
            if let Some(pinned) = extensions.get::<PinnedToken>().filter(|_| !bypass) {
                let error = Some(Error::UnknownToken(pinned.clone()));
                return LeaseFuture { step: Step::Refused { error } };
            }
            return LeaseFuture { step: Step::Bare { attempt: self.inner.call(request) } };
        };
        // The one that was polled ready waits for the token.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        LeaseFuture { step: Step::Leased { attempt: Box::pin(leased(inner, pool, request)) } }
    }
}

pin_project! {
    /// The attempt, with a token or without.
    pub struct LeaseFuture<F> {
        #[pin]
        step: Step<F>,
    }
}

pin_project! {
    #[project = StepProjection]
    enum Step<F> {
        // Outside a pool.
        Bare {
            #[pin]
            attempt: F,
        },
        // It wants a token of a pool that there is not.
        Refused {
            error: Option<Error>,
        },
        // From the wait for a token on.
        Leased {
            attempt: Pin<Box<dyn Future<Output = Result<Response<Body>, Error>> + Send>>,
        },
    }
}

impl<F> Future for LeaseFuture<F>
where
    F: Future<Output = Result<Response<Body>, Error>>,
{
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().step.project() {
            StepProjection::Bare { attempt } => attempt.poll(cx),
            StepProjection::Refused { error } => match error.take() {
                Some(error) => Poll::Ready(Err(error)),
                None => Poll::Pending,
            },
            StepProjection::Leased { attempt } => attempt.as_mut().poll(cx),
        }
    }
}

async fn leased<S, B>(mut inner: S, pool: Arc<Pool>, mut request: Request<B>) -> Result<Response<Body>, Error>
where
    S: Service<Request<B>, Response = Response<Body>, Error = Error>,
    B: Send + 'static,
{
    let journey = match Journey::of(&request) {
        Some(journey) => journey.clone(),
        None => request.extensions_mut().get_or_insert_default::<Journey>().clone(),
    };
    let deadline = Deadline::of(&request);
    let client = request.extensions().get::<Client>().cloned();
    let pinned = request.extensions().get::<PinnedToken>().cloned();
    let (request, scope) = pool.scoping.of_request(request).await;
    let began = Instant::now();
    let mut lease = lend(&pool.manager, &journey, deadline, client, scope.as_deref(), pinned).await?;
    let token_wait = began.elapsed();
    journey.add_token_wait(token_wait);
    let path = pool.scoping.path_of(&request);
    let request = pool.signature.sign(request, &lease)?;
    journey.lend(lease.id(), token_wait);
    let result = inner.call(request).await;
    let (verdict, status) = match &result {
        Ok(response) => (Verdict::of(response), Some(response.status())),
        Err(error) => (Verdict::from(error), None),
    };
    let named = result.as_ref().ok().and_then(|response| pool.scoping.of_response(&path, response.headers()));
    match named.filter(|named| Some(named) != scope.as_ref()) {
        Some(scope) => lease.settle_in(&scope, &report(&verdict, status)),
        None => lease.settle(&report(&verdict, status)),
    }
    blame(&pool.manager, &journey, &lease, &verdict);
    result.map(|mut response| {
        response.extensions_mut().insert(SignedBy(lease.token().clone()));
        response.map(|body| held(body, lease))
    })
}

/// A token for the planned attempt, or the one to which the request is pinned.
async fn lend(
    manager: &TokenManager,
    journey: &Journey,
    deadline: Option<Instant>,
    client: Option<Client>,
    scope: Option<&str>,
    pinned: Option<PinnedToken>,
) -> Result<Lease, Error> {
    let tried = journey.tried();
    if !journey.plan().may_wait_for_token {
        return Ok(manager.try_acquire_in(scope, &tried)?);
    }
    let only = match &pinned {
        Some(pinned) => Some(pinned.find(manager).ok_or_else(|| Error::UnknownToken(pinned.clone()))?),
        None => None,
    };
    let ask = Ask {
        tried: &tried,
        max_wait: manager.params().max_wait.saturating_sub(journey.token_wait()),
        deadline,
        client: client.as_ref().map(|client| &*client.0),
        scope,
        only,
    };
    manager.acquire(ask).await.map_err(|refusal| match (pinned, refusal.only) {
        // It went while it was waited for.
        (Some(pinned), Some(OnlyToken { state: None, .. })) => Error::UnknownToken(pinned),
        _ => refusal.into(),
    })
}

/// What a verdict says of the token.
fn report(verdict: &Verdict, status: Option<StatusCode>) -> Report {
    let outcome = match verdict.fault {
        Fault::None | Fault::Request => Outcome::Success,
        Fault::TokenLimited => Outcome::Limited,
        Fault::TokenRejected => Outcome::Rejected,
        Fault::Forbidden | Fault::Upstream | Fault::Configuration | Fault::Caller => Outcome::Unaffected,
    };
    let told = if verdict.fault.is_token() { verdict.told } else { None };
    let Verdict { quota, remaining, .. } = *verdict;
    Report { outcome, status: status.map(|status| status.as_u16()), told, quota, remaining }
}

/// A lone 403 is charged to its token only once another token answers the same request with something else.
fn blame(manager: &TokenManager, journey: &Journey, lease: &Lease, verdict: &Verdict) {
    match verdict.fault {
        Fault::Forbidden => journey.suspect(lease.stamp()),
        Fault::None | Fault::Request => {
            for stamp in journey.take_suspects() {
                manager.charge(stamp, StatusCode::FORBIDDEN.as_u16());
            }
        }
        _ => {}
    }
}
