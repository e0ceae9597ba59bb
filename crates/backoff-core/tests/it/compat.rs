//! Our schedules under the `backoff` crate's own loop.

use std::time::Duration;

use backoff::backoff::Backoff as _;
use tidegate_backoff_core::{Backoff, Exponential, Jitter, SplitMix64};

const NANO: Duration = Duration::from_nanos(1);

fn exact() -> Backoff {
    Backoff::new(Exponential::new(NANO, 8 * NANO), Jitter::None)
}

#[test]
fn its_retry_loop_waits_as_our_schedule_says() {
    let mut waits = Vec::new();
    let result = backoff::retry_notify(
        exact().delays(SplitMix64::new(1)).limit(6),
        || Err::<(), _>(backoff::Error::transient("still down")),
        |_, wait: Duration| waits.push(wait.as_nanos()),
    );
    assert!(result.is_err());
    assert_eq!(waits, [1, 2, 4, 8, 8, 8]);
}

#[test]
fn a_success_ends_its_retry_loop() {
    let mut calls = 0;
    let result = backoff::retry(exact().delays(|| 7), || {
        calls += 1;
        if calls < 4 { Err(backoff::Error::transient(())) } else { Ok(calls) }
    });
    assert!(matches!(result, Ok(4)));
}

#[test]
fn a_reset_begins_at_the_base_again() {
    let mut delays = exact().delays(SplitMix64::new(1)).limit(2);
    assert_eq!(delays.next_backoff(), Some(NANO));
    assert_eq!(delays.next_backoff(), Some(2 * NANO));
    assert_eq!(delays.next_backoff(), None);
    delays.reset();
    assert_eq!(delays.next_backoff(), Some(NANO));
}

#[test]
fn it_serves_behind_its_trait_object() {
    let mut boxed: Box<dyn backoff::backoff::Backoff> = Box::new(exact().delays(SplitMix64::new(1)));
    assert_eq!(boxed.next_backoff(), Some(NANO));
}
