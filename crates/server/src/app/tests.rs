//! tower's contract for the gateway's own steps: called is what was polled ready, and nothing else.

use std::future::{Ready, ready};

use tower::{Layer, ServiceExt};

use super::*;
use crate::live::Live;
use crate::metrics::Metrics;

/// Ready at its second poll; panics when it is called unready. A clone is not ready by its original's word.
#[derive(Default)]
struct Strict {
    polled: u8,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Service<Request<()>> for Strict {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.polled += 1;
        if self.polled > 1 {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        assert!(std::mem::take(&mut self.polled) > 1, "called before it was polled ready");
        // Not at its end before it was read.
        let body = http_body_util::BodyExt::boxed(http_body_util::Full::new("here".into()));
        ready(Ok(Response::new(Body::new(body))))
    }
}

async fn keeps_the_contract<S>(mut service: S)
where
    S: Service<Request<()>, Response = Response<Body>, Error = Infallible>,
{
    for _ in 0..3 {
        let response = service.ready().await.unwrap().call(Request::new(())).await.unwrap();
        assert_eq!(response.into_body().bytes().await.unwrap(), "here");
    }
}

#[tokio::test]
async fn each_step_calls_the_service_that_it_polled_ready() {
    let metrics = Arc::new(Metrics::new(["/"]).unwrap());
    let record = RecordLayer { metrics: metrics.clone(), live: Arc::new(Live::new()) };
    keeps_the_contract(record.layer(Strict::default())).await;
    keeps_the_contract(ShedLayer::new(1, metrics.clone()).layer(Strict::default())).await;
    keeps_the_contract((record, ShedLayer::new(1, metrics)).layer(Strict::default())).await;
}

#[tokio::test]
async fn a_permit_lasts_until_the_bodys_end() {
    let metrics = Arc::new(Metrics::new(["/"]).unwrap());
    let mut service = ShedLayer::new(1, metrics).layer(Strict::default());
    let first = service.ready().await.unwrap().call(Request::new(())).await.unwrap();
    let status = service.ready().await.unwrap().call(Request::new(())).await.unwrap().status();
    assert_eq!(status.as_u16(), 503, "the first one's body was not read yet");
    assert_eq!(first.into_body().bytes().await.unwrap(), "here");
    assert_eq!(service.ready().await.unwrap().call(Request::new(())).await.unwrap().status().as_u16(), 200);
}
