//! Nanoseconds per next delay: exponential from 500 ms to 8 s, full jitter or what comes nearest.

use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime};

use backoff::backoff::Backoff as _;
use backon::BackoffBuilder as _;
use retry_policies::RetryPolicy as _;
use tidegate_backoff_core::{Backoff, Exponential, Jitter, SplitMix64};
use tower::retry::backoff::{Backoff as _, MakeBackoff as _};
use tower::util::rng::HasherRng;

const BASE: Duration = Duration::from_millis(500);
const MAX: Duration = Duration::from_secs(8);
const CALLS: u32 = 1_000_000;
/// The first eight waits, again and again.
const RETRIES: u32 = 8;

pub fn run() {
    println!("ns per next delay ({CALLS} calls, best of 7)");
    let schedule = black_box(Backoff::new(Exponential::new(BASE, MAX), Jitter::Full));
    tell("tidegate Backoff::delay, entropy given", || {
        for call in 0..CALLS {
            let entropy = u64::from(call).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            black_box(schedule.delay(black_box(call % RETRIES), Duration::ZERO, entropy));
        }
    });
    tell("tidegate Backoff::delay, fastrand", || {
        for call in 0..CALLS {
            black_box(schedule.delay(black_box(call % RETRIES), Duration::ZERO, fastrand::u64(..)));
        }
    });
    tell("tidegate Delays, SplitMix64", || {
        let mut delays = schedule.delays(SplitMix64::new(7));
        for call in 0..CALLS {
            if call % RETRIES == 0 {
                delays.restart();
            }
            black_box(delays.next());
        }
    });
    let backon = backon::ExponentialBuilder::default()
        .with_min_delay(BASE)
        .with_max_delay(MAX)
        .with_jitter()
        .without_max_times();
    tell("backon", || {
        let mut delays = backon.build();
        for call in 0..CALLS {
            if call % RETRIES == 0 {
                delays = backon.build();
            }
            black_box(delays.next());
        }
    });
    let mut delays = backoff::ExponentialBackoffBuilder::new()
        .with_initial_interval(BASE)
        .with_max_interval(MAX)
        .with_multiplier(2.0)
        .with_max_elapsed_time(None)
        .build();
    tell("backoff", || {
        for call in 0..CALLS {
            if call % RETRIES == 0 {
                delays.reset();
            }
            black_box(delays.next_backoff());
        }
    });
    let policy = retry_policies::policies::ExponentialBackoff::builder()
        .retry_bounds(BASE, MAX)
        .build_with_max_retries(100);
    let now = SystemTime::now();
    tell("retry-policies", || {
        for call in 0..CALLS {
            black_box(policy.should_retry(now, black_box(call % RETRIES)));
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _entered = runtime.enter();
    let mut maker =
        tower::retry::backoff::ExponentialBackoffMaker::new(BASE, MAX, 0.5, HasherRng::new()).unwrap();
    tell("tower (with the Sleep that it returns)", || {
        let mut backoff = maker.make_backoff();
        for call in 0..CALLS {
            if call % RETRIES == 0 {
                backoff = maker.make_backoff();
            }
            drop(black_box(backoff.next_backoff()));
        }
    });
    println!();
}

fn tell(what: &str, mut calls: impl FnMut()) {
    let best = (0..7).map(|_| {
        let began = Instant::now();
        calls();
        began.elapsed()
    });
    let nanos = best.min().unwrap_or_default().as_nanos() as f64 / f64::from(CALLS);
    println!("  {nanos:6.1}  {what}");
}
