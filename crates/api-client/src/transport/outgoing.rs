//! A request body on its way into a transport.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::Full;

use super::incoming::Upload;
use crate::body::{Body, BoxError};

/// The request's body. Small: the clients move a request with its body a dozen times.
pub(super) enum Outgoing {
    Ready(Full<Bytes>),
    Streamed(Box<Streamed>),
}

/// A body that may break. Its error then goes to the [`Breakage`]: a client hides it behind errors of its own, and
/// HTTP/2 behind the reset that it sends.
///
/// The lock is for no one: it makes the body `Sync`, which reqwest asks for.
pub(super) struct Streamed {
    body: Mutex<Body>,
    error: Arc<Mutex<Option<BoxError>>>,
}

/// Where a broken request body leaves its error.
#[derive(Clone, Default)]
pub(super) struct Breakage(Option<Arc<Mutex<Option<BoxError>>>>);

impl Breakage {
    /// Whether the body is sent piece by piece, and may be underway when the response begins.
    pub(super) const fn upload(&self) -> Upload {
        if self.0.is_some() { Upload::Streamed } else { Upload::Ready }
    }

    /// The error of the body that broke, if it has.
    pub(super) fn take(&self) -> Option<BoxError> {
        self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Outgoing {
    pub(super) fn new(body: Body) -> (Self, Breakage) {
        match body.into_ready() {
            Ok(bytes) => (Self::Ready(bytes.into()), Breakage::default()),
            Err(body) => {
                let error = Arc::default();
                let breakage = Breakage(Some(Arc::clone(&error)));
                (Self::Streamed(Box::new(Streamed { body: Mutex::new(body), error })), breakage)
            }
        }
    }
}

impl Streamed {
    fn body(&self) -> MutexGuard<'_, Body> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
        Pin::new(body).poll_frame(cx).map_err(|error| {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            "the request's own body broke".into()
        })
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            Self::Ready(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Self::Streamed(body) => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ready(body) => body.is_end_stream(),
            Self::Streamed(body) => body.body().is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ready(body) => body.size_hint(),
            Self::Streamed(body) => body.body().size_hint(),
        }
    }
}
