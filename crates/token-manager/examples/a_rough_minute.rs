//! Three tokens through a minute in which the upstream allows each of them ten requests in ten seconds, and
//! says so only by 429.
//!
//! The clock is tokio's, and paused: the minute passes at once.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tidegate_token_manager::{Ask, IdKey, Outcome, PoolParams, Report, Strategy, TokenManager, TokenSpec};
use tokio::time::Instant;

/// An upstream that counts each token's requests in the last ten seconds.
#[derive(Default)]
struct Upstream(HashMap<String, VecDeque<Instant>>);

impl Upstream {
    fn call(&mut self, token: &str) -> u16 {
        let calls = self.0.entry(token.to_owned()).or_default();
        let now = Instant::now();
        while calls.front().is_some_and(|at| now - *at >= Duration::from_secs(10)) {
            calls.pop_front();
        }
        if calls.len() >= 10 {
            return 429;
        }
        calls.push_back(now);
        200
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let specs =
        ["one", "two", "three"].map(|name| TokenSpec { name: Some(name.into()), ..TokenSpec::new(name) });
    let params = PoolParams { strategy: Strategy::LeastRecentlyUsed, ..PoolParams::default() };
    let pool = TokenManager::new("example", params, specs.into(), IdKey::random()?);
    let mut upstream = Upstream::default();
    let start = Instant::now();
    let (mut served, mut refused) = (0, 0);

    while start.elapsed() < Duration::from_secs(60) {
        tokio::time::advance(Duration::from_millis(100)).await;
        let mut tried = Vec::new();
        loop {
            let mut lease = match pool.acquire(Ask { tried: &tried, ..Ask::default() }).await {
                Ok(lease) => lease,
                Err(exhausted) => {
                    println!("{:>6.1?}  {exhausted}", start.elapsed());
                    refused += 1;
                    break;
                }
            };
            let status = upstream.call(lease.token().expose());
            let outcome = if status == 429 { Outcome::Limited } else { Outcome::Success };
            lease.settle(&Report { status: Some(status), ..Report::new(outcome) });
            if outcome == Outcome::Success {
                served += 1;
                break;
            }
            let resting = pool.snapshot().into_iter().find(|token| token.id == lease.id());
            let rest = resting.map_or(Duration::ZERO, |token| token.retry_in);
            println!("{:>6.1?}  {} was refused and rests {rest:?}", start.elapsed(), lease.label());
            tried.push(lease.id());
        }
    }

    println!("\n{served} served, {refused} refused");
    for token in pool.snapshot() {
        let name = token.name.unwrap_or_default();
        println!("{name:<6} {:<12} {} requests, {} refused", token.state, token.requests, token.rate_limited);
    }
    Ok(())
}
