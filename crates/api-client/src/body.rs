//! The body of a response, or of any message.

use std::{
    any::Any,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};

use crate::idle::Idle;
use crate::journey::Journey;
use crate::replay::{ReplayBody, Replayable};
#[cfg(any(feature = "hyper", feature = "reqwest"))]
use crate::transport::Received;

mod prefix;

pub use self::prefix::{Prefix, read_prefix};

/// Any error that can cross threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body of bytes: empty, whole, or streamed from anywhere. Frames, trailers and errors pass as they come.
#[derive(Default)]
pub struct Body {
    inner: Inner,
    /// How long it may be silent, if that is bounded.
    idle: Option<Idle>,
    /// What the steps of the request share that this is the body of. It rides here and not among the extensions:
    /// those cost seven allocations, copy for the next try included.
    journey: Option<Journey>,
}

#[derive(Default)]
enum Inner {
    #[default]
    Empty,
    /// Ready bytes. Not boxed: most requests have at most a small body.
    Full(Bytes),
    /// A request's, of which a clone starts anew.
    Replay(Box<ReplayBody<Body>>),
    /// As a transport received it. Not boxed: every response has one.
    #[cfg(any(feature = "hyper", feature = "reqwest"))]
    Received(Received),
    Stream(UnsyncBoxBody<Bytes, BoxError>),
}

impl From<Inner> for Body {
    fn from(inner: Inner) -> Self {
        Self { inner, idle: None, journey: None }
    }
}

impl Body {
    /// A body without bytes.
    pub const fn empty() -> Self {
        Self { inner: Inner::Empty, idle: None, journey: None }
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
        let any = &mut body as &mut dyn Any;
        if let Some(same) = any.downcast_mut::<Option<Self>>() {
            return same.take().unwrap_or_default();
        }
        if let Some(replay) = any.downcast_mut::<Option<ReplayBody<Self>>>() {
            return replay.take().map_or_else(Self::empty, |replay| Inner::Replay(Box::new(replay)).into());
        }
        body.map_or_else(Self::empty, |body| Inner::Stream(body.map_err(Into::into).boxed_unsync()).into())
    }

    #[cfg(any(feature = "hyper", feature = "reqwest"))]
    pub(crate) fn received(body: Received) -> Self {
        if body.is_end_stream() { Self::empty() } else { Inner::Received(body).into() }
    }

    pub(crate) const fn journey(&self) -> Option<&Journey> {
        self.journey.as_ref()
    }

    pub(crate) fn set_journey(&mut self, journey: Journey) {
        self.journey = Some(journey);
    }

    /// Bounds its silence; of two bounds the shorter holds.
    pub(crate) fn limit_idle(&mut self, idle: Idle) {
        self.idle = Some(idle.shorter(self.idle.take()));
    }

    /// The bytes of a body that has all of them, and can neither wait nor fail.
    #[cfg(any(feature = "hyper", feature = "reqwest"))]
    pub(crate) fn into_ready(self) -> Result<Bytes, Self> {
        match self.inner {
            Inner::Empty => Ok(Bytes::new()),
            Inner::Full(bytes) => Ok(bytes),
            _ => Err(self),
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
        if bytes.is_empty() { Self::empty() } else { Inner::Full(bytes).into() }
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
        let this = self.get_mut();
        let polled = this.inner.poll_frame(cx);
        match &mut this.idle {
            Some(idle) => idle.watch(polled, cx),
            None => polled,
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.inner {
            Inner::Empty => true,
            Inner::Full(_) => false,
            Inner::Replay(body) => body.is_end_stream(),
            #[cfg(any(feature = "hyper", feature = "reqwest"))]
            Inner::Received(body) => body.is_end_stream(),
            Inner::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.inner {
            Inner::Empty => SizeHint::with_exact(0),
            Inner::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Replay(body) => body.size_hint(),
            #[cfg(any(feature = "hyper", feature = "reqwest"))]
            Inner::Received(body) => body.size_hint(),
            Inner::Stream(body) => body.size_hint(),
        }
    }
}

impl Inner {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self {
            Self::Empty => Poll::Ready(None),
            Self::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Self::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Self::Replay(body) => Pin::new(&mut **body).poll_frame(cx),
            #[cfg(any(feature = "hyper", feature = "reqwest"))]
            Self::Received(body) => Pin::new(body).poll_frame(cx),
            Self::Stream(body) => Pin::new(body).poll_frame(cx),
        }
    }
}

/// What is there as a whole can be sent again, and a [`ReplayBody`]; of another stream there is no second.
impl Replayable for Body {
    fn try_clone(&self) -> Option<Self> {
        let inner = match &self.inner {
            Inner::Empty => Inner::Empty,
            Inner::Full(bytes) => Inner::Full(bytes.clone()),
            Inner::Replay(body) => Inner::Replay(body.clone()),
            _ => return None,
        };
        Some(Self { inner, idle: None, journey: self.journey.clone() })
    }

    fn is_replayable(&self) -> bool {
        match &self.inner {
            Inner::Empty | Inner::Full(_) => true,
            Inner::Replay(body) => body.is_replayable(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
