//! Twelve requests with two tokens against an API that allows each token five in two seconds.
//!
//! `cargo run -p tidegate-api-client --example pooled_client`
#![expect(clippy::print_stdout, reason = "an example that prints")]

mod upstream;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use axum::{Router, routing::get};
use tidegate_api_client::{ApiClient, Attempts};
use tidegate_token_manager::{IdKey, PoolParams, TokenManager, TokenSpec};
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limits = Arc::new(Limits::default());
    let app = Router::new().route("/", get(move |headers: HeaderMap| async move { limits.answer(&headers) }));
    let url = upstream::serve(app).await?;

    let named =
        |name: &str| TokenSpec { name: Some(name.into()), ..TokenSpec::new(format!("secret-{name}")) };
    let tokens = vec![named("ada"), named("bob")];
    let pool = TokenManager::new("default", PoolParams::default(), tokens, IdKey::random()?);
    let client = ApiClient::builder(url).pool(pool.clone()).build()?;

    let started = Instant::now();
    for number in 1..=12 {
        let response = client.get("/").await?;
        let calls = response.extensions().get::<Attempts>().map_or(0, Attempts::count);
        println!(
            "{:5} ms  {number:2}: {} after {calls} calls",
            started.elapsed().as_millis(),
            response.status()
        );
    }
    for token in pool.snapshot() {
        println!("{}: {:?}, back in {:?}", token.name.as_deref().unwrap_or("?"), token.state, token.retry_in);
    }
    Ok(())
}

/// The upstream counts by token, and says no by 429 alone.
#[derive(Default)]
struct Limits(Mutex<HashMap<String, VecDeque<Instant>>>);

impl Limits {
    fn answer(&self, headers: &HeaderMap) -> StatusCode {
        let token = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = calls.entry(token.to_owned()).or_default();
        let now = Instant::now();
        while calls.front().is_some_and(|at| now - *at >= Duration::from_secs(2)) {
            calls.pop_front();
        }
        if calls.len() >= 5 {
            return StatusCode::TOO_MANY_REQUESTS;
        }
        calls.push_back(now);
        StatusCode::OK
    }
}
