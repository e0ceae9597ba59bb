use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Instant, Sleep};

use super::activity::Activity;
use super::linger::Linger;

/// A connection of either kind.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connection that notes what it receives, and fails when its peer takes nothing for `write_timeout`.
#[derive(Debug)]
pub(super) struct WatchedIo {
    stream: Stream,
    activity: Arc<Activity>,
    write_timeout: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    linger: Option<Linger>,
}

impl WatchedIo {
    pub(super) fn new(stream: Stream, activity: Arc<Activity>, write_timeout: Duration) -> Self {
        Self { stream, activity, write_timeout, stalled: None, linger: None }
    }

    /// Fails once writes have been pending for the whole timeout.
    fn bound_write<T>(&mut self, cx: &mut Context<'_>, write: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.stalled = None;
            return write;
        }
        if self.write_timeout.is_zero() {
            return Poll::Pending;
        }
        let timeout = self.write_timeout;
        let timer = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(later(timeout))));
        timer.as_mut().poll(cx).map(|()| {
            let said = format!("the peer has read nothing for {timeout:?}");
            Err(io::Error::new(io::ErrorKind::TimedOut, said))
        })
    }
}

/// `timeout` from now; a length past the clock's end is as good as for ever.
pub(super) fn later(timeout: Duration) -> Instant {
    const FOR_EVER: Duration = Duration::from_secs(86_400 * 365);
    Instant::now() + timeout.min(FOR_EVER)
}

impl Drop for WatchedIo {
    fn drop(&mut self) {
        // A Unix socket has no reset; its peer sees an end.
        if let (true, Stream::Tcp(stream)) = (self.activity.ends_by_reset(), &self.stream) {
            let _ = stream.set_zero_linger();
        }
    }
}

impl AsyncRead for WatchedIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        };
        if buf.filled().len() > before {
            self.activity.received();
        }
        read
    }
}

impl AsyncWrite for WatchedIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
        };
        self.bound_write(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        };
        self.bound_write(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Tcp(stream) => stream.is_write_vectored(),
            Stream::Unix(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.activity.ends_by_reset() && matches!(this.stream, Stream::Tcp(_)) {
            // A shutdown would tell the end that must not be told.
            return Poll::Ready(Ok(()));
        }
        if this.linger.is_none() {
            ready!(match &mut this.stream {
                Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
                Stream::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            })?;
            if !this.activity.begin_linger() {
                return Poll::Ready(Ok(()));
            }
        }
        let linger = this.linger.get_or_insert_with(Linger::new);
        match &mut this.stream {
            Stream::Tcp(stream) => linger.poll(stream, cx),
            Stream::Unix(stream) => linger.poll(stream, cx),
        }
    }
}
