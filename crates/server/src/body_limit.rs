//! The longest request body that is taken (`server.max_body`).

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::problem::{BodyLimitExceeded, Problem};

pin_project! {
    /// A body that fails once it is longer than its limit.
    #[derive(Debug)]
    pub(crate) struct LimitedBody<B> {
        #[pin]
        inner: B,
        limit: u64,
        left: u64,
    }
}

impl<B: Body> LimitedBody<B> {
    /// # Errors
    ///
    /// [`Problem::BodyTooLarge`] where the declared length passes the limit already: nothing of it need be read.
    pub(crate) fn new(inner: B, limit: u64) -> Result<Self, Problem> {
        if inner.size_hint().lower() > limit {
            return Err(Problem::BodyTooLarge { limit });
        }
        Ok(Self { inner, limit, left: limit })
    }
}

impl<B> Body for LimitedBody<B>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = B::Data;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, Self::Error>>> {
        let this = self.project();
        let frame = match ready!(this.inner.poll_frame(cx)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
            None => return Poll::Ready(None),
        };
        let length = frame.data_ref().map_or(0, |data| u64::try_from(data.remaining()).unwrap_or(u64::MAX));
        match this.left.checked_sub(length) {
            Some(left) => *this.left = left,
            None => return Poll::Ready(Some(Err(BodyLimitExceeded { limit: *this.limit }.into()))),
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http_body_util::{BodyExt, Full};

    #[tokio::test]
    async fn a_body_may_be_as_long_as_the_limit_and_no_longer() {
        for (length, fits) in [(0, true), (9, true), (10, true), (11, false)] {
            let bytes = Bytes::from(vec![0; length]);
            let declared = LimitedBody::new(Full::new(bytes.clone()), 10);
            assert_eq!(declared.is_ok(), fits, "{length} declared");

            // A chunked body says nothing of its length.
            let pieces = bytes
                .chunks(4)
                .map(|piece| Ok::<_, std::io::Error>(Frame::data(Bytes::copy_from_slice(piece))));
            let mut pieces: Vec<_> = pieces.collect();
            pieces.reverse();
            let collected = LimitedBody::new(Pieces(pieces), 10).unwrap().collect().await;
            match collected {
                Ok(body) => assert_eq!((body.to_bytes().len(), fits), (length, true)),
                Err(error) => {
                    let limit = error.downcast::<BodyLimitExceeded>().unwrap().limit;
                    assert_eq!((limit, fits), (10, false), "{length}");
                }
            }
        }
    }

    struct Pieces(Vec<Result<Frame<Bytes>, std::io::Error>>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = std::io::Error;
        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            Poll::Ready(self.0.pop())
        }
    }
}
