//! Watches a request body on its way out, so that time is counted from the moment it was sent.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::Instant;

use crate::body::{Body, BoxError};

/// How far an upload has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upload {
    /// The upstream was last given bytes at this moment, and has asked for no more since.
    Offered(Instant),
    /// The upstream asks for bytes, and the caller has given none since this moment.
    Awaited(Instant),
    /// All was handed to the connection (or given up) at this moment.
    Ended(Instant),
}

/// The watcher's end of an upload.
#[derive(Debug)]
pub(crate) enum UploadWatch {
    /// There was nothing to send at this moment.
    Nothing(Instant),
    Underway(Arc<Mutex<Shared>>),
}

#[derive(Debug)]
pub(crate) struct Shared {
    upload: Upload,
    waker: Option<Waker>,
}

impl UploadWatch {
    /// Wraps `body`; a body that is empty has ended already and is passed on as it is.
    pub(crate) fn new(body: Body, now: Instant) -> (Self, Body) {
        if body.is_end_stream() {
            return (Self::Nothing(now), body);
        }
        let shared = Arc::new(Mutex::new(Shared { upload: Upload::Offered(now), waker: None }));
        let body = Body::new(Watched { body, shared: shared.clone() });
        (Self::Underway(shared), body)
    }

    /// Where the upload stands; `cx` is woken once it has ended.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Upload {
        let shared = match self {
            Self::Nothing(at) => return Upload::Ended(*at),
            Self::Underway(shared) => shared,
        };
        let mut shared = lock(shared);
        if !matches!(shared.upload, Upload::Ended(_)) {
            shared.waker = Some(cx.waker().clone());
        }
        shared.upload
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Watched {
    body: Body,
    shared: Arc<Mutex<Shared>>,
}

impl Watched {
    fn end(&self) {
        let mut shared = lock(&self.shared);
        if matches!(shared.upload, Upload::Ended(_)) {
            return;
        }
        shared.upload = Upload::Ended(Instant::now());
        let waker = shared.waker.take();
        drop(shared);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Pending => {
                let mut shared = lock(&self.shared);
                if let Upload::Offered(_) = shared.upload {
                    shared.upload = Upload::Awaited(Instant::now());
                }
            }
            Poll::Ready(Some(Ok(_))) if !self.body.is_end_stream() => {
                lock(&self.shared).upload = Upload::Offered(Instant::now());
            }
            Poll::Ready(_) => self.end(),
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

impl Drop for Watched {
    // A connection drops a body when it has sent it, and also when it gives it up: either way the wait begins.
    fn drop(&mut self) {
        self.end();
    }
}
