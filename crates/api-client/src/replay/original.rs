//! The original body, which all tries share: what is held of it, and what is still to come.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body as HttpBody, Frame};

use super::{
    held::{Cursor, Held},
    memory::ReplayMemory,
    readers::Readers,
};
use crate::body::BoxError;

pub(super) struct Original<B> {
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

impl<B: HttpBody> Original<B> {
    pub(super) fn new(body: B, limit: usize, memory: &ReplayMemory) -> Self {
        let too_long = usize::try_from(body.size_hint().lower()).map_or(true, |least| least > limit);
        let data = if too_long { Data::Once(0) } else { Data::Held(Held::new(limit, memory)) };
        let state = State { source: Source::Open(Box::pin(body)), data };
        Self { state: Mutex::new(state), readers: Arc::default() }
    }

    /// The next frame for the reader at `cursor`: of what is held, or of the original.
    pub(super) fn poll(
        &self,
        cursor: &mut Cursor,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let mut state = self.lock();
        match state.held(cursor) {
            Ok(Some(bytes)) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Ok(None) => state.poll_source(cursor, &self.readers, cx),
            Err(error) => Poll::Ready(Some(Err(error.into()))),
        }
    }
}

impl<B> Original<B> {
    /// Whether it can be read from its start.
    pub(super) fn is_replayable(&self) -> bool {
        let state = self.lock();
        matches!((&state.data, &state.source), (Data::Held(_), Source::Open(_) | Source::Ended(_)))
    }

    /// Whether nothing is left for the reader at `cursor`, trailers neither.
    pub(super) fn is_read(&self, cursor: &Cursor) -> bool {
        let state = self.lock();
        let all_read = match &state.data {
            Data::Held(held) => held.is_read(cursor),
            Data::Once(reader) => cursor.is_number(*reader),
        };
        all_read && matches!(state.source, Source::Ended(None))
    }

    /// The state is never left half changed, so that a panic in some body's `poll_frame` spoils no other try.
    fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
