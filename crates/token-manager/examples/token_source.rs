//! Tokens that expire: a source that the pool asks for fresh ones before their time, and when one is rejected.
//!
//! Two hours and a half on a paused clock, in no time: `cargo run --example token_source`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints")]

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tidegate_token_manager::{
    Ask, Fetched, IdKey, Outcome, PoolParams, RenewParams, Report, TokenManager, TokenSource, TokenSpec,
};
use tokio::time::{Instant, sleep};

/// An application's tokens at some API, each good for an hour. One of your own asks the API here.
struct Installation {
    made: AtomicU32,
    start: Instant,
}

impl TokenSource for Installation {
    async fn fetch(&self) -> Result<Fetched, Box<dyn Error + Send + Sync>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        println!("{:>5} s  token {number} is fetched", self.start.elapsed().as_secs());
        // The name says which token this is; the value is new each time.
        let token = TokenSpec { name: Some("app".to_owned()), ..TokenSpec::new(format!("secret-{number}")) };
        Ok(Fetched { tokens: vec![token], good_for: Some(Duration::from_secs(3600)) })
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let pool = TokenManager::new("default", PoolParams::default(), Vec::new(), IdKey::random()?);
    let renewal = tokio::spawn({
        let pool = pool.clone();
        async move {
            let source = Installation { made: AtomicU32::new(0), start };
            let failed = |error: &(dyn Error + Send + Sync)| eprintln!("no fresh token: {error}");
            pool.keep_renewed(&source, RenewParams::default(), failed).await;
        }
    });
    for attempt in 1..=10_u32 {
        sleep(Duration::from_secs(900)).await;
        let mut lease = pool.acquire(Ask::default()).await?;
        // The API revokes a token before its time.
        let status = if attempt == 6 { 401 } else { 200 };
        let outcome = if status == 401 { Outcome::Rejected } else { Outcome::Success };
        lease.settle(&Report { status: Some(status), ..Report::new(outcome) });
        println!("{:>5} s  {} -> {status}", start.elapsed().as_secs(), lease.token().expose());
    }
    renewal.abort();
    Ok(())
}
