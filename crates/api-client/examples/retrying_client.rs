//! A client that repeats what is safe to repeat.
//!
//! `cargo run -p tidegate-api-client --example retrying_client`, or with the URL of an API of yours behind `--`.
#![expect(clippy::print_stdout, reason = "an example that prints")]

mod upstream;

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::{Router, http::StatusCode, routing::get};
use tidegate_api_client::{ApiClient, Attempts};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = match std::env::args().nth(1) {
        Some(url) => url,
        None => upstream::serve(Router::new().route("/", get(third_time_lucky))).await?,
    };
    let client = ApiClient::builder(url).build()?;
    let response = client.get("/").await?;
    println!("{}", response.status());
    for attempt in response.extensions().get::<Attempts>().iter().flat_map(|attempts| attempts.iter()) {
        println!("waited {:?}, then {:?} in {:?}", attempt.wait, attempt.ended, attempt.duration);
    }
    println!("{} bytes", response.into_body().bytes().await?.len());
    Ok(())
}

async fn third_time_lucky() -> (StatusCode, &'static str) {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    match CALLS.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => (StatusCode::SERVICE_UNAVAILABLE, "not yet"),
        _ => (StatusCode::OK, "hello"),
    }
}
