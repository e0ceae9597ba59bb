//! An axum app whose handler calls an API through the layers: its callers get the API's last answer as it came, and
//! 502 or 504 where there was none.
//!
//! `cargo run -p tidegate-api-client --example axum_app`
#![expect(clippy::print_stdout, reason = "an example that prints")]

mod upstream;

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::get};
use tidegate_api_client::transport::ReqwestTransport;
use tidegate_api_client::{ApiClient, Error};

type Client = ApiClient<ReqwestTransport>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let api = upstream::serve(Router::new().route("/items/{id}", get(every_third))).await?;
    let app = Router::new().route("/show/{id}", get(show)).with_state(ApiClient::builder(api).build()?);
    let url = upstream::serve(app).await?;

    // A caller of the app, so that the example ends by itself.
    let caller = ApiClient::builder(url).build()?;
    for id in ["1", "2", "unknown"] {
        let response = caller.get(&format!("/show/{id}")).await?;
        println!("{id}: {} {:?}", response.status(), response.into_body().bytes().await?);
    }
    Ok(())
}

async fn show(State(client): State<Client>, Path(id): Path<String>) -> Response {
    match client.get(&format!("/items/{id}")).await {
        Ok(response) => response.map(axum::body::Body::new),
        Err(failure) => match failure.error {
            Error::AttemptTimeout { .. } | Error::Deadline => StatusCode::GATEWAY_TIMEOUT.into_response(),
            _ => StatusCode::BAD_GATEWAY.into_response(),
        },
    }
}

/// The API: two calls of three fail, and it knows numbers alone.
async fn every_third(Path(id): Path<String>) -> (StatusCode, String) {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    if CALLS.fetch_add(1, Ordering::Relaxed) % 3 != 2 {
        return (StatusCode::SERVICE_UNAVAILABLE, String::new());
    }
    match id.parse::<u32>() {
        Ok(id) => (StatusCode::OK, format!("item {id}")),
        Err(_) => (StatusCode::NOT_FOUND, "no such item".to_owned()),
    }
}
