//! tower's contract: a service is called only when it said that it is ready, and it is the very one that said so.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use http::{Request, Response, StatusCode};
use tidegate_api_client::{
    AttemptTimeoutLayer, Body, BoxError, ClassifyLayer, Credential, EntryLayer, EntryParams, LeaseLayer,
    Pool, RetryBudget, RetryParams, RetryPolicy, Scoping, Signature, StackParams, Timeouts, stack,
};
use tidegate_token_manager::{IdKey, PoolParams, TokenManager, TokenSpec};
use tower::retry::RetryLayer;
use tower::{Layer, Service, ServiceExt};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    Shut,
    Open,
    Broken,
}

/// Not ready while its gate is shut; panics when it is called unready. A clone is not ready by its original's word.
struct Gated {
    shared: Arc<Mutex<(Gate, Option<Waker>, usize)>>,
    ready: bool,
}

impl Clone for Gated {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), ready: false }
    }
}

impl Gated {
    fn new() -> Self {
        Self { shared: Arc::new(Mutex::new((Gate::Shut, None, 0))), ready: false }
    }

    fn set(&self, gate: Gate) {
        let mut shared = self.shared.lock().unwrap();
        shared.0 = gate;
        if let Some(waker) = shared.1.take() {
            waker.wake();
        }
    }

    fn calls(&self) -> usize {
        self.shared.lock().unwrap().2
    }
}

impl<B> Service<Request<B>> for Gated {
    type Response = Response<Body>;
    type Error = tidegate_api_client::Error;
    type Future = Ready<Result<Response<Body>, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        let mut shared = self.shared.lock().unwrap();
        match shared.0 {
            Gate::Open => {
                self.ready = true;
                Poll::Ready(Ok(()))
            }
            Gate::Broken => Poll::Ready(Err(tidegate_api_client::Error::Closed)),
            Gate::Shut => {
                shared.1 = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called before it was polled ready");
        self.shared.lock().unwrap().2 += 1;
        ready(Ok(Response::new(Body::from("here"))))
    }
}

async fn keeps_the_contract<S>(what: &str, gated: Gated, mut service: S)
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Error: Into<BoxError>,
{
    let request = || Request::get("http://upstream.test/").body(Body::empty()).unwrap();
    let mut ready = tokio_test_task(service.ready());
    assert!(ready.poll().is_pending(), "{what}: ready before what is below it");
    gated.set(Gate::Open);
    assert!(ready.woken(), "{what}: not woken when what is below is ready");
    drop(ready);
    for call in 1..=3 {
        let ready = service.ready().await.map_err(Into::into).unwrap();
        let response = ready.call(request()).await.map_err(Into::into).unwrap();
        assert_eq!((response.status(), gated.calls()), (StatusCode::OK, call), "{what}");
    }
    gated.set(Gate::Broken);
    let broken = service.ready().await.map(|_| ()).map_err(Into::into);
    assert!(broken.is_err(), "{what}: what breaks below is told");
}

/// A future on a waker that remembers.
struct Task<F>(std::pin::Pin<Box<F>>, Arc<Woken>);
struct Woken(std::sync::atomic::AtomicBool);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

fn tokio_test_task<F: Future>(future: F) -> Task<F> {
    Task(Box::pin(future), Arc::new(Woken(false.into())))
}

impl<F: Future> Task<F> {
    fn poll(&mut self) -> Poll<F::Output> {
        self.0.as_mut().poll(&mut Context::from_waker(&Waker::from(self.1.clone())))
    }

    fn woken(&self) -> bool {
        self.1.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn pool() -> Pool {
    let specs = vec![TokenSpec::new("a")];
    let manager = TokenManager::new("default", PoolParams::default(), specs, IdKey::from_bytes(b"key"));
    Pool { manager, signature: Signature::new(Credential::Bearer), scoping: Scoping::None }
}

#[tokio::test(start_paused = true)]
async fn each_step_calls_the_service_that_it_polled_ready() {
    macro_rules! check {
        ($what:literal, $layer:expr) => {{
            let gated = Gated::new();
            keeps_the_contract($what, gated.clone(), $layer.layer(gated)).await;
        }};
    }
    check!("entry", EntryLayer::new(EntryParams::default()));
    check!("retry", RetryLayer::new(RetryPolicy::new(RetryParams::default(), RetryBudget::default())));
    check!("no lease", LeaseLayer::new(None));
    check!("lease", LeaseLayer::new(Some(pool())));
    check!("classify", ClassifyLayer::default());
    check!("attempt timeout", AttemptTimeoutLayer::new(Timeouts::default()));
    for (what, pool) in [("bare stack", None), ("stack with a pool", Some(pool()))] {
        let gated = Gated::new();
        let params = StackParams { pool, ..StackParams::default() };
        keeps_the_contract(what, gated.clone(), stack(gated, params)).await;
    }
}

/// Answers 503 and 429 by turns, and panics when it is called unready.
#[derive(Default)]
struct Failing(bool, usize);

impl Clone for Failing {
    fn clone(&self) -> Self {
        Self(false, self.1)
    }
}

impl Service<Request<Body>> for Failing {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0 = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        assert!(std::mem::take(&mut self.0), "called before it was polled ready");
        self.1 += 1;
        let status = if self.1 % 2 == 0 { 429 } else { 503 };
        ready(Ok(Response::builder().status(status).body(String::new()).unwrap()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_polls_ready_again() {
    let service = stack(Failing::default(), StackParams::default());
    let response = service.oneshot(Request::get("/").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.headers()["tidegate-attempts"], "4");
}
