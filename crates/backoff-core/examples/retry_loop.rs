//! A loop without async: read a file that another program is about to write.
//!
//! `cargo run -p tidegate-backoff-core --example retry_loop`
#![expect(clippy::print_stdout, reason = "an example that prints")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io, thread};

use tidegate_backoff_core::{Backoff, Exponential, Jitter, SplitMix64};

const WAITS: Backoff =
    Backoff::new(Exponential::new(Duration::from_millis(5), Duration::from_millis(80)), Jitter::Equal);

fn main() -> io::Result<()> {
    let path = std::env::temp_dir().join(format!("retry_loop.{}", std::process::id()));
    let other_program = {
        let path = path.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(60));
            fs::write(path, "here it is")
        })
    };
    let text = patiently(|| fs::read_to_string(&path));
    println!("{}", text?);
    other_program.join().map_err(|_| io::Error::other("the writer panicked"))??;
    fs::remove_file(path)
}

/// Calls `attempt` until it succeeds, at most eight times.
fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut delays = WAITS.delays(SplitMix64::new(seed())).limit(7);
    loop {
        match (attempt(), delays.next()) {
            (Err(error), Some(delay)) => {
                println!("{error}; again in {delay:?}");
                thread::sleep(delay);
            }
            (result, _) => return result,
        }
    }
}

/// Two programs that start together must not draw the same waits.
#[expect(clippy::disallowed_methods, reason = "the time as a seed, not as a clock")]
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() ^ u64::from(now.subsec_nanos()).rotate_left(32) ^ u64::from(std::process::id())
}
