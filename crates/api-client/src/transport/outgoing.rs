//! A request body on its way into a transport.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use super::incoming::Upload;
use crate::body::{Body, BoxError};

/// The request's body. If it breaks, its error goes to the [`Breakage`]: a client hides it behind errors of its
/// own, and HTTP/2 behind the reset that it sends.
///
/// The lock is for no one: it makes the body `Sync`, which reqwest asks for.
pub(super) struct Outgoing {
    body: Mutex<Body>,
    breakage: Breakage,
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
            Ok(bytes) => {
                let body = Mutex::new(bytes.into());
                (Self { body, breakage: Breakage::default() }, Breakage::default())
            }
            Err(body) => {
                let breakage = Breakage(Some(Arc::default()));
                (Self { body: Mutex::new(body), breakage: breakage.clone() }, breakage)
            }
        }
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
        let polled = Pin::new(body).poll_frame(cx);
        if let (Poll::Ready(Some(Err(_))), Breakage(Some(slot))) = (&polled, &self.breakage) {
            let slot = slot.clone();
            return polled.map_err(|error| {
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                "the request's own body broke".into()
            });
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}
