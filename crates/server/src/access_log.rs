//! The access log: one line a request, written when its answer has ended or its client has gone.
//!
//! It holds the path without the query, and tokens by their ids: what a client asks for in detail is its own matter.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tidegate_api_client::{Attempts, Ended};
use tokio::time::Instant;

use crate::live::{Asked, millis};
use crate::metrics::NO_ROUTE;
use crate::trip::Trip;

/// The target of these lines, for filters.
pub(crate) const TARGET: &str = "access";

/// What is known of a request before it is answered. Dropped without an answer, it says that the client has gone.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) asked: Arc<Asked>,
    pub(crate) started: Instant,
    /// Holds the attempts, also those of a request that was given up.
    pub(crate) trip: Trip,
    state: Progress,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    status: Option<StatusCode>,
    bytes: u64,
    end: End,
}

/// How the answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// The client went away before the end.
    #[default]
    Left,
    Whole,
    /// The upstream broke off, and so was the client.
    Broken,
}

impl End {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Whole => "whole",
            Self::Broken => "broken",
        }
    }
}

impl Entry {
    pub(crate) fn new(asked: Arc<Asked>, trip: Trip, started: Instant) -> Self {
        Self { asked, started, trip, state: Progress::default() }
    }

    /// The answer; the line is written when its body has ended.
    pub(crate) fn answer<B: Body>(mut self, response: Response<B>) -> Response<LoggedBody<B>> {
        self.state.status = Some(response.status());
        if response.body().is_end_stream() {
            self.state.end = End::Whole;
        }
        response.map(|inner| LoggedBody { inner, entry: self })
    }

    fn write(&self) {
        let attempts = self.trip.journey().attempts();
        let waited: std::time::Duration =
            attempts.iter().map(|attempt| attempt.wait + attempt.token_wait).sum();
        // 499 is nginx's word for a client that went away before its answer.
        let status = self.state.status.map_or(499, |status| status.as_u16());
        tracing::info!(
            target: TARGET,
            id = %self.asked.id,
            method = %self.asked.method,
            path = %Printable(&self.asked.path),
            status,
            route = self.trip.route().unwrap_or(NO_ROUTE),
            client = self.trip.client().map(|client| &**client),
            attempts = %Summary(&attempts),
            waited_ms = millis(waited),
            duration_ms = millis(self.started.elapsed()),
            bytes = self.state.bytes,
            end = self.state.end.as_str(),
        );
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.write();
    }
}

/// Each attempt's token and end: `7f3a9c21d04be85a:429 1d04be85a7f3a9c2:200`.
struct Summary<'a>(&'a Attempts);

impl std::fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (n, attempt) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_char(' ')?;
            }
            match attempt.token {
                Some(token) => write!(f, "{token}:")?,
                None => f.write_str("-:")?,
            }
            match attempt.ended {
                Ended::Status(status) => f.write_str(status.as_str())?,
                Ended::Failed(kind) => f.write_str(kind)?,
                Ended::Unfinished => f.write_str("unfinished")?,
            }
        }
        Ok(())
    }
}

/// A path as a terminal can bear it: what is no printable ASCII is percent-encoded.
pub(crate) struct Printable<'a>(pub(crate) &'a str);

impl std::fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for byte in self.0.bytes() {
            match byte {
                b'!'..=b'~' => f.write_char(char::from(byte))?,
                _ => write!(f, "%{byte:02X}")?,
            }
        }
        Ok(())
    }
}

pin_project! {
    /// A response body that writes its request's line at the end.
    #[derive(Debug)]
    pub(crate) struct LoggedBody<B> {
        #[pin]
        inner: B,
        entry: Entry,
    }
}

impl<B: Body> Body for LoggedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.inner.as_mut().poll_frame(cx));
        let state = &mut this.entry.state;
        match &frame {
            None => state.end = End::Whole,
            Some(Err(_)) => state.end = End::Broken,
            Some(Ok(frame)) => {
                let length = frame.data_ref().map_or(0, Buf::remaining);
                state.bytes = state.bytes.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
                // hyper does not ask again where the length is known.
                if this.inner.is_end_stream() {
                    state.end = End::Whole;
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::Method;
    use http_body_util::{BodyExt, Full};
    use std::sync::Mutex;
    use tracing_subscriber::fmt::MakeWriter;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Log {
        type Writer = Self;
        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    fn entry(id: &str, path: &str, trip: Trip) -> Entry {
        let asked = Asked { id: id.to_owned(), method: Method::GET, path: path.to_owned() };
        Entry::new(Arc::new(asked), trip, Instant::now())
    }

    fn written(act: impl FnOnce(Entry)) -> String {
        let log = Log::default();
        let subscriber =
            tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).without_time().finish();
        tracing::subscriber::with_default(subscriber, || {
            let trip = Trip::default();
            trip.set_route("/");
            act(entry("id-1", "/a/\u{9b}31m%20", trip));
        });
        String::from_utf8(log.0.lock().unwrap().clone()).unwrap()
    }

    // One test, not two: tracing forgets a callsite that is first met by a thread without a subscriber in the very
    // moment when another thread gets one.
    #[tokio::test(start_paused = true)]
    async fn a_line_says_how_the_answer_ended_and_the_body_passes_unchanged() {
        let full = || Response::new(Full::new(Bytes::from_static(b"12345")));
        let entry = entry("id", "/", Trip::default());
        let response = entry.answer(full());
        assert_eq!(response.body().size_hint().exact(), Some(5));
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "12345");

        let read = written(|entry| {
            let mut body = std::pin::pin!(entry.answer(full()).into_body());
            let frame = futures_frame(body.as_mut());
            assert_eq!(frame.unwrap().unwrap().into_data().unwrap(), "12345");
        });
        let unread = written(|entry| drop(entry.answer(full())));
        let empty = written(|entry| drop(entry.answer(Response::new(Full::<Bytes>::default()))));
        let given_up = written(drop);
        for (line, status, bytes, end) in [
            (&read, 200, 5, "whole"),
            (&unread, 200, 0, "left"),
            (&empty, 200, 0, "whole"),
            (&given_up, 499, 0, "left"),
        ] {
            let want = format!(
                " INFO access: id=id-1 method=GET path=/a/%C2%9B31m%20 status={status} route=\"/\" attempts= \
                 waited_ms=0 duration_ms=0 bytes={bytes} end=\"{end}\"\n"
            );
            assert_eq!(*line, want);
        }
    }

    fn futures_frame<B: Body + Unpin>(body: Pin<&mut B>) -> Option<Result<Frame<B::Data>, B::Error>> {
        let waker = std::task::Waker::noop();
        match body.poll_frame(&mut Context::from_waker(waker)) {
            Poll::Ready(frame) => frame,
            Poll::Pending => None,
        }
    }
}
