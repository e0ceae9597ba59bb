//! Both transports over real sockets: each rule is one test that runs over either.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper's failure is the test's")]

mod bodies;
mod connections;
mod failures;
mod http2;
mod proxies;
mod requests;
mod tls;
mod upstream;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use tidegate_api_client::transport::TransportParams;
use tidegate_api_client::{Body, BoxError, Error};
use tokio::sync::mpsc;
use tower::ServiceExt;
use tower::util::BoxCloneService;

pub(crate) use self::upstream::{Connection, Upstream};

pub(crate) type Transport = BoxCloneService<Request<Body>, Response<Body>, Error>;

/// Each transport by its name.
pub(crate) fn transports(params: &TransportParams) -> Vec<(&'static str, Transport)> {
    vec![
        #[cfg(feature = "hyper")]
        (
            "hyper",
            BoxCloneService::new(
                tidegate_api_client::transport::HyperTransport::new(params).expect("settings that hold"),
            ),
        ),
        #[cfg(feature = "reqwest")]
        (
            "reqwest",
            BoxCloneService::new(
                tidegate_api_client::transport::ReqwestTransport::new(params).expect("settings that hold"),
            ),
        ),
    ]
}

pub(crate) fn get(url: &str) -> Request<Body> {
    Request::get(url).body(Body::empty()).expect("a request")
}

pub(crate) fn post(url: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(url).body(body.into()).expect("a request")
}

pub(crate) async fn send(transport: &Transport, request: Request<Body>) -> Result<Response<Body>, Error> {
    transport.clone().oneshot(request).await
}

pub(crate) async fn bytes(response: Response<Body>) -> Result<Bytes, BoxError> {
    Ok(response.into_body().collect().await?.to_bytes())
}

/// An error with all its causes, as a log would show it.
pub(crate) fn whole_text(error: &Error) -> String {
    let mut text = format!("{error:?} {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// A runtime for one test; a test that hangs fails instead.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let bounded = async { tokio::time::timeout(std::time::Duration::from_secs(30), test).await };
    runtime.block_on(bounded).expect("done in time");
}

pub(crate) type FrameSender = mpsc::UnboundedSender<Result<Frame<Bytes>, BoxError>>;

/// A body whose frames are sent to it; dropping the sender ends it.
pub(crate) fn channel() -> (FrameSender, Body) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, Body::new(Channel(receiver)))
}

struct Channel(mpsc::UnboundedReceiver<Result<Frame<Bytes>, BoxError>>);

impl http_body::Body for Channel {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0.poll_recv(cx)
    }
}
