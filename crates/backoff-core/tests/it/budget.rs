//! The budget's bound, for any order of requests and retries and a clock that goes to and fro.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_backoff_core::{Budget, Ratio};

use crate::strategies::duration;

const MILLION: u128 = 1_000_000;
const SECOND: u128 = 1_000_000_000;

#[derive(Clone, Copy, Debug)]
enum Event {
    Request,
    Retry,
}

/// Steps in time in milliseconds: mostly small, some backwards, some longer than the window.
fn step() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(0), 8 => 0..60_i64, 3 => 0..1_500_i64, 2 => -3_000..0_i64, 1 => 8_000..12_000_i64]
}

fn events() -> impl Strategy<Value = Vec<(Event, i64)>> {
    vec((prop_oneof![Just(Event::Request), Just(Event::Retry)], step()), 0..200)
}

/// The moments at which requests began and retries were granted; a clock that goes back stands still.
struct Run {
    requests: Vec<u128>,
    granted: Vec<u128>,
}

fn run(budget: &mut Budget, events: &[(Event, i64)]) -> Run {
    let (mut clock, mut latest) = (0_i64, 0);
    let mut run = Run { requests: Vec::new(), granted: Vec::new() };
    for &(event, step) in events {
        clock = (clock + step).max(0);
        latest = latest.max(clock);
        let now = Duration::from_millis(clock.unsigned_abs());
        let moment = u128::from(latest.unsigned_abs()) * 1_000_000;
        match event {
            Event::Request => {
                budget.deposit(now);
                run.requests.push(moment);
            }
            Event::Retry => {
                let foretold = budget.balance(now) > 0;
                let granted = budget.try_withdraw(now);
                assert_eq!(granted, foretold, "the balance says what is granted");
                if granted {
                    run.granted.push(moment);
                }
            }
        }
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// In T seconds: ratio x (requests from 10 s before their start) + min_per_second x (T + 1).
    #[test]
    fn no_outage_gets_more_than_the_bound(
        ratio in prop_oneof![Just(200_000), 0..3_000_000_u32],
        min_per_second in 0..20_u32,
        events in events(),
    ) {
        let mut budget = Budget::new(Ratio::from_millionths(ratio), min_per_second);
        let run = run(&mut budget, &events);
        for (index, &start) in run.granted.iter().enumerate() {
            for (count, &end) in (1_u128..).zip(&run.granted[index..]) {
                let paid = run.requests.iter().filter(|&&at| at + 10 * SECOND > start && at <= end).count() as u128;
                let bound = u128::from(ratio) * paid * SECOND
                    + u128::from(min_per_second) * MILLION * (end - start + SECOND);
                prop_assert!(count * MILLION * SECOND <= bound, "{count} retries from {start} to {end} ns, {paid} requests");
            }
        }
    }

    /// Nothing is lost but the 50 ms by which a deposit may expire early.
    #[test]
    fn deposits_count_for_ten_seconds(ratio in 0..3_000_000_u32, events in events()) {
        let mut budget = Budget::new(Ratio::from_millionths(ratio), 0);
        let requests_only: Vec<_> = events.iter().map(|&(_, step)| (Event::Request, step)).collect();
        let run = run(&mut budget, &requests_only);
        let end = run.requests.last().copied().unwrap_or_default();
        let within = |window: u128| {
            run.requests.iter().filter(|&&at| at + window > end).count() as u64 * u64::from(ratio)
        };
        let balance = budget.balance_millionths(Duration::ZERO);
        prop_assert!(balance <= within(10 * SECOND));
        prop_assert!(balance >= within(9 * SECOND + 950 * MILLION));
    }

    #[test]
    fn no_input_breaks_it(
        ratio in any::<u32>(), min_per_second in any::<u32>(), moments in vec((duration(), 0..4_u8), 0..50),
    ) {
        let mut budget = Budget::new(Ratio::from_millionths(ratio), min_per_second);
        for (now, event) in moments {
            match event {
                0 => budget.deposit(now),
                1 => budget.set(Ratio::from_millionths(min_per_second), ratio, now),
                _ => {
                    let balance = budget.balance(now);
                    prop_assert_eq!(budget.try_withdraw(now), balance > 0);
                }
            }
        }
    }
}
