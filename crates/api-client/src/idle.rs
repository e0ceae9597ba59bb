//! A body that may not fall silent.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::body::{Body, BoxError};

/// A body of which no byte came for the whole idle timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no byte of the body for {0:?}")]
pub struct BodyIdle(pub Duration);

/// Fails `body` with [`BodyIdle`] when it is waited for longer than `idle`; zero is never.
pub fn idle_limited(body: Body, idle: Duration) -> Body {
    if idle.is_zero() || body.is_end_stream() {
        return body;
    }
    Body::new(IdleLimited { body, idle, clock: None })
}

struct IdleLimited {
    body: Body,
    idle: Duration,
    // Made at the first wait: most bodies are there when they are asked for.
    clock: Option<Clock>,
}

struct Clock {
    sleep: Pin<Box<Sleep>>,
    waiting: bool,
}

impl HttpBody for IdleLimited {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            if let Some(clock) = &mut this.clock {
                clock.waiting = false;
            }
            return Poll::Ready(frame);
        }
        let Some(end) = Instant::now().checked_add(this.idle) else { return Poll::Pending };
        let clock = this
            .clock
            .get_or_insert_with(|| Clock { sleep: Box::pin(tokio::time::sleep_until(end)), waiting: true });
        if !clock.waiting {
            clock.waiting = true;
            clock.sleep.as_mut().reset(end);
        }
        clock.sleep.as_mut().poll(cx).map(|()| Some(Err(BodyIdle(this.idle).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
