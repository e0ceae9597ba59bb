//! Request bodies that can be sent again, byte for byte.
//!
//! A body is held while it is streamed for the first time, so that a request goes out without waiting for its end.
//! Every clone is another send from the start: it hands out what is held, and then reads on in the original.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use self::{held::Cursor, original::Original};
use crate::body::BoxError;

mod held;
mod memory;
mod original;
mod readers;

pub use self::memory::ReplayMemory;

/// A request body that is held while it is streamed, so that a clone of it sends it again from its start.
///
/// What is longer than the limit, or finds no room in the [`ReplayMemory`], is streamed once: by whoever reads it
/// first, without a copy, and [`is_replayable`](Self::is_replayable) says so. Trailers are held too. Each clone
/// tells the same length as the original did, so that a `Content-Length` holds for every try.
///
/// Several clones may be read at the same time, and any of them may be dropped midway.
///
/// ```
/// use http_body_util::{BodyExt, Full};
/// use tidegate_api_client::{ReplayBody, ReplayMemory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tidegate_api_client::BoxError> {
/// let memory = ReplayMemory::new(64 << 20);
/// let first = ReplayBody::new(Full::from("ping"), 1 << 20, &memory);
/// let second = first.clone();
/// drop(first.collect().await?);
/// assert!(second.is_replayable());
/// assert_eq!(second.collect().await?.to_bytes(), "ping");
/// assert_eq!(memory.used(), 0);
/// # Ok(())
/// # }
/// ```
pub struct ReplayBody<B> {
    /// `None`: there is nothing to send.
    original: Option<Arc<Original<B>>>,
    /// The original's length at its start: at least, and at most.
    length: (u64, Option<u64>),
    read: u64,
    cursor: Cursor,
    end: End,
}

/// A request body that may be sent again: what [`RetryPolicy`](crate::RetryPolicy) asks of the body type in a stack of
/// one's own.
///
/// It holds for bodies whose clone sends the same bytes from the start, and for [`ReplayBody`], which makes any body
/// such a one.
pub trait Replayable: Sized {
    /// Another body that sends the same from its start; `None` where there can be none.
    fn try_clone(&self) -> Option<Self>;

    /// Whether such a clone can still be sent, as far as is known by now. Asked when an attempt has failed.
    fn is_replayable(&self) -> bool {
        true
    }
}

impl<B> Replayable for ReplayBody<B> {
    fn try_clone(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn is_replayable(&self) -> bool {
        Self::is_replayable(self)
    }
}

impl Replayable for String {
    fn try_clone(&self) -> Option<Self> {
        Some(self.clone())
    }
}

/// How far this try is past the data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Ahead,
    Reached,
}

impl<B> ReplayBody<B>
where
    B: HttpBody,
{
    /// Holds up to `limit` bytes of `body` while it is streamed, in `memory`. What is longer is streamed once; of
    /// a body that tells from the start that it is longer, nothing is held.
    pub fn new(body: B, limit: usize, memory: &ReplayMemory) -> Self {
        let hint = body.size_hint();
        let original = (!body.is_end_stream()).then(|| Arc::new(Original::new(body, limit, memory)));
        Self {
            original,
            length: (hint.lower(), hint.upper()),
            read: 0,
            cursor: Cursor::start(),
            end: End::Ahead,
        }
    }
}

impl<B> ReplayBody<B> {
    /// Whether a clone can send the body again from its start, as far as is known by now: it has been held so far
    /// and has not broken.
    pub fn is_replayable(&self) -> bool {
        self.original.as_ref().is_none_or(|original| original.is_replayable())
    }
}

impl<B> Clone for ReplayBody<B> {
    /// Another send from the start, however far this one has come.
    fn clone(&self) -> Self {
        Self {
            original: self.original.clone(),
            length: self.length,
            read: 0,
            cursor: Cursor::start(),
            end: End::Ahead,
        }
    }
}

impl<B> fmt::Debug for ReplayBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayBody")
            .field("length", &self.length)
            .field("read", &self.read)
            .finish_non_exhaustive()
    }
}

impl<B> HttpBody for ReplayBody<B>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let Some(original) = this.original.as_ref().filter(|_| this.end == End::Ahead) else {
            return Poll::Ready(None);
        };
        let polled = original.poll(&mut this.cursor, cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) if frame.is_data() => {
                this.read += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            Poll::Ready(_) => this.end = End::Reached,
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        let unread = self.original.as_ref().filter(|_| self.end == End::Ahead);
        unread.is_none_or(|original| original.is_read(&self.cursor))
    }

    fn size_hint(&self) -> SizeHint {
        let (least, most) = self.length;
        let mut hint = SizeHint::new();
        if let Some(most) = most {
            hint.set_upper(most.saturating_sub(self.read));
        }
        hint.set_lower(least.saturating_sub(self.read));
        hint
    }
}

#[cfg(test)]
mod tests;
