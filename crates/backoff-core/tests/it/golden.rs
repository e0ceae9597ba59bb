//! Tables made by running the programs that these schedules come from.

use std::time::Duration;

use tidegate_backoff_core::{Backoff, CoolDown, Exponential, Jitter};

/// The lines below the heading, four whole numbers each.
#[expect(clippy::panic, reason = "a table that cannot be read is a failed test")]
fn rows(table: &str) -> impl Iterator<Item = [u64; 4]> {
    table.lines().skip(1).map(|line| {
        let mut columns = line.split(',').map(str::parse);
        std::array::from_fn(|_| match columns.next() {
            Some(Ok(number)) => number,
            other => panic!("{line}: {other:?}"),
        })
    })
}

#[test]
fn the_waits_without_jitter_are_those_of_retryablehttp() {
    let mut count = 0;
    for row @ [min, max, attempt, wait] in rows(include_str!("../golden/retryablehttp.csv")) {
        let schedule = Exponential::new(Duration::from_nanos(min), Duration::from_nanos(max));
        let exact = Backoff::new(schedule, Jitter::None);
        let attempt = u32::try_from(attempt).unwrap();
        assert_eq!(schedule.ceiling(attempt), Duration::from_nanos(wait), "{row:?}");
        for entropy in [0, 1, u64::MAX] {
            assert_eq!(
                exact.delay(attempt, Duration::from_secs(1), entropy),
                Duration::from_nanos(wait),
                "{row:?}"
            );
        }
        count += 1;
    }
    assert!(count > 200, "{count} rows");
}

#[test]
fn the_rests_with_the_cap_kept_are_those_of_pixivfe() {
    let mut count = 0;
    for row @ [base, max, failures, rest] in rows(include_str!("../golden/cooldown.csv")) {
        let max = Duration::from_nanos(max);
        let kept = CoolDown { base: Duration::from_nanos(base), max, max_rest: max, ..CoolDown::default() };
        let failures = u32::try_from(failures).unwrap();
        assert_eq!(kept.rest(failures, 0).duration, Duration::from_nanos(rest), "{row:?}");
        count += 1;
    }
    assert!(count > 200, "{count} rows");
}
