//! placeholder

use bytes::Bytes;
use http_body::Body as HttpBody;
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::TransportParams;
use crate::{Body, BoxError, Error};

/// The transport over reqwest.
#[derive(Clone, Debug)]
pub struct ReqwestTransport {}

impl ReqwestTransport {
    /// A transport with these settings.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] for a proxy or certificate that is none.
    pub fn new(_params: &TransportParams) -> Result<Self, Error> {
        Ok(Self {})
    }
}

impl<B> tower::Service<http::Request<B>> for ReqwestTransport
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = http::Response<Body>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Error>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: http::Request<B>) -> Self::Future {
        Box::pin(async { Err(Error::Closed) })
    }
}
