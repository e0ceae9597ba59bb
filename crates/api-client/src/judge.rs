//! Puts a verdict on every response, and writes down how each attempt went.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::ACCEPT_ENCODING;
use http::{HeaderValue, Request, Response, StatusCode};
use pin_project_lite::pin_project;
use tidegate_token_manager::wall;
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::body::{Body, BoxError, Prefix, read_prefix};
use crate::classify::{Answer, Classifier, Pooled};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::journey::{Ended, Journey};
use crate::standard::{RULE_BODY_LIMIT, StandardClassifier};
use crate::verdict::{Fault, Verdict};

/// Rules look at what has come of a body within this time.
const RULE_BODY_TIME: Duration = Duration::from_secs(10);

/// Adds [`Classify`] to the steps below.
#[derive(Clone, Debug)]
pub struct ClassifyLayer(Arc<dyn Classifier>);

impl ClassifyLayer {
    /// A layer that judges by `classifier`.
    pub fn new(classifier: Arc<dyn Classifier>) -> Self {
        Self(classifier)
    }
}

impl Default for ClassifyLayer {
    /// A layer that judges by HTTP's customs alone.
    fn default() -> Self {
        Self(Arc::new(StandardClassifier::generic()))
    }
}

impl<S> Layer<S> for ClassifyLayer {
    type Service = Classify<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Classify { inner, classifier: self.0.clone() }
    }
}

/// Judges each response once and hands the [`Verdict`] on as a response extension; writes the attempt into the
/// request's [`Journey`].
///
/// The services below may be any that speak HTTP: bodies and errors of all kinds become [`Body`] and [`Error`] here.
#[derive(Clone, Debug)]
pub struct Classify<S> {
    inner: S,
    classifier: Arc<dyn Classifier>,
}

impl<S, B, R> Service<Request<B>> for Classify<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    B: 'static,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = ClassifyFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| Error::from(error.into()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let journey = Journey::of(&request).cloned();
        if self.classifier.reads_bodies() {
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let begun = journey.as_ref().map(|journey| journey.begin_attempt(Instant::now()));
        let (lent, deadline) = begun.unwrap_or_default();
        let pooled = match request.extensions().get::<Pooled>() {
            Some(said) => *said,
            None if lent.is_some() => Pooled::Yes,
            None => Pooled::No,
        };
        let deadline = request.extensions().get::<Deadline>().map(|own| own.0).or(deadline);
        let judge = Judge { classifier: self.classifier.clone(), pooled, deadline, journey };
        ClassifyFuture { step: Step::Waiting { attempt: self.inner.call(request) }, judge }
    }
}

pin_project! {
    /// The attempt, until there is a verdict on it.
    pub struct ClassifyFuture<F> {
        #[pin]
        step: Step<F>,
        judge: Judge,
    }
}

pin_project! {
    #[project = StepProjection]
    enum Step<F> {
        Waiting {
            #[pin]
            attempt: F,
        },
        // A body is looked at only where a rule says so.
        Reading {
            head: Option<Response<()>>,
            at: Instant,
            prefix: Pin<Box<dyn Future<Output = Prefix> + Send>>,
        },
    }
}

struct Judge {
    classifier: Arc<dyn Classifier>,
    pooled: Pooled,
    deadline: Option<Instant>,
    journey: Option<Journey>,
}

impl<F, R, E> Future for ClassifyFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let judge = this.judge;
        loop {
            match this.step.as_mut().project() {
                StepProjection::Waiting { attempt } => {
                    let response = match ready!(attempt.poll(cx)) {
                        Ok(response) => response,
                        Err(error) => return Poll::Ready(Err(judge.failed(error.into().into()))),
                    };
                    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                        return Poll::Ready(Err(judge.failed(unasked_switch())));
                    }
                    let at = Instant::now();
                    let mut response = response.map(Body::new);
                    if !judge.classifier.needs_body(response.status(), response.headers()) {
                        judge.judge(&mut response, None, at);
                        return Poll::Ready(Ok(response));
                    }
                    let (head, body) = response.into_parts();
                    let left = judge.deadline.map_or(RULE_BODY_TIME, |deadline| {
                        deadline.saturating_duration_since(at).min(RULE_BODY_TIME)
                    });
                    let prefix = Box::pin(read_prefix(body, RULE_BODY_LIMIT, left));
                    let head = Some(Response::from_parts(head, ()));
                    this.step.set(Step::Reading { head, at, prefix });
                }
                StepProjection::Reading { head, at, prefix } => {
                    let prefix = ready!(prefix.as_mut().poll(cx));
                    let (head, ()) = head.take().unwrap_or_default().into_parts();
                    let bytes = prefix.bytes();
                    let mut response = Response::from_parts(head, prefix.into_body());
                    judge.judge(&mut response, Some(&bytes), *at);
                    return Poll::Ready(Ok(response));
                }
            }
        }
    }
}

/// A 101 that nobody asked for (no Upgrade field is ever sent) leaves a connection that speaks no HTTP.
fn unasked_switch() -> Error {
    Error::Protocol("the upstream switched protocols unasked".into())
}

impl Judge {
    /// Puts the verdict on the response, in its place: a response is a lot to move.
    fn judge(&self, response: &mut Response<Body>, body: Option<&[u8]>, at: Instant) {
        let (status, headers) = (response.status(), response.headers());
        let answer = Answer { body, pooled: self.pooled, now: wall::now(), ..Answer::new(status, headers) };
        let verdict = self.classifier.classify(&answer);
        self.ended(Ended::Status(status), &verdict, at);
        // A good answer that says nothing is the common case, and an extension costs an allocation.
        if verdict != Verdict::new(Fault::None) {
            response.extensions_mut().insert(verdict);
        }
    }

    fn failed(&self, error: Error) -> Error {
        self.ended(Ended::Failed(error.kind()), &Verdict::from(&error), Instant::now());
        error
    }

    fn ended(&self, ended: Ended, verdict: &Verdict, at: Instant) {
        if let Some(journey) = &self.journey {
            journey.end_attempt(ended, verdict, at);
        }
    }
}
