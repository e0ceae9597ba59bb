//! Lends each attempt a token, signs it, and tells the pool how it went.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use tidegate_token_manager::{Ask, Lease, Outcome, Report, Token, TokenId, TokenManager};
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::body::Body;
use crate::classify::Pooled;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::held::held;
use crate::journey::{Ended, Journey};
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

/// Adds [`LeaseTokens`] to the steps below; without a pool an attempt is only written down.
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

impl<S> Service<Request<Body>> for LeaseTokens<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Error> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let bypass = request.extensions().get::<BypassPool>().is_some();
        let pool = if bypass { None } else { self.pool.clone() };
        Box::pin(async move {
            let journey = request.extensions_mut().get_or_insert_default::<Journey>().clone();
            let Some(pool) = pool else {
                request.extensions_mut().insert(Pooled::No);
                return attempt(&mut inner, request, &journey, None, Duration::ZERO).await.0;
            };
            let deadline = Deadline::of(request.extensions());
            let client = request.extensions().get::<Client>().cloned();
            let (scoped, scope) = pool.scoping.of_request(request).await;
            request = scoped;
            let began = Instant::now();
            let mut lease = lend(&pool.manager, &journey, deadline, client, scope.as_deref()).await?;
            let token_wait = began.elapsed();
            journey.add_token_wait(token_wait);
            request.extensions_mut().insert(Pooled::Yes);
            let path = request.uri().path().to_owned();
            let request = pool.signature.sign(request, &lease)?;
            let (result, verdict) =
                attempt(&mut inner, request, &journey, Some(lease.id()), token_wait).await;
            let status = result.as_ref().ok().map(Response::status);
            let named = result.as_ref().ok().and_then(|it| pool.scoping.of_response(&path, it.headers()));
            match named.filter(|named| Some(named) != scope.as_ref()) {
                Some(scope) => lease.settle_in(&scope, &report(&verdict, status)),
                None => lease.settle(&report(&verdict, status)),
            }
            blame(&pool.manager, &journey, &lease, &verdict);
            result.map(|mut response| {
                response.extensions_mut().insert(SignedBy(lease.token().clone()));
                response.map(|body| held(body, lease))
            })
        })
    }
}

/// A token for the planned attempt. The wait is written down also when no token came of it.
async fn lend(
    manager: &TokenManager,
    journey: &Journey,
    deadline: Option<Instant>,
    client: Option<Client>,
    scope: Option<&str>,
) -> Result<Lease, Error> {
    let tried = journey.tried();
    if !journey.plan().may_wait_for_token {
        return Ok(manager.try_acquire_in(scope, &tried)?);
    }
    let ask = Ask {
        tried: &tried,
        max_wait: manager.params().max_wait.saturating_sub(journey.token_wait()),
        deadline,
        client: client.as_ref().map(|client| &*client.0),
        scope,
    };
    Ok(manager.acquire(ask).await?)
}

/// Calls the steps below and writes down how it went.
async fn attempt<S>(
    inner: &mut S,
    request: Request<Body>,
    journey: &Journey,
    token: Option<TokenId>,
    token_wait: Duration,
) -> (Result<Response<Body>, Error>, Verdict)
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Error>,
{
    journey.begin_attempt(token, token_wait, Instant::now());
    let result = inner.call(request).await;
    let (ended, verdict) = match &result {
        Ok(response) => {
            let verdict = response.extensions().get::<Verdict>().copied();
            (Ended::Status(response.status()), verdict.unwrap_or(Verdict::new(Fault::None)))
        }
        Err(error) => (Ended::Failed(error.kind()), Verdict::from(error)),
    };
    journey.end_attempt(ended, verdict.fault, Instant::now());
    (result, verdict)
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
    Report { outcome, status: status.map(|status| status.as_u16()), told, quota: verdict.quota }
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
