//! Request bodies that can be sent again, byte for byte.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::BoxError;

/// The memory that all held request bodies share.
#[derive(Clone)]
pub struct ReplayMemory(Arc<Memory>);

struct Memory {
    limit: usize,
    used: AtomicUsize,
}

impl ReplayMemory {
    /// Room for `bytes` of held bodies, all together.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Memory { limit: bytes, used: AtomicUsize::new(0) }))
    }

    /// How many bytes are held now.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for ReplayMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayMemory").field("used", &self.used()).field("limit", &self.0.limit).finish()
    }
}

/// A request body that is held while it is streamed, so that a clone of it sends it again from its start.
pub struct ReplayBody<B> {
    body: std::marker::PhantomData<fn() -> B>,
}

impl<B> ReplayBody<B> {
    /// Holds up to `limit` bytes of `body` while it is streamed, in `memory`. What is longer is streamed once.
    pub fn new(_body: B, _limit: usize, _memory: &ReplayMemory) -> Self {
        Self { body: std::marker::PhantomData }
    }

    /// Whether a clone can send the body again from its start (as far as is known by now).
    pub fn is_replayable(&self) -> bool {
        true
    }
}

impl<B> Clone for ReplayBody<B> {
    fn clone(&self) -> Self {
        Self { body: std::marker::PhantomData }
    }
}

impl<B> fmt::Debug for ReplayBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayBody").finish_non_exhaustive()
    }
}

impl<B> HttpBody for ReplayBody<B>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(None)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::new()
    }
}
