use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::io::later;

/// The end of a connection whose peer may still be sending a body that was refused.
///
/// Closing a socket that holds unread bytes resets it, and the reset takes away the answer that the peer has not read
/// yet (RFC 9112, section 9.6). So what it sends is read and thrown away, until it ends, is silent, or goes on too long.
#[derive(Debug)]
pub(super) struct Linger {
    until: Instant,
    silent: Pin<Box<Sleep>>,
}

const LONGEST: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(2);
/// So many reads, then others have their turn.
const READS: usize = 64;

impl Linger {
    pub(super) fn new() -> Self {
        Self { until: later(LONGEST), silent: Box::pin(tokio::time::sleep(SILENCE)) }
    }

    /// Ready when the socket can be closed.
    pub(super) fn poll<R: AsyncRead + Unpin>(
        &mut self,
        stream: &mut R,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let mut scratch = [0; 8192];
        for _ in 0..READS {
            let mut buf = ReadBuf::new(&mut scratch);
            match Pin::new(&mut *stream).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() => {}
                // The end, or a reset of the peer's own.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => return self.silent.as_mut().poll(cx).map(Ok),
            }
            let now = Instant::now();
            if now >= self.until {
                return Poll::Ready(Ok(()));
            }
            self.silent.as_mut().reset(self.until.min(now + SILENCE));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::io::AsyncWriteExt;

    async fn linger(mut stream: impl AsyncRead + Unpin) -> Duration {
        let start = Instant::now();
        let mut linger = Linger::new();
        poll_fn(|cx| linger.poll(&mut stream, cx)).await.unwrap();
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_lingers_while_its_peer_sends_and_not_for_ever() {
        let (ours, theirs) = tokio::io::duplex(1024);
        assert_eq!(linger(ours).await, SILENCE, "a silent peer");
        drop(theirs);

        let (ours, mut theirs) = tokio::io::duplex(1024);
        tokio::spawn(async move { theirs.write_all(&[0; 1_000_000]).await.unwrap() });
        assert_eq!(linger(ours).await, Duration::ZERO, "a peer that ends");

        let (ours, mut theirs) = tokio::io::duplex(1024);
        tokio::spawn(async move {
            while theirs.write_all(&[0; 16]).await.is_ok() {
                tokio::time::sleep(SILENCE / 2).await;
            }
        });
        assert_eq!(linger(ours).await, LONGEST, "a peer that trickles");
    }
}
