use super::*;

const FIFTH: Ratio = Ratio::from_millionths(200_000);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn withdrawn(budget: &mut Budget, now: Duration) -> u32 {
    let mut count = 0;
    while budget.try_withdraw(now) {
        count += 1;
    }
    count
}

#[test]
fn the_reserve_is_full_at_the_start_and_refills_at_its_rate() {
    let mut budget = Budget::new(Ratio::from_millionths(0), 10);
    for (millis, granted) in
        [(0, 10), (0, 0), (99, 0), (100, 1), (199, 0), (250, 1), (300, 1), (60_000, 10), (60_050, 0)]
    {
        assert_eq!(withdrawn(&mut budget, ms(millis)), granted, "at {millis} ms");
    }
}

#[test]
fn a_ratio_grants_its_share_of_requests_exactly() {
    for (millionths, requests, granted) in [
        (200_000, 5, 1),
        (200_000, 4, 0),
        (200_000, 1000, 200),
        (600_000, 1000, 600),
        (333_333, 3, 0),
        (333_334, 3, 1),
        (1, 999_999, 0),
        (1, 1_000_000, 1),
        (1_000_000, 7, 7),
        (2_500_000, 2, 5),
        (0, 1000, 0),
    ] {
        let mut budget = Budget::new(Ratio::from_millionths(millionths), 0);
        for _ in 0..requests {
            budget.deposit(ms(5));
        }
        assert_eq!(budget.balance(ms(5)), u64::from(granted), "{millionths} ppm, {requests} requests");
        assert_eq!(withdrawn(&mut budget, ms(5)), granted, "{millionths} ppm, {requests} requests");
    }
}

#[test]
fn a_deposit_is_good_for_ten_seconds_and_not_longer() {
    let one = Ratio::from_millionths(1_000_000);
    for (millis, granted) in [(0, true), (9_999, true), (10_000, false), (3_600_000, false)] {
        let mut budget = Budget::new(one, 0);
        budget.deposit(ms(0));
        assert_eq!(budget.balance(ms(millis)), u64::from(granted), "at {millis} ms");
        assert_eq!(budget.try_withdraw(ms(millis)), granted, "at {millis} ms");
    }
}

#[test]
fn a_deposit_may_expire_up_to_fifty_milliseconds_early() {
    let mut budget = Budget::new(Ratio::from_millionths(1_000_000), 0);
    for millis in [0, 49, 50] {
        budget.deposit(ms(millis));
    }
    assert_eq!(budget.balance(ms(9_999)), 3);
    assert_eq!(budget.balance(ms(10_000)), 1);
    assert_eq!(budget.balance(ms(10_049)), 1);
    assert_eq!(budget.balance(ms(10_050)), 0);
}

#[test]
fn the_oldest_deposits_are_spent_first() {
    let mut budget = Budget::new(Ratio::from_millionths(1_000_000), 0);
    budget.deposit(ms(0));
    budget.deposit(ms(5_000));
    assert!(budget.try_withdraw(ms(6_000)));
    assert_eq!(budget.balance(ms(14_999)), 1);
    assert_eq!(budget.balance(ms(15_000)), 0);
}

#[test]
fn deposits_are_spent_before_the_reserve_and_fractions_add_up() {
    let mut budget = Budget::new(FIFTH, 1);
    for _ in 0..7 {
        budget.deposit(ms(0));
    }
    assert_eq!(budget.balance_millionths(ms(0)), 2_400_000);
    assert!(budget.try_withdraw(ms(0)));
    assert_eq!(budget.balance_millionths(ms(20_000)), 1_000_000, "the reserve was not touched");
    assert!(budget.try_withdraw(ms(0)));
    assert!(!budget.try_withdraw(ms(0)));
    assert_eq!(budget.balance_millionths(ms(0)), 400_000);
}

#[test]
fn a_long_stretch_of_traffic_keeps_the_last_ten_seconds() {
    // A request each millisecond for a minute: more slots than the ring has, many times over.
    let mut budget = Budget::new(FIFTH, 0);
    for millis in 0..60_000 {
        budget.deposit(ms(millis));
        let balance = budget.balance(ms(millis));
        let requests = (millis + 1).min(10_000);
        assert!(balance <= requests / 5, "{balance} at {millis} ms");
        assert!(balance + 11 >= requests / 5, "{balance} at {millis} ms: one slot may be missing, no more");
    }
}

#[test]
fn a_clock_that_goes_back_gives_nothing() {
    let mut budget = Budget::new(FIFTH, 10);
    assert_eq!(withdrawn(&mut budget, ms(5_000)), 10);
    for _ in 0..100 {
        assert!(!budget.try_withdraw(ms(0)));
        assert!(!budget.try_withdraw(ms(5_000)), "to and fro is no time");
    }
    for _ in 0..5 {
        budget.deposit(ms(1_000));
    }
    assert_eq!(budget.balance(ms(2_000)), 1, "the deposits count from the latest moment");
    assert!(budget.try_withdraw(ms(0)));
    assert!(budget.try_withdraw(ms(5_100)));
}

#[test]
fn nothing_overflows() {
    let mut budget = Budget::new(Ratio::from_millionths(u32::MAX), u32::MAX);
    for now in [Duration::MAX, Duration::ZERO, Duration::MAX] {
        budget.deposit(now);
        assert!(budget.try_withdraw(now));
    }
    budget.deposits.add(Duration::MAX, u64::MAX);
    budget.deposits.add(Duration::MAX, u64::MAX);
    assert!(budget.balance(Duration::MAX) > u64::from(u32::MAX));
    assert!(budget.try_withdraw(Duration::MAX));
}

#[test]
fn other_parameters_keep_what_was_paid_in() {
    let mut budget = Budget::new(FIFTH, 10);
    for _ in 0..10 {
        budget.deposit(ms(0));
    }
    budget.set(Ratio::from_millionths(0), 3, ms(0));
    budget.deposit(ms(0));
    assert_eq!(budget.balance(ms(0)), 2 + 3);
    budget.set(FIFTH, 100, ms(0));
    assert_eq!(budget.balance(ms(0)), 2 + 3, "a larger reserve fills at its rate");
    assert_eq!(budget.balance(ms(100)), 2 + 13);
}
