//! tower layers in an order of one's own: every attempt, and not only every request, gets a field with its number.
//!
//! `cargo run -p tidegate-api-client --example own_stack`
#![expect(clippy::print_stdout, reason = "an example that prints")]

mod upstream;

use axum::http::{HeaderMap, StatusCode};
use axum::{Router, routing::get};
use http::{HeaderValue, Request};
use tidegate_api_client::transport::{ReqwestTransport, TransportParams};
use tidegate_api_client::{
    AttemptTimeoutLayer, Body, ClassifyLayer, EntryLayer, EntryParams, Journey, RetryBudget, RetryParams,
    RetryPolicy, Timeouts,
};
use tower::retry::RetryLayer;
use tower::{ServiceBuilder, ServiceExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = upstream::serve(Router::new().route("/", get(second_attempts_alone))).await?;

    let policy = RetryPolicy::new(RetryParams::default(), RetryBudget::default());
    let service = ServiceBuilder::new()
        .layer(EntryLayer::new(EntryParams::default()))
        .layer(RetryLayer::new(policy))
        .map_request(numbered)
        .layer(ClassifyLayer::default())
        .layer(AttemptTimeoutLayer::new(Timeouts::default()))
        .service(ReqwestTransport::new(&TransportParams::default())?);

    let response = service.oneshot(Request::get(url).body(Body::empty())?).await?;
    println!("{}: {:?}", response.status(), response.into_body().bytes().await?);
    Ok(())
}

fn numbered(mut request: Request<Body>) -> Request<Body> {
    let before = Journey::of(&request).map_or(0, |journey| journey.attempts().count());
    request.headers_mut().insert("x-attempt", HeaderValue::from(before + 1));
    request
}

async fn second_attempts_alone(headers: HeaderMap) -> (StatusCode, String) {
    match headers.get("x-attempt").and_then(|number| number.to_str().ok()) {
        None | Some("1") => (StatusCode::SERVICE_UNAVAILABLE, String::new()),
        Some(number) => (StatusCode::OK, format!("attempt {number}")),
    }
}
