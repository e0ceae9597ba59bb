//! A token that was told to rest still rests after a restart: `cargo run --example a_restart`.

#![expect(clippy::print_stdout, reason = "an example that prints")]

use std::error::Error;
use std::time::Duration;

use tidegate_store::{FileStore, Keys, Link};
use tidegate_token_manager::{IdKey, Outcome, PoolParams, Report, TokenManager, TokenSpec};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("state");
    for run in ["first", "second"] {
        // As a process that starts: a new pool of the same tokens.
        let specs = vec![TokenSpec::new("first"), TokenSpec::new("second")];
        let pool = TokenManager::new("default", PoolParams::default(), specs, IdKey::random()?);
        let link = Link::start(FileStore::new(&path), Keys::OfTheStore(Box::new(|_| {})), vec![pool.clone()]);
        link.first_read(Duration::from_secs(1)).await;
        for token in pool.snapshot() {
            println!(
                "{run} run: {} is {}, back in {} s",
                token.id,
                token.state.as_str(),
                token.retry_in.as_secs()
            );
        }
        let mut lease = pool.try_acquire(&[])?;
        let told = Some(Duration::from_secs(3600));
        lease.settle(&Report { status: Some(429), told, ..Report::new(Outcome::Limited) });
        drop(lease);
        link.stop(Duration::from_secs(2)).await;
    }
    Ok(())
}
