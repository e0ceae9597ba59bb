//! A transport that answers from a script and writes down what it was sent, when.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use tidegate_api_client::{Body, Error};
use tokio::time::Instant;
use tower::Service;

/// One request as the transport saw it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) at: Duration,
    pub(crate) uri: String,
    pub(crate) token: Option<String>,
    pub(crate) body: Bytes,
}

/// What the script says: an answer, or an error, after a while.
pub(crate) struct Answer {
    pub(crate) after: Duration,
    pub(crate) result: Result<Response<Body>, Error>,
}

pub(crate) fn status(status: u16) -> Answer {
    answer(status, &[], "")
}

pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &'static str) -> Answer {
    let mut builder = Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    Answer { after: Duration::ZERO, result: Ok(builder.body(Body::from(body)).unwrap()) }
}

pub(crate) fn failure(error: Error) -> Answer {
    Answer { after: Duration::ZERO, result: Err(error) }
}

impl Answer {
    pub(crate) fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}

type Script = dyn FnMut(usize, &Call) -> Answer + Send;

/// The scripted transport; `poll_ready` must come before each `call`, or it panics.
pub(crate) struct Transport {
    shared: Arc<Mutex<Shared>>,
    ready: bool,
}

struct Shared {
    origin: Instant,
    calls: Vec<Call>,
    script: Box<Script>,
}

impl Clone for Transport {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), ready: false }
    }
}

impl Transport {
    pub(crate) fn new(script: impl FnMut(usize, &Call) -> Answer + Send + 'static) -> Self {
        let shared = Shared { origin: Instant::now(), calls: Vec::new(), script: Box::new(script) };
        Self { shared: Arc::new(Mutex::new(shared)), ready: false }
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.shared.lock().unwrap().calls.clone()
    }

    pub(crate) fn tokens(&self) -> Vec<String> {
        self.calls().into_iter().map(|call| call.token.unwrap_or_default()).collect()
    }

    /// When the calls came, in milliseconds since the transport was made.
    pub(crate) fn times(&self) -> Vec<u128> {
        self.calls().into_iter().map(|call| call.at.as_millis()).collect()
    }
}

impl Service<Request<Body>> for Transport {
    type Response = Response<Body>;
    type Error = Error;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response<Body>, Error>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called before it was polled ready");
        let shared = self.shared.clone();
        Box::pin(async move {
            let at = shared.lock().unwrap().origin.elapsed();
            let (parts, body) = request.into_parts();
            let token = parts
                .headers
                .get("authorization")
                .map(|value| value.to_str().unwrap().strip_prefix("Bearer ").unwrap().to_owned());
            let body = body.collect().await.map_err(Error::RequestBody)?.to_bytes();
            let call = Call { at, uri: parts.uri.to_string(), token, body };
            let answer = {
                let shared = &mut *shared.lock().unwrap();
                shared.calls.push(call.clone());
                (shared.script)(shared.calls.len(), &call)
            };
            tokio::time::sleep(answer.after).await;
            answer.result
        })
    }
}
