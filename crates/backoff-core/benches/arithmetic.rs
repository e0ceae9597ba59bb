//! What one retry costs in arithmetic: `cargo xtask bench`.
#![expect(clippy::unwrap_used, reason = "a name of the table below")]

use std::time::Duration;

use divan::{Bencher, black_box, counter::ItemsCount};
use tidegate_backoff_core::{Backoff, Budget, CoolDown, Exponential, Jitter, Ratio};

/// Divan's clock steps are longer than one call: each sample makes so many.
const CALLS: u32 = 1000;

fn main() {
    divan::main();
}

#[divan::bench(args = ["none", "full", "equal", "decorrelated"])]
fn delay(bencher: Bencher<'_, '_>, jitter: &str) {
    let jitter: Jitter = jitter.parse().unwrap();
    let schedule = Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
    let backoff = black_box(Backoff::new(schedule, jitter));
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        let mut previous = Duration::ZERO;
        for attempt in 0..CALLS {
            let entropy = u64::from(attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            previous = black_box(backoff.delay(black_box(attempt & 7), previous, entropy));
        }
        previous
    });
}

#[divan::bench]
fn rest(bencher: Bencher<'_, '_>) {
    let cool_down = black_box(CoolDown::default());
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        for failures in 0..CALLS {
            let _ = black_box(cool_down.rest(black_box(failures & 15), 0));
        }
    });
}

#[divan::bench]
fn deposit(bencher: Bencher<'_, '_>) {
    let mut budget = Budget::new(Ratio::from_millionths(200_000), 10);
    let mut now = Duration::ZERO;
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        for _ in 0..CALLS {
            now += Duration::from_micros(100);
            budget.deposit(black_box(now));
        }
    });
}

#[divan::bench]
fn withdraw(bencher: Bencher<'_, '_>) {
    let mut budget = Budget::new(Ratio::from_millionths(1_000_000), 10);
    let mut now = Duration::ZERO;
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        for _ in 0..CALLS {
            now += Duration::from_micros(100);
            budget.deposit(now);
            black_box(budget.try_withdraw(black_box(now)));
        }
    });
}
