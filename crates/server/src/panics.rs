//! A panic in one request is that request's end, not the others'.

use std::any::Any;

use http::{Response, StatusCode};
use tidegate_api_client::Body;
use tower_http::catch_panic::ResponseForPanic;

/// Marks the answer of a request that panicked; the step that knows its id makes it an answer to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panicked;

/// Answers 500. What was said in the panic stays in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerPanic;

impl ResponseForPanic for AnswerPanic {
    type ResponseBody = Body;

    fn response_for_panic(&mut self, _: Box<dyn Any + Send + 'static>) -> Response<Body> {
        tracing::error!("a request panicked");
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response.extensions_mut().insert(Panicked);
        response
    }
}
