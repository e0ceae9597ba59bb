//! The time that one attempt may take.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};
use tower::{Layer, Service};

use crate::body::{Body, BoxError};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::idle::{BodyIdle, limit_idle};
use crate::upload::{Upload, UploadWatch};

/// The timeouts of an attempt; zero turns one off. As a request extension: those of this request, in place of the
/// layer's.
///
/// ```
/// use std::time::Duration;
/// use tidegate_api_client::{Body, Timeouts};
///
/// let slow = Timeouts { attempt: Duration::from_secs(300), ..Timeouts::default() };
/// let request = http::Request::get("/report").extension(slow).body(Body::empty())?;
/// # let _ = request;
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the sent request body to the response head.
    pub attempt: Duration,
    /// Without a byte of a body, in either direction.
    pub body_idle: Duration,
}

impl Default for Timeouts {
    /// 10 s for an attempt, 2 minutes for a silent body.
    fn default() -> Self {
        Self { attempt: Duration::from_secs(10), body_idle: Duration::from_secs(120) }
    }
}

impl Timeouts {
    /// When an attempt whose upload stands so is given up.
    fn end(&self, upload: Upload) -> Option<Instant> {
        let (since, limit) = match upload {
            Upload::Offered(moved) | Upload::Awaited(moved) => (moved, self.body_idle),
            Upload::Ended(sent) => (sent, self.attempt),
        };
        if limit.is_zero() { None } else { since.checked_add(limit) }
    }
}

/// Adds [`AttemptTimeout`] to a transport.
#[derive(Clone, Copy, Debug)]
pub struct AttemptTimeoutLayer(Timeouts);

impl AttemptTimeoutLayer {
    /// A layer with these timeouts.
    pub const fn new(timeouts: Timeouts) -> Self {
        Self(timeouts)
    }
}

impl<S> Layer<S> for AttemptTimeoutLayer {
    type Service = AttemptTimeout<S>;

    fn layer(&self, inner: S) -> Self::Service {
        AttemptTimeout { inner, timeouts: self.0 }
    }
}

/// Gives up an attempt at its timeout or at the request's [`Deadline`], and a body that falls silent.
#[derive(Clone, Debug)]
pub struct AttemptTimeout<S> {
    inner: S,
    timeouts: Timeouts,
}

impl<S, B, R> Service<Request<B>> for AttemptTimeout<S>
where
    S: Service<Request<Body>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = AttemptFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| Error::from(error.into()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let deadline = Deadline::of(&request);
        let timeouts = request.extensions().get::<Timeouts>().copied().unwrap_or(self.timeouts);
        let now = Instant::now();
        let (parts, body) = request.into_parts();
        let (upload, body) = UploadWatch::new(Body::new(body), now);
        // The right moment where nothing is to be sent: such a clock is set once.
        let end = timeouts.end(Upload::Ended(now)).into_iter().chain(deadline).min();
        AttemptFuture {
            attempt: self.inner.call(Request::from_parts(parts, body)),
            upload,
            deadline,
            timeouts,
            sleep: tokio::time::sleep_until(end.unwrap_or(now)),
        }
    }
}

pin_project! {
    /// The attempt, against its clock.
    pub struct AttemptFuture<F> {
        #[pin]
        attempt: F,
        #[pin]
        sleep: Sleep,
        upload: UploadWatch,
        deadline: Option<Instant>,
        timeouts: Timeouts,
    }
}

impl<F, R, E> Future for AttemptFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        match this.attempt.poll(cx) {
            Poll::Ready(Ok(response)) => {
                let mut response = response.map(Body::new);
                limit_idle(response.body_mut(), this.timeouts.body_idle);
                return Poll::Ready(Ok(response));
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into().into())),
            Poll::Pending => {}
        }
        loop {
            // The upload moves while the clock runs: an end counts only if it still stands when it is reached.
            let upload = this.upload.poll(cx);
            let timeout = this.timeouts.end(upload);
            let Some(end) = timeout.into_iter().chain(*this.deadline).min() else { return Poll::Pending };
            if this.sleep.deadline() == end && this.sleep.is_elapsed() {
                let past_deadline = *this.deadline == Some(end);
                return Poll::Ready(Err(match upload {
                    _ if past_deadline => Error::Deadline,
                    Upload::Awaited(_) => Error::RequestBody(BodyIdle(this.timeouts.body_idle).into()),
                    Upload::Offered(_) => Error::AttemptTimeout { timeout: this.timeouts.body_idle },
                    Upload::Ended(_) => Error::AttemptTimeout { timeout: this.timeouts.attempt },
                }));
            }
            if this.sleep.deadline() != end {
                this.sleep.as_mut().reset(end);
            }
            ready!(this.sleep.as_mut().poll(cx));
        }
    }
}
