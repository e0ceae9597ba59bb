//! The outer stack: the one place where the order of the gateway's own steps stands.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, COOKIE, HeaderName, PROXY_AUTHORIZATION, SET_COOKIE};
use http::{HeaderValue, Request, Response};
use tidegate_api_client::{ATTEMPTS_HEADER, Body};
use tower::{Service, ServiceBuilder};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::sensitive_headers::{SetSensitiveRequestHeadersLayer, SetSensitiveResponseHeadersLayer};
use tower_http::trace::TraceLayer;

use crate::forward::{Refused, forward};
use crate::listen::RequestBody;
use crate::panics::AnswerPanic;
use crate::record::RecordLayer;
use crate::request_id::{self, FreshIds, REQUEST_ID};
use crate::shed::ShedLayer;
use crate::state::State;
use crate::trip::Trip;

/// The service that the gateway's listener calls; outermost first.
pub(crate) fn app(
    state: Arc<State>,
) -> impl Service<
    Request<RequestBody>,
    Response = Response<
        impl http_body::Body<Data = bytes::Bytes, Error = tidegate_api_client::BoxError> + Send + 'static,
    >,
    Error = Infallible,
    Future: Send + 'static,
> + Clone
+ Send
+ 'static {
    let secret = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, HeaderName::from_static("x-api-key")];
    let max_in_flight = state.gateway().settings.server.max_in_flight;
    ServiceBuilder::new()
        .layer(SetSensitiveRequestHeadersLayer::new(secret))
        .layer(SetSensitiveResponseHeadersLayer::new([SET_COOKIE]))
        .map_request(|mut request: Request<RequestBody>| {
            request_id::drop_unsound(request.headers_mut());
            request
        })
        .layer(SetRequestIdLayer::new(REQUEST_ID, FreshIds))
        .layer(TraceLayer::new_for_http().make_span_with(span).on_request(()).on_response(()).on_failure(()))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(RecordLayer { metrics: state.metrics.clone(), live: state.live.clone() })
        .map_response(|response: Response<_>| response.map(Body::new))
        .layer(CatchPanicLayer::custom(AnswerPanic))
        .layer(ShedLayer::new(max_in_flight, state.metrics.clone()))
        .service(Forward(state))
}

/// Everything that is logged of a request stands in its span, which names it.
fn span<B>(request: &Request<B>) -> tracing::Span {
    tracing::debug_span!("request", id = request_id::of(request.extensions()))
}

/// The innermost of the outer steps: it takes a request to its route's stack.
#[derive(Clone)]
struct Forward(Arc<State>);

impl Service<Request<RequestBody>> for Forward {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        // A reload puts another gateway in place; this request keeps the one that it began with.
        let gateway = self.0.gateway();
        Box::pin(async move {
            let id = request_id::of(request.extensions()).to_owned();
            let trip = request.extensions().get::<Trip>().cloned().unwrap_or_default();
            Ok(match forward(&gateway, request, &trip).await {
                Ok(response) => response,
                Err(Refused { problem, attempts }) => {
                    let mut response = problem.response(&id).map(Body::new);
                    if let Some(attempts) = attempts {
                        response.headers_mut().insert(ATTEMPTS_HEADER, HeaderValue::from(attempts));
                    }
                    response
                }
            })
        })
    }
}

#[cfg(test)]
mod tests;
