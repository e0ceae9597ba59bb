//! A response body that ends only where the upstream ended it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Response, Version};
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::body::{Body, BoxError};

/// What the request still had to send when the response began.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Upload {
    /// Nothing: it had no body, or one that was there as a whole.
    Ready,
    /// Maybe something.
    Streamed,
}

/// The response with its body as ours.
///
/// hyper takes an HTTP/2 stream that is reset with NO_ERROR for one that has ended, as a server may stop the upload
/// of a request that it has answered (RFC 9113, section 8.1). But a server that breaks off its answer can say the
/// same, and that must not look like an end.
pub(super) fn received<B>(response: Response<B>, upload: Upload) -> Response<Body>
where
    B: HttpBody,
    Received: From<Stream<B>>,
{
    let version = response.version();
    response.map(|body| {
        let missing = match (version, body.size_hint().exact(), upload) {
            (Version::HTTP_2, Some(length), _) => Missing::Bytes(length),
            (Version::HTTP_2, None, Upload::Ready) => Missing::End,
            _ => Missing::Unknown,
        };
        Body::received(Stream { body, missing }.into())
    })
}

/// A response body of one of the transports.
pub(crate) enum Received {
    #[cfg(feature = "hyper")]
    Hyper(Stream<hyper::body::Incoming>),
    #[cfg(feature = "reqwest")]
    Reqwest(Stream<reqwest::Body>),
}

#[cfg(feature = "hyper")]
impl From<Stream<hyper::body::Incoming>> for Received {
    fn from(stream: Stream<hyper::body::Incoming>) -> Self {
        Self::Hyper(stream)
    }
}

#[cfg(feature = "reqwest")]
impl From<Stream<reqwest::Body>> for Received {
    fn from(stream: Stream<reqwest::Body>) -> Self {
        Self::Reqwest(stream)
    }
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            #[cfg(feature = "hyper")]
            Self::Hyper(stream) => stream.poll(cx, Into::into),
            // The URL may hold the token.
            #[cfg(feature = "reqwest")]
            Self::Reqwest(stream) => stream.poll(cx, |error| error.without_url().into()),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            #[cfg(feature = "hyper")]
            Self::Hyper(stream) => stream.body.is_end_stream(),
            #[cfg(feature = "reqwest")]
            Self::Reqwest(stream) => stream.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            #[cfg(feature = "hyper")]
            Self::Hyper(stream) => stream.body.size_hint(),
            #[cfg(feature = "reqwest")]
            Self::Reqwest(stream) => stream.body.size_hint(),
        }
    }
}

/// A client's body, and what of it is missing.
pub(crate) struct Stream<B> {
    body: B,
    missing: Missing,
}

/// What a stream that ends without its END_STREAM must have had, to be whole all the same.
enum Missing {
    /// So many more bytes of the length it told.
    Bytes(u64),
    /// It cannot be whole: there was nothing to stop it for.
    End,
    /// It may be whole.
    Unknown,
}

#[derive(Debug, thiserror::Error)]
#[error("the upstream broke off the response body")]
struct BrokenOff;

impl<B: HttpBody<Data = Bytes> + Unpin> Stream<B> {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        boxed: impl FnOnce(B::Error) -> BoxError,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(match polled {
            Some(Ok(frame)) => {
                if let (Missing::Bytes(missing), Some(data)) = (&mut self.missing, frame.data_ref()) {
                    *missing = missing.saturating_sub(data.len() as u64);
                }
                Some(Ok(frame))
            }
            Some(Err(error)) => {
                self.missing = Missing::Unknown;
                Some(Err(boxed(error)))
            }
            None if self.body.is_end_stream() => None,
            // Told once: after its error a body is at its end.
            None => match std::mem::replace(&mut self.missing, Missing::Unknown) {
                Missing::Bytes(0) | Missing::Unknown => None,
                Missing::Bytes(_) | Missing::End => Some(Err(BrokenOff.into())),
            },
        })
    }
}
