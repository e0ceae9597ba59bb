//! A body that may not fall silent.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::body::{Body, BoxError};

/// A body of which no byte came for the whole idle timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no byte of the body for {0:?}")]
pub struct BodyIdle(pub Duration);

/// Fails `body` with [`BodyIdle`] when it is waited for longer than `idle`; zero is never. Of two bounds on one body
/// the shorter holds.
///
/// ```
/// use std::time::Duration;
/// use tidegate_api_client::{Body, idle_limited};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tidegate_api_client::Error> {
/// let body = idle_limited(Body::from("here at once"), Duration::from_secs(30));
/// assert_eq!(body.bytes().await?, "here at once");
/// # Ok(())
/// # }
/// ```
pub fn idle_limited(mut body: Body, idle: Duration) -> Body {
    limit_idle(&mut body, idle);
    body
}

/// The same where the body stands.
pub(crate) fn limit_idle(body: &mut Body, idle: Duration) {
    use http_body::Body as _;

    if !idle.is_zero() && !body.is_end_stream() {
        body.limit_idle(Idle { timeout: idle, clock: None });
    }
}

/// The bound on a body's silence.
pub(crate) struct Idle {
    timeout: Duration,
    // Made at the first wait: most bodies are there when they are asked for.
    clock: Option<Clock>,
}

struct Clock {
    sleep: Pin<Box<Sleep>>,
    waiting: bool,
}

impl Idle {
    pub(crate) fn shorter(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.timeout <= self.timeout => other,
            _ => self,
        }
    }

    /// What a poll of the body comes to: the same, or the end of patience.
    pub(crate) fn watch<T>(
        &mut self,
        polled: Poll<Option<Result<T, BoxError>>>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<T, BoxError>>> {
        if polled.is_ready() {
            if let Some(clock) = &mut self.clock {
                clock.waiting = false;
            }
            return polled;
        }
        let Some(end) = Instant::now().checked_add(self.timeout) else { return Poll::Pending };
        let clock = self
            .clock
            .get_or_insert_with(|| Clock { sleep: Box::pin(tokio::time::sleep_until(end)), waiting: true });
        if !clock.waiting {
            clock.waiting = true;
            clock.sleep.as_mut().reset(end);
        }
        clock.sleep.as_mut().poll(cx).map(|()| Some(Err(BodyIdle(self.timeout).into())))
    }
}
