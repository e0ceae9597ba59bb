use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::Executor;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};

use super::io::later;

tokio::task_local! {
    /// Whether the HTTP/2 stream that this task drives has answered.
    static ANSWERED: Arc<AtomicBool>;
}

/// Runs the streams of HTTP/2 connections, and ends those whose peer has stopped reading.
///
/// A peer that never widens its window leaves a stream without anything to write, so no timeout on the socket sees
/// it; its body is not asked for either. What can be seen is that, once it has answered, nothing wakes the stream any
/// more: a body that waits for the upstream has a timeout of its own, and would.
#[derive(Clone, Debug)]
pub(super) struct StreamExecutor {
    /// 0 is off.
    pub(super) body_idle_timeout: Duration,
}

/// Time for the upstream's own idle timeout to be the one that acts.
const HEAD_START: Duration = Duration::from_secs(1);

impl<F> Executor<F> for StreamExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        let limit = self.body_idle_timeout;
        if limit.is_zero() {
            tokio::spawn(stream);
            return;
        }
        let limit = limit.saturating_add(HEAD_START);
        tokio::spawn(Watched { stream, limit, answered: Arc::default(), timer: None });
    }
}

/// Says that the stream of this task has answered; does nothing elsewhere.
pub(super) fn mark_answered() {
    let _ = ANSWERED.try_with(|answered| answered.store(true, Ordering::Relaxed));
}

pin_project! {
    struct Watched<F> {
        #[pin]
        stream: F,
        limit: Duration,
        answered: Arc<AtomicBool>,
        timer: Option<Pin<Box<Sleep>>>,
    }
}

impl<F: Future> Future for Watched<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if this.timer.as_ref().is_some_and(|timer| timer.deadline() <= Instant::now()) {
            return Poll::Ready(());
        }
        let stream = this.stream;
        if ANSWERED.sync_scope(Arc::clone(this.answered), || stream.poll(cx)).is_ready() {
            return Poll::Ready(());
        }
        if this.answered.load(Ordering::Relaxed) {
            let until = later(*this.limit);
            let timer = this.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
            timer.as_mut().reset(until);
            return timer.as_mut().poll(cx);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    const LIMIT: Duration = Duration::from_secs(5);

    fn run<F: Future<Output = ()> + Send + 'static>(stream: F) {
        StreamExecutor { body_idle_timeout: LIMIT }.execute(stream);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_has_answered_and_stands_still_is_dropped() {
        let (held, dropped) = oneshot::channel::<()>();
        let start = Instant::now();
        run(async move {
            let _held = held;
            mark_answered();
            std::future::pending::<()>().await;
        });
        assert!(dropped.await.is_err());
        assert_eq!(start.elapsed(), LIMIT + HEAD_START);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_waits_for_its_head_is_left_alone() {
        let (held, done) = oneshot::channel::<()>();
        run(async move {
            tokio::time::sleep(LIMIT * 10).await;
            mark_answered();
            for _ in 0..10 {
                tokio::time::sleep(LIMIT).await;
            }
            let _ = held.send(());
        });
        assert!(done.await.is_ok());
    }
}
