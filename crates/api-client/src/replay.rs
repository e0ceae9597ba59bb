//! Request bodies that can be sent again, byte for byte.
//!
//! A body is held while it is streamed for the first time, so that a request goes out without waiting for its end.
//! Every clone is another send from the start: it hands out what is held, and then reads on in the original.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body as HttpBody, Frame, SizeHint};

use self::{
    held::{Cursor, Held},
    readers::Readers,
};
use crate::body::BoxError;

mod held;
mod memory;
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

/// How far this try is past the data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Ahead,
    Reached,
}

struct Original<B> {
    state: Mutex<State<B>>,
    readers: Arc<Readers>,
}

struct State<B> {
    source: Source<B>,
    data: Data,
}

enum Source<B> {
    Open(Pin<Box<B>>),
    Ended(Option<HeaderMap>),
    Failed,
}

enum Data {
    Held(Held),
    /// Streamed once, by the reader whose cursor has this number; 0: nobody has begun.
    Once(u64),
}

/// Why a body cannot be read (again).
#[derive(Debug, thiserror::Error)]
enum ReplayError {
    #[error("the request body was too long to be held, and has been sent already")]
    NotHeld,
    #[error("the request body broke while it was sent before")]
    Broken,
}

impl<B> ReplayBody<B>
where
    B: HttpBody,
{
    /// Holds up to `limit` bytes of `body` while it is streamed, in `memory`. What is longer is streamed once; of
    /// a body that tells from the start that it is longer, nothing is held.
    pub fn new(body: B, limit: usize, memory: &ReplayMemory) -> Self {
        let hint = body.size_hint();
        let original = (!body.is_end_stream()).then(|| {
            let too_long = usize::try_from(hint.lower()).map_or(true, |least| least > limit);
            let data = if too_long { Data::Once(0) } else { Data::Held(Held::new(limit, memory)) };
            let state = State { source: Source::Open(Box::pin(body)), data };
            Arc::new(Original { state: Mutex::new(state), readers: Arc::default() })
        });
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
        self.original.as_ref().is_none_or(|original| {
            let state = original.lock();
            matches!((&state.data, &state.source), (Data::Held(_), Source::Open(_) | Source::Ended(_)))
        })
    }
}

impl<B> Original<B> {
    /// The state is never left half changed, so that a panic in some body's `poll_frame` spoils no other try.
    fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut state = original.lock();
        let polled = match state.held(&mut this.cursor) {
            Ok(Some(bytes)) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Ok(None) => state.poll_source(&mut this.cursor, &original.readers, cx),
            Err(error) => Poll::Ready(Some(Err(error.into()))),
        };
        drop(state);
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
        let Some(original) = self.original.as_ref().filter(|_| self.end == End::Ahead) else { return true };
        let state = original.lock();
        let all_read = match &state.data {
            Data::Held(held) => held.is_read(&self.cursor),
            Data::Once(reader) => self.cursor.is_number(*reader),
        };
        all_read && matches!(state.source, Source::Ended(None))
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

impl<B> State<B> {
    /// The next held bytes; `None` where the original has to be read on.
    fn held(&mut self, cursor: &mut Cursor) -> Result<Option<Bytes>, ReplayError> {
        match &mut self.data {
            Data::Held(held) => Ok(held.next(cursor)),
            Data::Once(reader) => {
                if *reader == 0 {
                    *reader = cursor.number();
                }
                match self.source {
                    _ if cursor.is_number(*reader) => Ok(None),
                    Source::Failed => Err(ReplayError::Broken),
                    Source::Open(_) | Source::Ended(_) => Err(ReplayError::NotHeld),
                }
            }
        }
    }

    fn poll_source(
        &mut self,
        cursor: &mut Cursor,
        readers: &Arc<Readers>,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        // Should the body panic, it counts as failed.
        let mut body = match std::mem::replace(&mut self.source, Source::Failed) {
            Source::Open(body) => body,
            Source::Ended(trailers) => {
                let frame = trailers.clone().map(|trailers| Ok(Frame::trailers(trailers)));
                self.source = Source::Ended(trailers);
                return Poll::Ready(frame);
            }
            Source::Failed => return Poll::Ready(Some(Err(ReplayError::Broken.into()))),
        };
        // Before the poll: the body may wake from another thread as soon as it has said that it is pending.
        readers.register(cursor.number(), cx.waker());
        let waker = Waker::from(readers.clone());
        let polled = body.as_mut().poll_frame(&mut Context::from_waker(&waker));
        let polled = match polled {
            Poll::Pending => {
                self.source = Source::Open(body);
                return Poll::Pending;
            }
            Poll::Ready(None) => {
                self.source = Source::Ended(None);
                None
            }
            Poll::Ready(Some(Err(error))) => {
                // Nobody will get the whole of it: what is held is of no use.
                self.data = Data::Once(cursor.number());
                Some(Err(error.into()))
            }
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(bytes) => {
                    self.hold(&bytes, cursor);
                    self.source = if body.is_end_stream() { Source::Ended(None) } else { Source::Open(body) };
                    Some(Ok(Frame::data(bytes)))
                }
                Err(frame) => match frame.into_trailers() {
                    Ok(trailers) => {
                        self.source = Source::Ended(Some(trailers.clone()));
                        Some(Ok(Frame::trailers(trailers)))
                    }
                    Err(frame) => {
                        self.source = Source::Open(body);
                        Some(Ok(frame))
                    }
                },
            },
        };
        readers.wake_others(cursor.number());
        Poll::Ready(polled)
    }

    /// Holds what was just read, or from now on nothing: then only this reader can go on.
    fn hold(&mut self, bytes: &Bytes, cursor: &mut Cursor) {
        let Data::Held(held) = &mut self.data else { return };
        if held.push(bytes, cursor).is_err() {
            self.data = Data::Once(cursor.number());
        }
    }
}

#[cfg(test)]
mod tests;
