use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use rustix::io::Errno;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::Service;

use super::activity::Activity;
use super::bind::{Bound, Listener};
use super::body::RequestBody;
use super::connection::{BoxError, Peer, drive, protocol};
use super::io::Stream;

/// How long connections may take, and how many there may be. A length of 0 is off; so is a number of 0.
#[derive(Clone, Debug)]
pub(crate) struct ServeParams {
    /// Connections at once; further ones wait in the kernel's queue.
    pub(crate) max_connections: usize,
    /// From the accept, or the first byte of a later request, to the whole head.
    pub(crate) head_timeout: Duration,
    /// Between two requests of a connection.
    pub(crate) idle_timeout: Duration,
    /// Between two pieces of a request body, and for a peer that does not read.
    pub(crate) body_idle_timeout: Duration,
}

impl Default for ServeParams {
    fn default() -> Self {
        Self {
            max_connections: 16_384,
            head_timeout: Duration::from_secs(10),
            // Above the 60 s of most load balancers, so that it is they who close.
            idle_timeout: Duration::from_secs(75),
            body_idle_timeout: Duration::from_secs(120),
        }
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// Requests that were still under way when the grace was over.
    pub(crate) cut: usize,
}

/// Accepts on `bound` until `stop`, then lets what runs finish for at most `grace`, and cuts the rest.
///
/// A client that goes away drops the future of its request. Every request carries its [`Peer`] as an extension.
pub(crate) async fn serve<S, B>(
    bound: Bound,
    service: S,
    params: ServeParams,
    stop: impl Future<Output = ()>,
    grace: Duration,
) -> Served
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (close, closing) = watch::channel(false);
    let in_flight = Arc::new(AtomicUsize::new(0));
    let permits = Arc::new(Semaphore::new(match params.max_connections {
        0 => Semaphore::MAX_PERMITS,
        some => some.min(Semaphore::MAX_PERMITS),
    }));
    let shared = Arc::new((protocol(&params), params));
    let mut connections = JoinSet::new();
    let total = Arc::clone(&in_flight);
    // It owns what it clones, so that the service need not be `Sync`.
    let start =
        move |connections: &mut JoinSet<()>, stream: Stream, peer: Peer, permit: OwnedSemaphorePermit| {
            let (service, shared, closing) = (service.clone(), Arc::clone(&shared), closing.clone());
            let activity = Arc::new(Activity::new(Instant::now(), Arc::clone(&total)));
            connections.spawn(async move {
                drive(stream, peer, service, &shared.0, &shared.1, activity, closing).await;
                drop(permit);
            });
        };

    let mut trouble = Trouble::default();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(ended) = connections.join_next(), if !connections.is_empty() => note(ended),
            (permit, accepted) = next(&permits, &bound.listeners) => match accepted {
                Ok((stream, peer)) => start(&mut connections, stream, peer, permit),
                Err(error) => trouble.pause(&error).await,
            },
        }
    }

    // What the kernel has accepted for us came before the stop: closing the socket would reset it.
    while let (Ok(permit), Some(Ok((stream, peer)))) =
        (Arc::clone(&permits).try_acquire_owned(), accept_now(&bound.listeners).await)
    {
        start(&mut connections, stream, peer, permit);
    }
    drop(bound);
    let _ = close.send(true);
    let all_ended = async {
        while let Some(ended) = connections.join_next().await {
            note(ended);
        }
    };
    let cut = match tokio::time::timeout(grace, all_ended).await {
        Ok(()) => 0,
        Err(_) => in_flight.load(Ordering::Relaxed),
    };
    connections.shutdown().await;
    Served { cut }
}

fn note(ended: Result<(), tokio::task::JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        tracing::error!("a connection ended by a panic");
    }
}

async fn next(
    permits: &Arc<Semaphore>,
    listeners: &[Listener],
) -> (OwnedSemaphorePermit, io::Result<(Stream, Peer)>) {
    let Ok(permit) = Arc::clone(permits).acquire_owned().await else {
        // The semaphore is never closed.
        return std::future::pending().await;
    };
    (permit, poll_fn(|cx| poll_accept(listeners, cx)).await)
}

fn poll_accept(listeners: &[Listener], cx: &mut Context<'_>) -> Poll<io::Result<(Stream, Peer)>> {
    listeners.iter().map(|listener| listener.poll_accept(cx)).find(Poll::is_ready).unwrap_or(Poll::Pending)
}

async fn accept_now(listeners: &[Listener]) -> Option<io::Result<(Stream, Peer)>> {
    poll_fn(|cx| match poll_accept(listeners, cx) {
        Poll::Ready(accepted) => Poll::Ready(Some(accepted)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Accepts that failed.
#[derive(Debug, Default)]
struct Trouble {
    told: Option<Instant>,
}

impl Trouble {
    const PAUSE: Duration = Duration::from_millis(100);
    const TELL_EVERY: Duration = Duration::from_secs(60);

    /// Waits where trying again at once would only burn the processor: there is no descriptor or memory to be had.
    async fn pause(&mut self, error: &io::Error) {
        if !is_exhaustion(error) {
            // The peer left between its connect and our accept.
            tracing::debug!(%error, "a connection was not accepted");
            return;
        }
        let now = Instant::now();
        if self.told.is_none_or(|told| now - told >= Self::TELL_EVERY) {
            self.told = Some(now);
            tracing::error!(%error, "no connection can be accepted; raise the limit of open files or lower max_connections");
        }
        tokio::time::sleep(Self::PAUSE).await;
    }
}

fn is_exhaustion(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM]
        .iter()
        .any(|errno| code == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn running_out_of_descriptors_pauses_and_a_lost_peer_does_not() {
        for (errno, paused) in [
            (Errno::MFILE, true),
            (Errno::NFILE, true),
            (Errno::NOBUFS, true),
            (Errno::NOMEM, true),
            (Errno::CONNABORTED, false),
            (Errno::INTR, false),
        ] {
            let start = Instant::now();
            let mut trouble = Trouble::default();
            trouble.pause(&io::Error::from_raw_os_error(errno.raw_os_error())).await;
            assert_eq!(start.elapsed() >= Trouble::PAUSE, paused, "{errno:?}");
            assert_eq!(trouble.told.is_some(), paused, "{errno:?}");
        }
    }
}
