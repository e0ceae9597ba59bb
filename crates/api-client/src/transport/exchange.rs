//! What the transports do alike around the client that each has.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body as HttpBody;

use super::incoming::{self, Received, Stream};
use super::outgoing::Breakage;
use crate::body::Body;
use crate::error::Error;

/// A request on its way, with the client's own future: no box around it.
pub(super) enum Exchange<F> {
    /// It cannot be sent as it is.
    Refused(Option<Error>),
    Sent {
        response: F,
        breakage: Breakage,
    },
}

impl<F> From<Error> for Exchange<F> {
    fn from(error: Error) -> Self {
        Self::Refused(Some(error))
    }
}

impl<F, R, E> Exchange<F>
where
    F: Future<Output = Result<R, E>> + Unpin,
{
    /// The response as ours, or the error that `read` makes of the client's, unless it was the request's own body
    /// that broke.
    pub(super) fn poll<B>(
        &mut self,
        cx: &mut Context<'_>,
        read: impl FnOnce(E) -> Error,
    ) -> Poll<Result<Response<Body>, Error>>
    where
        R: Into<Response<B>>,
        B: HttpBody,
        Received: From<Stream<B>>,
    {
        let (response, breakage) = match self {
            Self::Refused(error) => return Poll::Ready(Err(error.take().unwrap_or(Error::Closed))),
            Self::Sent { response, breakage } => (response, breakage),
        };
        Poll::Ready(match ready!(Pin::new(response).poll(cx)) {
            Ok(response) => Ok(incoming::received(response.into(), breakage.upload())),
            Err(error) => Err(breakage.take().map_or_else(|| read(error), Error::RequestBody)),
        })
    }
}
