//! The response body, and how a piece of it is read without losing the rest.

use std::{
    any::Any,
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};

/// Any error that can cross threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body of bytes: empty, whole, or streamed from anywhere. Frames, trailers and errors pass as they come.
#[derive(Default)]
pub struct Body(Inner);

#[derive(Default)]
enum Inner {
    #[default]
    Empty,
    /// Ready bytes. Not boxed: most requests have at most a small body.
    Full(Bytes),
    Stream(UnsyncBoxBody<Bytes, BoxError>),
}

impl Body {
    /// A body without bytes.
    pub const fn empty() -> Self {
        Self(Inner::Empty)
    }

    /// Any other body. A [`Body`] is taken as it is.
    pub fn new<B>(body: B) -> Self
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if body.is_end_stream() {
            return Self::empty();
        }
        // Not a box in a box: bodies pass many steps that are generic over them.
        let mut body = Some(body);
        if let Some(same) = (&mut body as &mut dyn Any).downcast_mut::<Option<Self>>() {
            return same.take().unwrap_or_default();
        }
        body.map_or_else(Self::empty, |body| Self(Inner::Stream(body.map_err(Into::into).boxed_unsync())))
    }

    /// The bytes of a body that has all of them, and can neither wait nor fail.
    #[cfg(any(feature = "hyper", feature = "reqwest"))]
    pub(crate) fn into_ready(self) -> Result<Bytes, Self> {
        match self.0 {
            Inner::Empty => Ok(Bytes::new()),
            Inner::Full(bytes) => Ok(bytes),
            Inner::Stream(_) => Err(self),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A body may hold anything, a token too.
        f.debug_struct("Body").field("size", &self.size_hint()).finish()
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        if bytes.is_empty() { Self::empty() } else { Self(Inner::Full(bytes)) }
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl From<()> for Body {
    fn from((): ()) -> Self {
        Self::empty()
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let inner = &mut self.get_mut().0;
        match inner {
            Inner::Stream(body) => Pin::new(body).poll_frame(cx),
            _ => Poll::Ready(match std::mem::take(inner) {
                Inner::Full(bytes) => Some(Ok(Frame::data(bytes))),
                _ => None,
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Empty => true,
            Inner::Full(_) => false,
            Inner::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Empty => SizeHint::with_exact(0),
            Inner::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Stream(body) => body.size_hint(),
        }
    }
}

/// Reads `body` until `limit` bytes are there, it ends or fails, or `within` has passed.
///
/// Nothing is lost: whatever was read, an error and trailers included, comes back at its place in
/// [`Prefix::into_body`].
pub async fn read_prefix(body: Body, limit: usize, within: Duration) -> Prefix {
    let mut prefix = Prefix { frames: VecDeque::new(), read: 0, limit, end: End::Open, rest: body };
    prefix.note_end();
    // Frames are kept as they come, so that stopping midway loses none.
    let _ = tokio::time::timeout(within, prefix.fill()).await;
    prefix
}

/// The beginning of a body, and the rest of it.
#[derive(Debug)]
pub struct Prefix {
    frames: VecDeque<Result<Frame<Bytes>, BoxError>>,
    read: usize,
    limit: usize,
    end: End,
    rest: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    /// The body ended or failed, and is not polled again.
    Reached,
}

impl Prefix {
    /// The first bytes, as far as they were read, and at most the limit.
    pub fn bytes(&self) -> Bytes {
        let mut data = self.frames.iter().filter_map(|frame| frame.as_ref().ok()?.data_ref());
        match (data.next(), data.next()) {
            (None, _) => Bytes::new(),
            (Some(only), None) => only.slice(..only.len().min(self.limit)),
            (Some(first), Some(second)) => {
                let mut all = BytesMut::with_capacity(self.read.min(self.limit));
                for part in [first, second].into_iter().chain(data) {
                    all.extend_from_slice(&part[..part.len().min(self.limit - all.len())]);
                }
                all.freeze()
            }
        }
    }

    /// Whether the body's end, or its failure, was reached: its connection is free again.
    pub fn is_whole(&self) -> bool {
        self.end == End::Reached
    }

    /// The whole body from its start.
    pub fn into_body(self) -> Body {
        let rest = if self.end == End::Reached { Body::empty() } else { self.rest };
        if self.frames.is_empty() {
            return rest;
        }
        Body(Inner::Stream(UnsyncBoxBody::new(Prefixed { frames: self.frames, rest })))
    }

    async fn fill(&mut self) {
        while self.end == End::Open && self.read < self.limit {
            match self.rest.frame().await {
                Some(Ok(frame)) => {
                    self.read += frame.data_ref().map_or(0, Bytes::len);
                    self.frames.push_back(Ok(frame));
                    self.note_end();
                }
                Some(Err(error)) => {
                    self.frames.push_back(Err(error));
                    self.end = End::Reached;
                }
                None => self.end = End::Reached,
            }
        }
    }

    fn note_end(&mut self) {
        if self.rest.is_end_stream() {
            self.end = End::Reached;
        }
    }
}

/// Frames that were read already, then the rest.
struct Prefixed {
    frames: VecDeque<Result<Frame<Bytes>, BoxError>>,
    rest: Body,
}

impl HttpBody for Prefixed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        match this.frames.pop_front() {
            Some(frame) => Poll::Ready(Some(frame)),
            None => Pin::new(&mut this.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let read = self.frames.iter().filter_map(|frame| frame.as_ref().ok()?.data_ref());
        let read: u64 = read.map(|data| data.len() as u64).sum();
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(read)) {
            hint.set_upper(upper);
        }
        hint.set_lower(rest.lower().saturating_add(read));
        // A failure stands before the end, so that no length may be promised.
        if self.frames.iter().any(Result::is_err) { SizeHint::new() } else { hint }
    }
}

#[cfg(test)]
mod tests;
