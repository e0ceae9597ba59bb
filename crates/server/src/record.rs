//! Begins a request's notes, and writes them into the metrics, the live figures and the access log when it is over.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use tidegate_api_client::{Body, held};
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::access_log;
use crate::live::{Asked, Live, Seen};
use crate::metrics::{Metrics, NO_ROUTE};
use crate::panics::Panicked;
use crate::problem::Problem;
use crate::request_id;
use crate::trip::Trip;

/// nginx's word for a client that went away before its answer; no answer ever has it.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Adds [`Record`] to the steps below.
#[derive(Clone)]
pub(crate) struct RecordLayer {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) live: Arc<Live>,
}

impl<S> Layer<S> for RecordLayer {
    type Service = Record<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Record { inner, layer: self.clone() }
    }
}

/// Records each request, also one that is given up.
#[derive(Clone)]
pub(crate) struct Record<S> {
    inner: S,
    layer: RecordLayer,
}

impl<S, B> Service<Request<B>> for Record<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let trip = Trip::default();
        let started = Instant::now();
        let RecordLayer { metrics, live } = self.layer.clone();
        let in_flight = metrics.begin();
        let id = request_id::of(request.extensions()).to_owned();
        let asked = Arc::new(Asked {
            id: id.clone(),
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
        });
        let entry = access_log::Entry::new(asked.clone(), trip.clone(), started);
        request.extensions_mut().insert(trip.clone());
        let mut count = Count { metrics, live, asked, trip, started, status: None };
        let answer = self.inner.call(request);
        Box::pin(async move {
            let Ok(mut response) = answer.await;
            if response.extensions().get::<Panicked>().is_some() {
                response = Problem::Internal.response(&id).map(Body::new);
            }
            count.status = Some(response.status());
            drop(count);
            // A request is over when its body is: to its last byte, or to the moment that nobody reads on.
            Ok(entry.answer(response.map(|body| held(body, in_flight))).map(Body::new))
        })
    }
}

/// Counts a request and its attempts once, when its head is there or its caller has gone.
struct Count {
    metrics: Arc<Metrics>,
    live: Arc<Live>,
    asked: Arc<Asked>,
    trip: Trip,
    started: Instant,
    status: Option<StatusCode>,
}

impl Drop for Count {
    fn drop(&mut self) {
        let route = self.trip.route().unwrap_or(NO_ROUTE);
        let gone = StatusCode::from_u16(CLIENT_CLOSED_REQUEST).unwrap_or(StatusCode::REQUEST_TIMEOUT);
        let now = Instant::now();
        let took = now.saturating_duration_since(self.started);
        let attempts = self.trip.journey().attempts();
        self.metrics.answered(route, self.status.unwrap_or(gone), took);
        self.metrics.attempted(route, &attempts);
        if let Some(client) = self.trip.key_name() {
            self.metrics.client(client, self.status, attempts.count());
        }
        let seen = Seen {
            asked: self.asked.clone(),
            route: route.to_owned(),
            client: self.trip.client().cloned(),
            status: self.status,
            attempts,
            at: self.started,
            took,
        };
        self.live.record(seen, now);
    }
}
