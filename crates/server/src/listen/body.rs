use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tokio::time::Sleep;

use super::activity::{Activity, InFlight};
use super::executor::{Turn, set_turn};
use super::io::later;

/// Why a client's body did not arrive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestBodyError {
    #[error("the client has sent nothing of its body for {0:?}")]
    Idle(Duration),
    #[error("the client's body broke off")]
    Broken(#[source] hyper::Error),
}

/// A client's body, which fails when nothing of it comes for the idle timeout while somebody waits for it.
#[derive(Debug)]
pub(crate) struct RequestBody {
    inner: Incoming,
    timeout: Duration,
    idle: Option<Pin<Box<Sleep>>>,
    activity: Arc<Activity>,
    ended: bool,
}

impl RequestBody {
    pub(super) fn new(inner: Incoming, timeout: Duration, activity: Arc<Activity>) -> Self {
        Self { inner, timeout, idle: None, activity, ended: false }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.ended && !self.inner.is_end_stream() {
            self.activity.leave_body();
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = RequestBodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(cx) {
            self.idle = None;
            self.ended = frame.is_none();
            return Poll::Ready(frame.map(|read| read.map_err(RequestBodyError::Broken)));
        }
        if self.timeout.is_zero() {
            return Poll::Pending;
        }
        let timeout = self.timeout;
        let timer = self.idle.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(later(timeout))));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Some(Err(RequestBodyError::Idle(timeout))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// What a broken body does to its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnBreak {
    /// The framing tells the peer: a chunk, a length or an HTTP/2 frame is missing.
    Framed,
    /// HTTP/1.0 ends a body by closing; only a reset says that this is not its end.
    Reset,
}

pin_project! {
    /// A response body that keeps its request counted as in flight until it ends.
    pub(super) struct ResponseBody<B> {
        #[pin]
        inner: B,
        on_break: OnBreak,
        in_flight: InFlight,
    }
}

impl<B> ResponseBody<B> {
    pub(super) fn new(inner: B, on_break: OnBreak, in_flight: InFlight) -> Self {
        Self { inner, on_break, in_flight }
    }
}

impl<B: Body> Body for ResponseBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        let polled = this.inner.poll_frame(cx);
        set_turn(if polled.is_pending() { Turn::Ours } else { Turn::Peers });
        let frame = ready!(polled);
        if matches!(frame, Some(Err(_))) && *this.on_break == OnBreak::Reset {
            this.in_flight.activity().end_by_reset();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
