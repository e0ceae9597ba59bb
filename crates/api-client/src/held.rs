//! Ties a lease to the response body it was lent for.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::body::{Body, BoxError};

/// `body`, holding `guard` until the body has ended, failed, or been dropped.
pub fn held<G: Send + Unpin + 'static>(body: Body, guard: G) -> Body {
    if body.is_end_stream() { body } else { Body::new(Held { body, guard: Some(guard) }) }
}

struct Held<G> {
    body: Body,
    guard: Option<G>,
}

impl<G: Unpin> HttpBody for Held<G> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        let ended = match &polled {
            Poll::Pending => false,
            Poll::Ready(None | Some(Err(_))) => true,
            Poll::Ready(Some(Ok(_))) => self.body.is_end_stream(),
        };
        if ended {
            self.guard = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
