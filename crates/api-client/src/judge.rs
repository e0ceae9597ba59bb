//! Puts a verdict on every response.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::ACCEPT_ENCODING;
use http::{HeaderValue, Request, Response, StatusCode};
use tidegate_token_manager::wall;
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::body::{Body, read_prefix};
use crate::classify::{Classifier, Pooled, RULE_BODY_LIMIT};
use crate::deadline::Deadline;
use crate::error::Error;

/// Rules look at what has come of a body within this time.
const RULE_BODY_TIME: Duration = Duration::from_secs(10);

/// Adds [`Classify`] to the steps below.
#[derive(Clone, Debug, Default)]
pub struct ClassifyLayer(Classifier);

impl ClassifyLayer {
    /// A layer that judges by `classifier`.
    pub const fn new(classifier: Classifier) -> Self {
        Self(classifier)
    }
}

impl<S> Layer<S> for ClassifyLayer {
    type Service = Classify<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Classify { inner, classifier: self.0.clone() }
    }
}

/// Judges each response once and hands the [`Verdict`](crate::Verdict) on as a response extension.
#[derive(Clone, Debug)]
pub struct Classify<S> {
    inner: S,
    classifier: Classifier,
}

impl<S> Service<Request<Body>> for Classify<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Error>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let pooled = request.extensions().get::<Pooled>().copied().unwrap_or(Pooled::No);
        let deadline = Deadline::of(request.extensions());
        if self.classifier.reads_bodies() {
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let classifier = self.classifier.clone();
        let attempt = self.inner.call(request);
        Box::pin(async move {
            let mut response = attempt.await?;
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                // Nobody asked for it: no Upgrade field is ever sent.
                return Err(Error::Protocol("the upstream switched protocols unasked".into()));
            }
            let mut prefix = None;
            if classifier.needs_body(response.status(), response.headers()) {
                let (parts, body) = response.into_parts();
                let left = deadline.map_or(RULE_BODY_TIME, |deadline| {
                    deadline.saturating_duration_since(Instant::now()).min(RULE_BODY_TIME)
                });
                let read = read_prefix(body, RULE_BODY_LIMIT, left).await;
                prefix = Some(read.bytes());
                response = Response::from_parts(parts, read.into_body());
            }
            let (status, headers) = (response.status(), response.headers());
            let verdict = classifier.classify(status, headers, prefix.as_deref(), pooled, wall::now());
            response.extensions_mut().insert(verdict);
            Ok(response)
        })
    }
}
