use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::fields::remove_hop_by_hop;
use super::response::{ResponseHygiene, remove_forged, remove_private};

pin_project! {
    /// A response body whose trailers show no more than a head may.
    #[derive(Debug)]
    pub(crate) struct TrailerFilter<B> {
        #[pin]
        inner: B,
        hygiene: ResponseHygiene,
    }
}

impl<B> TrailerFilter<B> {
    pub(crate) fn new(inner: B, hygiene: ResponseHygiene) -> Self {
        Self { inner, hygiene }
    }
}

impl<B: Body> Body for TrailerFilter<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        loop {
            let frame = match ready!(this.inner.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                other => return Poll::Ready(other),
            };
            let mut trailers = match frame.into_trailers() {
                Ok(trailers) => trailers,
                Err(data) => return Poll::Ready(Some(Ok(data))),
            };
            remove_hop_by_hop(&mut trailers);
            remove_private(&mut trailers, this.hygiene);
            remove_forged(&mut trailers);
            if !trailers.is_empty() {
                return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
            }
        }
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
    use super::super::fields::{map, names};
    use super::super::{Sensitive, SetCookie};
    use super::*;
    use bytes::Bytes;
    use http::HeaderMap;
    use http_body_util::{BodyExt, Full};

    async fn filtered(trailers: HeaderMap, hygiene: ResponseHygiene) -> (Bytes, Option<HeaderMap>) {
        let body = Full::new(Bytes::from_static(b"data")).with_trailers(async move { Some(Ok(trailers)) });
        let collected = TrailerFilter::new(body, hygiene).collect().await.unwrap();
        let trailers = collected.trailers().cloned();
        (collected.to_bytes(), trailers)
    }

    #[tokio::test]
    async fn trailers_show_no_session_and_no_token() {
        let sent = map(&[
            ("set-cookie", "PHPSESSID=x"),
            ("x-sum", "1"),
            ("x-echo", "tokA"),
            ("alt-svc", "h3"),
            ("transfer-encoding", "chunked"),
            ("tidegate-attempts", "1"),
        ]);
        let hygiene = ResponseHygiene { set_cookie: SetCookie::Drop, sensitive: Sensitive::new("tokA") };
        let (data, trailers) = filtered(sent, hygiene).await;
        assert_eq!((data, names(&trailers.unwrap())), (Bytes::from_static(b"data"), vec!["x-sum"]));
    }

    #[tokio::test]
    async fn trailers_of_which_nothing_is_left_are_not_sent() {
        let (data, trailers) = filtered(map(&[("set-cookie", "a=b")]), ResponseHygiene::default()).await;
        assert_eq!((data, trailers), (Bytes::from_static(b"data"), None));
    }
}
