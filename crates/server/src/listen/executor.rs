use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::Executor;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};

use super::io::later;

/// Whom a stream waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// For us: the answer, or more of its body, is not there yet. That is bounded elsewhere.
    Ours,
    /// For the peer, which has to take what there is.
    Peers,
}

tokio::task_local! {
    /// Whether it is the peer's turn in the HTTP/2 stream that this task drives.
    static PEERS_TURN: Arc<AtomicBool>;
}

/// Runs the streams of HTTP/2 connections, and ends those whose peer has stopped reading.
///
/// A peer that never widens its window leaves a stream without anything to write, so no timeout on the socket sees
/// it. What can be seen is that there is an answer, and that its body is not asked for more.
#[derive(Clone, Debug)]
pub(super) struct StreamExecutor {
    /// 0 is off.
    pub(super) body_idle_timeout: Duration,
}

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
        tokio::spawn(Watched { stream, limit, peers_turn: Arc::default(), timer: None });
    }
}

/// Says whose turn it is in the stream of this task; does nothing elsewhere.
pub(super) fn set_turn(turn: Turn) {
    let _ = PEERS_TURN.try_with(|peers| peers.store(turn == Turn::Peers, Ordering::Relaxed));
}

pin_project! {
    struct Watched<F> {
        #[pin]
        stream: F,
        limit: Duration,
        peers_turn: Arc<AtomicBool>,
        timer: Option<Pin<Box<Sleep>>>,
    }
}

impl<F: Future> Future for Watched<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let is_peers_turn = |turn: &AtomicBool| turn.load(Ordering::Relaxed);
        let late = this.timer.as_ref().is_some_and(|timer| timer.deadline() <= Instant::now());
        if late && is_peers_turn(this.peers_turn) {
            return Poll::Ready(());
        }
        let stream = this.stream;
        if PEERS_TURN.sync_scope(Arc::clone(this.peers_turn), || stream.poll(cx)).is_ready() {
            return Poll::Ready(());
        }
        if is_peers_turn(this.peers_turn) {
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
    async fn a_stream_whose_peer_does_not_take_its_turn_is_dropped() {
        let (held, dropped) = oneshot::channel::<()>();
        let start = Instant::now();
        run(async move {
            let _held = held;
            set_turn(Turn::Peers);
            std::future::pending::<()>().await;
        });
        assert!(dropped.await.is_err());
        assert_eq!(start.elapsed(), LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_waits_for_us_or_goes_on_is_left_alone() {
        let (held, done) = oneshot::channel::<()>();
        run(async move {
            tokio::time::sleep(LIMIT * 10).await;
            for _ in 0..10 {
                set_turn(Turn::Peers);
                tokio::time::sleep(LIMIT / 2).await;
                set_turn(Turn::Ours);
                tokio::time::sleep(LIMIT * 3).await;
            }
            let _ = held.send(());
        });
        assert!(done.await.is_ok());
    }
}
