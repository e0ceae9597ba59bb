//! Exact figures.

use core::time::Duration;

use super::world::SECOND;
use crate::pace::lesson::News;
use crate::pace::meter::Meter;
use crate::pace::{Known, Lesson, Pace, nanos};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Lends this far apart, of which all succeed. Returns the moment of the last.
fn use_evenly(pace: &mut Pace, from: Duration, interval: Duration, lends: u32) -> Duration {
    for lend in 1..=lends {
        let now = from + interval * lend;
        let _ = pace.lent(now);
        let _ = pace.succeeded(now);
    }
    from + interval * lends
}

/// A call that is refused, and the probe that succeeds when the rest is over.
fn refuse(pace: &mut Pace, now: Duration, rest: Duration) -> (Option<Lesson>, Option<Lesson>) {
    let _ = pace.lent(now);
    let told = pace.refused(now);
    pace.rests_until(now + rest);
    let _ = pace.lent(now + rest);
    (told, pace.succeeded(now + rest))
}

/// A token whose limit, met at this pace, rested it for so long: known from two refusals.
fn met(interval: Duration, rest: Duration) -> (Pace, Duration) {
    let mut pace = Pace::new(1, Duration::ZERO, Duration::ZERO);
    let _ = refuse(&mut pace, Duration::ZERO, rest);
    let now = use_evenly(&mut pace, rest, interval, 100);
    let _ = refuse(&mut pace, now + interval, rest);
    (pace, now + interval + rest)
}

#[test]
fn a_buckets_rate_is_what_was_granted_between_two_refusals() {
    for (interval, lends) in [(ms(500), 40), (ms(50), 8), (ms(999), 1000)] {
        let mut pace = Pace::new(20, Duration::ZERO, Duration::ZERO);
        let _ = pace.refused(Duration::ZERO);
        assert_eq!(pace.interval(), None, "one refusal tells no rate");
        let now = use_evenly(&mut pace, Duration::ZERO, interval, lends);
        let _ = pace.lent(now);
        let _ = pace.refused(now);
        assert_eq!(pace.interval(), Some(interval), "{lends} lends");
    }
}

#[test]
fn fewer_than_eight_grants_tell_no_rate() {
    for (lends, paced) in [(7, false), (8, true)] {
        let mut pace = Pace::new(20, Duration::ZERO, Duration::ZERO);
        let _ = pace.refused(Duration::ZERO);
        let now = use_evenly(&mut pace, Duration::ZERO, SECOND, lends);
        let _ = pace.lent(now);
        let _ = pace.refused(now);
        assert_eq!(pace.interval().is_some(), paced, "{lends} grants");
    }
}

#[test]
fn a_window_is_bounded_from_below_by_what_it_granted_and_from_above_by_what_it_refused() {
    // 100 calls 0.2 s apart after a rest of 80 s: of 100 s, 100 were granted, and at 0.2 s it was refused.
    let mut pace = Pace::new(100, Duration::ZERO, Duration::ZERO);
    let _ = refuse(&mut pace, Duration::ZERO, 80 * SECOND);
    let now = use_evenly(&mut pace, 80 * SECOND, ms(200), 99);
    let _ = pace.lent(now + ms(200));
    let _ = pace.refused(now + ms(200));
    assert_eq!(pace.safe, nanos(SECOND));
    assert!(pace.risky < pace.safe / 2, "{} of {}", pace.risky, pace.safe);
    assert_eq!(pace.known, Known::Floor);
}

#[test]
fn what_came_before_a_time_without_use_tells_no_rate() {
    let mut pace = Pace::new(20, Duration::ZERO, Duration::ZERO);
    let _ = pace.refused(Duration::ZERO);
    let now = use_evenly(&mut pace, Duration::ZERO, ms(500), 40);
    let now = use_evenly(&mut pace, now + 600 * SECOND, ms(1), 20);
    let _ = pace.lent(now);
    let _ = pace.refused(now);
    assert_eq!(pace.interval(), None, "20 calls at once say what was saved up");
}

#[test]
fn nobody_asks_after_a_rest_and_that_is_not_what_it_has_cost() {
    for (idle, cost) in [(0, 16 * SECOND), (584, 16 * SECOND)] {
        let mut pace = Pace::new(120, 600 * SECOND, 600 * SECOND);
        let _ = pace.refused(600 * SECOND);
        pace.rests_until(616 * SECOND);
        let _ = pace.lent((616 + idle) * SECOND);
        let _ = pace.succeeded((616 + idle) * SECOND);
        assert_eq!(pace.cost, nanos(cost), "{idle} s without a call");
    }
}

#[test]
fn a_token_that_nobody_wants_after_its_rest_has_no_slow_limit() {
    let mut pace = Pace::new(1, Duration::ZERO, Duration::ZERO);
    let _ = refuse(&mut pace, Duration::ZERO, SECOND);
    for page in 1..5 {
        // 60 calls at once, of a page that comes every ten minutes; the next is refused.
        let now = use_evenly(&mut pace, page * 600 * SECOND, ms(10), 60);
        let _ = refuse(&mut pace, now, SECOND);
        assert!(pace.interval().is_none_or(|interval| interval < SECOND), "{pace:?}");
    }
}

#[test]
fn refused_before_it_has_granted_eight_it_steps_back_twice_as_far_each_time() {
    let (mut pace, mut now) = met(SECOND, SECOND);
    let mut before = pace.whole;
    for thousandths in [40, 80, 160, 320, 320] {
        let _ = refuse(&mut pace, now + SECOND, SECOND);
        now += 2 * SECOND;
        assert_eq!(pace.whole, before + before * thousandths / 1000, "{thousandths}");
        before = pace.whole;
    }
}

#[test]
fn a_refusal_is_dear_from_ten_lends_on() {
    for (rest, dear) in [(9, false), (12, true)] {
        let (pace, _) = met(SECOND, rest * SECOND);
        assert_eq!(pace.is_dear(), dear, "a rest of {rest} s: {pace:?}");
    }
}

/// Its first refusal cost 200 s; before it, it was used once in ten seconds.
fn usual() -> (Pace, Duration) {
    let now = 600 * SECOND;
    let mut pace = Pace::new(60, now, now);
    let _ = refuse(&mut pace, now, 200 * SECOND);
    (pace, now + 200 * SECOND)
}

#[test]
fn where_the_first_refusal_was_dear_the_usual_rate_is_the_guess() {
    let (pace, _) = usual();
    assert_eq!(pace.known, Known::Usual);
    let usual = Duration::from_secs(600) / 59 * 26 / 25;
    let interval = pace.interval().unwrap();
    assert!(interval.abs_diff(usual) < ms(1), "a little below what went well: {interval:?}");
    for (lends, rest, age) in [(7, 200, 600), (60, 90, 600), (60, 300, 61)] {
        let now = age * SECOND;
        let mut pace = Pace::new(lends, now, now);
        let _ = refuse(&mut pace, now, rest * SECOND);
        assert_eq!(pace.interval(), None, "{lends} lends in {age} s, a rest of {rest} s");
    }
}

#[test]
fn the_usual_rate_rises_where_it_is_not_refused() {
    let (mut pace, mut now) = usual();
    let mut slowest = pace.interval().unwrap();
    for raise in 0..5 {
        // A trial is thirty times what the refusal has cost.
        for _ in 0..700 {
            now = now.max(pace.allows_from());
            let _ = pace.lent(now);
            let _ = pace.succeeded(now);
        }
        let interval = Duration::from_nanos(pace.meter.interval);
        assert!(interval < slowest, "raise {raise}: {interval:?} of {slowest:?}");
        slowest = interval;
    }
}

#[test]
fn where_a_refusal_is_dear_a_token_stays_below_what_was_refused_and_is_patient() {
    let (mut pace, mut now) = met(SECOND, 60 * SECOND);
    for _ in 0..20_000 {
        now = now.max(pace.allows_from());
        let _ = pace.lent(now);
        let _ = pace.succeeded(now);
    }
    // The floor has been climbed by then, and beyond what was never refused it goes slowly.
    let risky = pace.whole;
    now = now.max(pace.allows_from());
    let (_, _) = refuse(&mut pace, now, 60 * SECOND);
    now += 60 * SECOND;
    assert_eq!(pace.known, Known::Ceiling);
    assert!(pace.whole >= risky + risky * 29 / 1000, "{} of {risky}", pace.whole);
    let (whole, trial) = (pace.whole, 30 * 60 * SECOND);
    let end = now + trial;
    while now < end {
        assert_eq!(pace.whole, whole, "no faster before {trial:?}");
        now = now.max(pace.allows_from());
        let _ = pace.lent(now);
        let _ = pace.succeeded(now);
    }
    now = now.max(pace.allows_from());
    let _ = pace.lent(now);
    assert!(pace.whole < whole, "and a little then");
}

#[test]
fn a_peers_ceiling_is_taken_where_it_may_be_ones_own() {
    let lesson = |interval: Duration| {
        let interval = nanos(interval);
        Lesson { pace: interval, now: interval, known: Known::Ceiling, news: News::Refused, window: 60 }
    };
    let (floor, now) = met(SECOND, 60 * SECOND);
    assert_eq!(floor.known, Known::Floor);
    let (usual, _) = usual();
    let nothing = Pace::new(60, now, now);
    let rows = [
        ("between what was granted and what was refused", &floor, ms(1_200), true),
        ("as fast as what was refused", &floor, ms(1_000), false),
        ("slower than what was granted", &floor, ms(2_000), false),
        ("slower than the usual rate, by less than four times", &usual, ms(40_000), true),
        ("by more", &usual, ms(43_000), false),
        ("faster than the usual rate", &usual, ms(10_000), false),
        ("nothing is known", &nothing, ms(1_200), false),
    ];
    for (what, pace, interval, taken) in rows {
        let mut pace = pace.clone();
        let before = pace.interval();
        pace.heed(&lesson(interval), now);
        let expected = if taken { Some(interval) } else { before };
        assert_eq!(pace.interval(), expected, "{what}");
        assert!(!taken || pace.allows_from() > now, "{what}: its window may be as full");
    }
}

#[test]
fn what_was_lent_beyond_a_slow_pace_is_made_up_for_at_a_faster_one() {
    for (interval, due) in [(SECOND / 2, 55), (SECOND / 10, 51), (SECOND * 2, 60)] {
        let mut meter = Meter::UNPACED;
        (meter.interval, meter.credit) = (nanos(SECOND), 20);
        let now = nanos(50 * SECOND);
        (0..10).for_each(|_| meter.lend(now));
        meter.change(nanos(interval), now);
        assert_eq!(
            meter.serves_at(0, 0),
            nanos(due * SECOND).saturating_sub(20 * nanos(interval)),
            "{interval:?}"
        );
    }
}
