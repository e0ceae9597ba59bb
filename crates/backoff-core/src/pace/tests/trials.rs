//! What is guessed, tried, and found again.

use core::time::Duration;

use super::world::{Caller, Demand, Limit, SECOND};
use crate::pace::lesson::News;
use crate::pace::{Known, Lesson, Pace};

const MINUTE: Duration = Duration::from_secs(60);

/// Refused now, after which nothing is granted for `rest`.
fn refuse(pace: &mut Pace, now: Duration, rest: Duration) -> (Option<Lesson>, Duration) {
    let lesson = pace.refused(now);
    let _ = pace.lent(now + rest);
    let _ = pace.succeeded(now + rest);
    (lesson, now + rest)
}

/// Keeps to the pace for so many lends, all granted. Returns what that taught.
fn keep(pace: &mut Pace, now: &mut Duration, lends: u32) -> Option<Lesson> {
    let mut learned = None;
    for _ in 0..lends {
        *now = (*now).max(pace.allows_from());
        learned = pace.lent(*now).or(learned);
        let _ = pace.succeeded(*now);
    }
    learned
}

/// A hundred calls were granted in the first 40 s, and then none for a minute.
fn guessed() -> (Pace, Duration) {
    let now = 40 * SECOND;
    let mut pace = Pace::new(101, now, now);
    let (_, now) = refuse(&mut pace, now, MINUTE);
    (pace, now)
}

#[test]
fn what_a_first_dear_refusal_lets_guess() {
    let usual = |interval: f64| Some((Known::Usual, interval * 1.04));
    let fills = |interval: f64| Some((Known::Guessed, interval));
    for (lends, age, rest, guess) in [
        (101, 40, 60, fills(0.606)),
        (101, 40, 20, fills(0.606)),
        (51, 8, 30, fills(0.204)),
        (1001, 1800, 1800, fills(3.636)),
        // One of a minute would have let the next call through before; one of an hour not so soon.
        (101, 40, 15, usual(0.4)),
        (101, 61, 120, usual(0.61)),
        // The cool-down's own rest: behind it may stand a bucket.
        (101, 40, 9, usual(0.4)),
        (8, 40, 60, None),
    ] {
        let now = age * SECOND;
        let mut pace = Pace::new(lends, now, now);
        let _ = refuse(&mut pace, now, rest * SECOND);
        let row = (lends, age, rest);
        assert_eq!(pace.interval().is_some(), guess.is_some(), "{row:?}: {pace:?}");
        if let (Some(interval), Some((known, expected))) = (pace.interval(), guess) {
            assert_eq!(pace.known, known, "{row:?}");
            assert!(
                (interval.as_secs_f64() - expected).abs() < 0.001,
                "{row:?}: {interval:?} for {expected} s"
            );
        }
    }
}

#[test]
fn calls_that_were_on_their_way_and_refused_too_were_not_granted() {
    let now = 40 * SECOND;
    let mut pace = Pace::new(104, now, now);
    for call in 0..4 {
        let _ = pace.refused(now + SECOND / 20 * call);
    }
    // Probes of the rest were not among them.
    for probe in 1..4 {
        let _ = pace.lent(now + SECOND * probe);
        let _ = pace.refused(now + SECOND * probe);
    }
    let _ = pace.lent(now + MINUTE);
    let _ = pace.succeeded(now + MINUTE);
    assert_eq!(pace.interval(), Some(Duration::from_millis(606)));
}

#[test]
fn a_guess_that_is_refused_is_followed_by_the_next() {
    for (what, lends, rest, expected) in [
        ("as many: the next common window", 100, 240, 3.0),
        ("as many, and none is common", 100, 100, 1.606),
        ("more: they have left the window, and it was the rate", 180, 240, 0.606),
    ] {
        let (mut pace, mut now) = guessed();
        let _ = keep(&mut pace, &mut now, lends);
        now = now.max(pace.allows_from());
        let _ = pace.lent(now);
        let _ = refuse(&mut pace, now, rest * SECOND);
        let interval = pace.interval().unwrap().as_secs_f64();
        assert_eq!(pace.known, Known::Guessed, "{what}");
        assert!((interval / expected - 1.0).abs() < 0.05, "{what}: {interval} s for {expected} s");
    }
}

#[test]
fn a_window_that_is_no_unit_is_known_by_the_second_time() {
    let mut now = 400 * SECOND;
    let mut pace = Pace::new(1001, now, now);
    (_, now) = refuse(&mut pace, now, 300 * SECOND);
    assert_eq!(pace.known, Known::Usual);
    for _ in 0..1000 {
        now += SECOND * 2 / 5;
        let _ = pace.lent(now);
        let _ = pace.succeeded(now);
    }
    let _ = pace.lent(now);
    let _ = refuse(&mut pace, now, 300 * SECOND);
    let interval = pace.interval().unwrap().as_secs_f64();
    assert!((interval - 0.606).abs() < 0.003, "a thousand in ten minutes: {interval} s");
}

#[test]
fn one_of_many_tries_whether_more_is_granted_and_the_others_follow() {
    let (mut first, mut now) = guessed();
    let mut others = [first.clone(), first.clone()];
    let guess = first.interval();
    let tries = keep(&mut first, &mut now, 200).unwrap();
    assert!(first.interval() < guess, "what it granted for two windows is safe, and more is tried");
    for other in &mut others {
        let mut time = 100 * SECOND;
        let _ = keep(other, &mut time, 150);
        other.heed(&tries, time);
        assert_eq!(other.interval(), guess);
        assert_eq!(keep(other, &mut time, 150), None, "one is enough");
    }
    let tried = first.interval();
    let granted = keep(&mut first, &mut now, 100).unwrap();
    assert!(first.interval() < tried, "a window later the next");
    for other in &mut others {
        other.heed(&granted, now);
        assert_eq!(other.interval(), tried, "what was granted to one");
    }
    now = now.max(first.allows_from());
    let _ = first.lent(now);
    let (lesson, _) = refuse(&mut first, now, MINUTE);
    assert_eq!(lesson.map(|lesson| lesson.news), Some(News::Refused));
    assert!(first.interval() > tried, "below what was refused");
    let patience = 30 * MINUTE;
    let whole = first.interval();
    let end = now + MINUTE + patience;
    while now < end {
        assert_eq!(first.interval(), whole);
        let _ = keep(&mut first, &mut now, 1);
    }
    let _ = keep(&mut first, &mut now, 1);
    assert!(first.interval() < whole, "again after thirty times what the refusal cost");
}

/// Once a second was granted for long, and then hardly anything was: once in ten seconds.
fn fallen() -> (Pace, Duration) {
    let mut pace = Pace::new(1, Duration::ZERO, Duration::ZERO);
    let (_, mut now) = refuse(&mut pace, Duration::ZERO, SECOND);
    for _ in 0..40 {
        now += SECOND;
        let _ = pace.lent(now);
        let _ = pace.succeeded(now);
    }
    let _ = pace.lent(now);
    (_, now) = refuse(&mut pace, now, SECOND);
    let _ = keep(&mut pace, &mut now, 19);
    assert_eq!(pace.fall.from, 0);
    let _ = keep(&mut pace, &mut now, 1);
    assert!(pace.fall.from > 0, "it was kept for twenty lends");
    while pace.whole < 10 * 1_000_000_000 {
        now = now.max(pace.allows_from());
        let _ = pace.lent(now);
        (_, now) = refuse(&mut pace, now, 10 * SECOND);
    }
    (pace, now)
}

#[test]
fn after_a_fall_what_was_granted_before_is_tried_soon_and_then_ever_more_rarely() {
    let (mut pace, mut now) = fallen();
    let before = pace.fall.from;
    let until_it_tries = |pace: &mut Pace, now: &mut Duration| {
        let mut lends = 0;
        loop {
            let whole = pace.whole;
            let lesson = keep(pace, now, 1);
            lends += 1;
            if lesson.is_some_and(|lesson| lesson.news == News::Tries) {
                assert_eq!(pace.whole, before);
                return (lends, whole);
            }
        }
    };
    let mut after = until_it_tries(&mut pace, &mut now).1;
    for expected in [40, 80] {
        now = now.max(pace.allows_from());
        let _ = pace.lent(now);
        (_, now) = refuse(&mut pace, now, 10 * SECOND);
        assert_eq!(pace.whole, after, "refused: nothing else was learned");
        let lends;
        (lends, after) = until_it_tries(&mut pace, &mut now);
        assert!((expected - 1..=expected).contains(&lends), "{lends} for {expected}");
    }
    let mut peer = pace.clone();
    (peer.whole, peer.fall) = (pace.fall.to, fallen().0.fall);
    let granted = keep(&mut pace, &mut now, 20);
    assert_eq!((granted.map(|lesson| lesson.news), pace.whole), (Some(News::Granted), before));
    peer.heed(&granted.unwrap(), now);
    assert_eq!(peer.whole, before, "another that fell as far");
}

#[test]
fn a_fall_that_lasts_is_none_any_more() {
    let bucket = |interval| Limit::Bucket { interval, burst: 5 };
    let mut caller = Caller::new(bucket(SECOND), Demand::Endless);
    caller.run(60 * MINUTE);
    let before = caller.pace().fall.from;
    caller.change(bucket(10 * SECOND));
    caller.run(600 * MINUTE);
    let tally = caller.run(600 * MINUTE);
    assert!(tally.granted >= 3600 * 95 / 100, "{tally:?}, {:?}", caller.pace());
    assert!(tally.refused * 100 <= tally.granted * 3, "{tally:?}");
    assert!(caller.pace().fall.from > 9 * before, "what is kept now is what was kept");
}

#[test]
fn a_dear_limit_that_is_another_soon_is_used_whole() {
    let block = |count| Limit::Block { count, per: MINUTE, block: MINUTE };
    for count in [100, 50, 200] {
        let mut caller = Caller::new(block(100), Demand::Endless);
        caller.run(60 * MINUTE);
        caller.change(block(count));
        caller.run(120 * MINUTE);
        let tally = caller.run(240 * MINUTE);
        let could = u32::try_from(count * 240).unwrap();
        assert!(tally.granted * 100 >= could * 90, "{count}: {tally:?} of {could}, {:?}", caller.pace());
        assert!(tally.refused * 100 <= tally.granted, "{count}: {tally:?}");
    }
}
