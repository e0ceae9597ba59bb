//! The limit on requests at once: who comes above it is told at once, instead of waiting with all the others.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use tidegate_api_client::{Body, held};
use tokio::sync::Semaphore;
use tower::{Layer, Service};

use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::request_id;

/// Adds [`Shed`] to the steps below.
#[derive(Clone)]
pub(crate) struct ShedLayer {
    limit: usize,
    permits: Arc<Semaphore>,
    metrics: Arc<Metrics>,
}

impl ShedLayer {
    /// At most `limit` requests at once; zero is no limit.
    pub(crate) fn new(limit: usize, metrics: Arc<Metrics>) -> Self {
        let permits = if limit == 0 { Semaphore::MAX_PERMITS } else { limit.min(Semaphore::MAX_PERMITS) };
        Self { limit: permits, permits: Arc::new(Semaphore::new(permits)), metrics }
    }
}

impl<S> Layer<S> for ShedLayer {
    type Service = Shed<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Shed { inner, layer: self.clone() }
    }
}

/// Holds a permit for each request until its response body has ended.
#[derive(Clone)]
pub(crate) struct Shed<S> {
    inner: S,
    layer: ShedLayer,
}

impl<S, B> Service<Request<B>> for Shed<S>
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

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Ok(permit) = self.layer.permits.clone().try_acquire_owned() else {
            self.layer.metrics.shed();
            let problem = Problem::Shed { limit: self.layer.limit };
            let response = problem.response(request_id::of(request.extensions()));
            return Box::pin(std::future::ready(Ok(response.map(Body::new))));
        };
        let answer = self.inner.call(request);
        Box::pin(async move {
            let Ok(response) = answer.await;
            Ok(response.map(|body| held(body, permit)))
        })
    }
}
