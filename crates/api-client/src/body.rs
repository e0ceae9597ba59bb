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

mod prefix;

pub use self::prefix::{Prefix, read_prefix};

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

#[cfg(test)]
mod tests;
