//! Prints what each kind of jitter makes of one schedule, and how a token's rests grow.
//!
//! `cargo run -p tidegate-backoff-core --example schedule`
#![expect(clippy::print_stdout, reason = "an example that prints")]

use std::time::Duration;

use tidegate_backoff_core::{Backoff, CoolDown, Exponential, Jitter, SplitMix64};

fn main() {
    let schedule = Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
    println!("waits before a retry, 500 ms doubling up to 8 s");
    for (seed, jitter) in (1..).zip(Jitter::ALL) {
        print!("  {jitter:12}");
        for delay in Backoff::new(schedule, jitter).delays(SplitMix64::new(seed)).limit(7) {
            print!("{:>9.3}", delay.as_secs_f64());
        }
        println!();
    }

    println!("rests of a token that goes on failing");
    let cool_down = CoolDown::default();
    for failures in 1..=10 {
        let rest = cool_down.rest(failures, 0);
        let state = if rest.unavailable { "unavailable" } else { "cooling" };
        println!("  failure {failures:2}{:>7} s  {state}", rest.duration.as_secs());
    }
}
