//! The way into the stack: a request gets its journey, its deadline and a body that can be sent again.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderName, HeaderValue, Request, Response};
use http_body::Body as _;
use pin_project_lite::pin_project;
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::body::{Body, BoxError};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::journey::{Attempts, Journey};
use crate::observer::Observer;
use crate::replay::{ReplayBody, ReplayMemory};

/// The response header that tells how often the upstream was called.
pub const ATTEMPTS_HEADER: &str = "tidegate-attempts";

/// As a name, which a text would have to be made into each time.
const ATTEMPTS_FIELD: HeaderName = HeaderName::from_static(ATTEMPTS_HEADER);

/// What a request gets on its way in.
#[derive(Clone, Debug)]
pub struct EntryParams {
    /// To the response head, where the request brings no [`Deadline`] of its own; zero is for ever.
    pub request_timeout: Duration,
    /// The longest request body that is held to be sent again, in bytes.
    pub replay_limit: usize,
    /// The memory for all held bodies.
    pub replay_memory: ReplayMemory,
    /// Who is told of attempts and repeats, as they happen.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Default for EntryParams {
    /// 30 s for a request, and bodies up to 1 MiB held in 64 MiB.
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(30),
            replay_limit: 1 << 20,
            replay_memory: ReplayMemory::default(),
            observer: None,
        }
    }
}

/// Adds [`Entry`] to the steps below.
#[derive(Clone, Debug)]
pub struct EntryLayer(EntryParams);

impl EntryLayer {
    /// A layer with these parameters.
    pub const fn new(params: EntryParams) -> Self {
        Self(params)
    }
}

impl<S> Layer<S> for EntryLayer {
    type Service = Entry<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Entry { inner, params: self.0.clone() }
    }
}

/// The outermost step; it also tells the caller how many attempts there were.
#[derive(Clone, Debug)]
pub struct Entry<S> {
    inner: S,
    params: EntryParams,
}

impl<S, B> Service<Request<B>> for Entry<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Error>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Failure;
    type Future = EntryFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.inner.poll_ready(cx).map_err(Failure::before_any)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let EntryParams { request_timeout, replay_limit, replay_memory, observer } = &self.params;
        let extensions = request.extensions();
        let journey = extensions.get::<Journey>().cloned().unwrap_or_default();
        let timeout = Some(*request_timeout).filter(|timeout| !timeout.is_zero());
        let now = Instant::now();
        let deadline = match extensions.get::<Deadline>() {
            Some(own) => Some(own.0),
            None => timeout.and_then(|timeout| now.checked_add(timeout)),
        };
        journey.begin(now, deadline, observer.clone());
        let request = request.map(|body| {
            let mut body = Body::new(body);
            if !body.is_end_stream() {
                body = Body::new(ReplayBody::new(body, *replay_limit, replay_memory));
            }
            body.set_journey(journey.clone());
            body
        });
        EntryFuture { inner: self.inner.call(request), journey }
    }
}

pin_project! {
    /// The request, on its way.
    pub struct EntryFuture<F> {
        #[pin]
        inner: F,
        journey: Journey,
    }
}

impl<F> Future for EntryFuture<F>
where
    F: Future<Output = Result<Response<Body>, Error>>,
{
    type Output = Result<Response<Body>, Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.inner.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(mut response)) => {
                let attempts = this.journey.attempts();
                response.headers_mut().insert(ATTEMPTS_FIELD, number(attempts.count()));
                response.extensions_mut().insert(attempts);
                Poll::Ready(Ok(response))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(Failure { error, attempts: this.journey.attempts() })),
        }
    }
}

fn number(count: usize) -> HeaderValue {
    match count {
        1 => const { HeaderValue::from_static("1") },
        _ => HeaderValue::from(count),
    }
}

/// Why a request has no response, and what was tried.
#[derive(Debug, thiserror::Error)]
#[error("no response after {} attempts", .attempts.count())]
pub struct Failure {
    /// What the last attempt ended in.
    #[source]
    pub error: Error,
    /// All attempts, first to last.
    pub attempts: Attempts,
}

impl Failure {
    pub(crate) fn before_any(error: Error) -> Self {
        Self { error, attempts: Attempts::default() }
    }
}
