use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn backoff(jitter: Jitter) -> Backoff {
    Backoff::new(Exponential::new(MS(500), MS(8000)), jitter)
}

#[test]
fn each_jitter_covers_its_range_and_no_more() {
    let nano = Duration::from_nanos(1);
    for (jitter, attempt, previous, least, most) in [
        (Jitter::None, 0, MS(0), MS(500), MS(500)),
        (Jitter::None, 9, MS(0), MS(8000), MS(8000)),
        (Jitter::Full, 0, MS(0), MS(0), MS(500)),
        (Jitter::Full, 9, MS(0), MS(0), MS(8000)),
        (Jitter::Equal, 0, MS(0), MS(250), MS(500)),
        (Jitter::Equal, 9, MS(0), MS(4000), MS(8000)),
        (Jitter::Decorrelated, 9, MS(0), MS(500), MS(1500)),
        (Jitter::Decorrelated, 9, MS(1), MS(500), MS(1500)),
        (Jitter::Decorrelated, 0, MS(1000), MS(500), MS(3000)),
        (Jitter::Decorrelated, 0, MS(2667), MS(500), MS(8000)),
        (Jitter::Decorrelated, 0, MS(8000), MS(500), MS(8000)),
        (Jitter::Decorrelated, 0, Duration::MAX, MS(500), MS(8000)),
    ] {
        let draw = |entropy| backoff(jitter).delay(attempt, previous, entropy);
        let row = (jitter, attempt, previous);
        assert_eq!(draw(0), least, "the least of {row:?}");
        assert_eq!(draw(u64::MAX), most, "the most of {row:?}");
        if least < most {
            let middle = (least + most) / 2;
            assert!(draw(1 << 63).abs_diff(middle) <= nano, "the middle of {row:?}");
        }
    }
}

#[test]
fn an_odd_ceiling_is_reached_by_equal_jitter() {
    let three = Duration::from_nanos(3);
    let equal = Backoff::new(Exponential::new(three, three), Jitter::Equal);
    assert_eq!(equal.delay(0, three, 0), Duration::from_nanos(1));
    assert_eq!(equal.delay(0, three, u64::MAX), three);
}

#[test]
fn decorrelated_waits_stay_spread_at_the_maximum() {
    // Cutting the draw instead of its range would put two of three waits on the maximum.
    let mut random = SplitMix64::new(1);
    let waits = 10_000;
    let mut previous = MS(8000);
    let mut at_the_top = 0;
    for attempt in 0..waits {
        previous = backoff(Jitter::Decorrelated).delay(attempt, previous, random.next_u64());
        at_the_top += u32::from(previous > MS(7900));
    }
    assert!(at_the_top < waits / 20, "{at_the_top} of {waits} waits within 100 ms of the maximum");
}

#[test]
fn a_base_above_the_maximum_waits_the_maximum() {
    let reversed = Exponential::new(MS(9000), MS(100));
    for jitter in Jitter::ALL {
        for entropy in [0, 1, u64::MAX] {
            let delay = Backoff::new(reversed, jitter).delay(0, MS(0), entropy);
            assert!(delay <= MS(100), "{jitter} {entropy}: {delay:?}");
        }
    }
    assert_eq!(Backoff::new(reversed, Jitter::None).delay(0, MS(0), 0), MS(100));
}

#[test]
fn a_told_delay_is_a_floor() {
    for (jitter, told, attempt, least, most) in [
        (Jitter::None, MS(0), 0, MS(500), MS(500)),
        (Jitter::None, MS(700), 0, MS(700), MS(700)),
        (Jitter::None, MS(700), 1, MS(1000), MS(1000)),
        (Jitter::None, MS(20_000), 1, MS(20_000), MS(20_000)),
        (Jitter::Full, MS(20_000), 1, MS(20_000), MS(20_500)),
        (Jitter::Equal, MS(700), 0, MS(700), MS(1200)),
        (Jitter::Decorrelated, MS(20_000), 1, MS(20_000), MS(20_500)),
        (Jitter::Full, Duration::MAX, 1, Duration::MAX, Duration::MAX),
    ] {
        let mut random = SplitMix64::new(7);
        for _ in 0..200 {
            let delay = backoff(jitter).delay_after(told, attempt, MS(0), random.next_u64());
            assert!((least..=most).contains(&delay), "{jitter} told {told:?} attempt {attempt}: {delay:?}");
        }
    }
}

#[test]
fn those_who_were_told_the_same_return_apart() {
    let mut random = SplitMix64::new(3);
    let told = MS(2000);
    let mut in_the_first_half = 0;
    for _ in 0..1000 {
        // Full jitter below 2 s: the told delay wins every time.
        let delay = backoff(Jitter::Full).delay_after(told, 1, MS(0), random.next_u64());
        in_the_first_half += u32::from(delay < told + MS(250));
    }
    assert!((400..600).contains(&in_the_first_half), "{in_the_first_half} of 1000 in the first half");
}
