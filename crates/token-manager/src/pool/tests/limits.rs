use super::*;
use crate::{Limit, Strategy};

fn limited(count: u32, seconds: u64) -> PoolParams {
    PoolParams { limit: Some(Limit::window(count, secs(seconds))), ..PoolParams::default() }
}

#[test]
fn a_known_limit_is_kept_over_any_window() {
    let mut rig = Rig::with("a", limited(2, 60));
    rig.lends(1);
    rig.pass(secs(50));
    rig.lends(1);
    assert!(rig.try_lend().is_none());
    rig.pass(secs(10));
    rig.lends(1);
    assert!(rig.try_lend().is_none(), "one has left the window, not two");
    rig.pass(secs(49));
    assert!(rig.try_lend().is_none());
    rig.pass(secs(1));
    rig.lends(1);
    assert_eq!(rig.state("a"), State::Ready, "a token at its limit is not at fault");
}

#[test]
fn each_token_has_the_limit_to_itself() {
    let mut rig = Rig::with("a b", limited(2, 60));
    assert_eq!(rig.lends(4), "a b a b");
    assert!(rig.try_lend().is_none());
}

#[test]
fn a_rest_and_a_limit_are_both_waited_for() {
    for (told_secs, free) in [(30, 60), (90, 90)] {
        let mut rig = Rig::with("a", limited(1, 60));
        let loan = rig.lend();
        rig.report(&loan, &told(Outcome::Limited, told_secs));
        rig.drop(&loan);
        rig.pass(secs(free) - Duration::from_nanos(1));
        assert!(rig.try_lend().is_none(), "told {told_secs} s");
        rig.pass(Duration::from_nanos(1));
        rig.lend();
    }
}

#[test]
fn concurrency_counts_until_the_body_has_ended() {
    let params = PoolParams { max_concurrency: 2, ..PoolParams::default() };
    let mut rig = Rig::with("a", params);
    let (first, second) = (rig.lend(), rig.lend());
    assert!(rig.try_lend().is_none());
    rig.report(&first, &Report::new(Outcome::Success));
    assert!(rig.try_lend().is_none(), "its body still streams");
    rig.leave(&first);
    let third = rig.lend();
    assert!(rig.try_lend().is_none());
    rig.drop(&second);
    rig.drop(&third);
    rig.lends(2);
}

#[test]
fn a_probe_counts_towards_concurrency() {
    let params = PoolParams { max_concurrency: 1, ..PoolParams::default() };
    let mut rig = Rig::with("a", params);
    let loan = rig.lend();
    rig.report(&loan, &Report::new(Outcome::Limited));
    rig.pass(secs(1));
    assert!(rig.try_lend().is_none(), "the refused attempt's body still streams");
    rig.leave(&loan);
    let probe = rig.lend();
    rig.report(&probe, &Report::new(Outcome::Success));
    assert!(rig.try_lend().is_none());
}

#[test]
fn new_limits_hold_at_once() {
    for strategy in Strategy::ALL {
        let mut rig = Rig::with("a", PoolParams { strategy, ..limited(5, 60) });
        let out: Vec<_> = (0..3).map(|_| rig.lend()).collect();
        rig.pool.set_params(PoolParams { strategy, ..limited(3, 60) }, rig.now);
        assert!(rig.try_lend().is_none(), "{strategy}: three are in the window");
        rig.pool.set_params(PoolParams { strategy, max_concurrency: 4, ..limited(9, 60) }, rig.now);
        let fourth = rig.lend();
        assert!(rig.try_lend().is_none(), "{strategy}: four are out");
        rig.pool.set_params(PoolParams { strategy, ..PoolParams::default() }, rig.now);
        rig.lends(5);
        out.iter().chain([&fourth]).for_each(|loan| rig.drop(loan));
        assert_eq!(rig.status("a").in_flight, 0);
    }
}

#[test]
fn a_lend_that_nobody_took_does_not_count() {
    let mut rig = Rig::with("a", limited(1, 60));
    let loan = rig.lend();
    rig.pool.take_back(&loan, rig.now);
    rig.lend();
    assert!(rig.try_lend().is_none());
}

#[test]
fn a_call_holds_its_place_until_a_window_after_its_answer() {
    let mut rig = Rig::with("a", limited(1, 60));
    let loan = rig.lend();
    rig.pass(Duration::from_millis(130));
    rig.end(&loan, Outcome::Success);
    rig.pass(secs(60) - Duration::from_nanos(1));
    assert!(rig.try_lend().is_none(), "the upstream may have counted it just before its answer");
    rig.pass(Duration::from_nanos(1));
    let slow = rig.lend();
    rig.pass(secs(30));
    rig.drop(&slow);
    rig.pass(secs(30) + Duration::from_millis(599));
    assert!(rig.try_lend().is_none());
    rig.pass(Duration::from_millis(1));
    rig.lend();
}

#[test]
fn a_known_bucket_is_kept() {
    let limit = Some(Limit::bucket(2, secs(1), 10));
    let mut rig = Rig::with("a", PoolParams { limit, ..PoolParams::default() });
    rig.lends(10);
    assert!(rig.try_lend().is_none());
    rig.pass(Duration::from_millis(499));
    assert!(rig.try_lend().is_none());
    rig.pass(Duration::from_millis(1));
    rig.lends(1);
    assert!(rig.try_lend().is_none());
    rig.pass(secs(4));
    rig.lends(8);
    assert!(rig.try_lend().is_none());
}

#[test]
fn an_answer_from_before_a_limit_says_nothing_of_its_bucket() {
    let slow = |limit| PoolParams { limit, ..PoolParams::default() };
    let bucket = Some(Limit::bucket(1, secs(1), 5));
    for before in [None, Some(Limit::bucket(1_000_000, secs(1), 1_000_000))] {
        let mut rig = Rig::with("a", slow(before));
        let old = rig.lend();
        rig.lends(5000);
        rig.pool.set_params(slow(bucket), rig.now);
        rig.pass(secs(10));
        rig.report(&old, &Report::new(Outcome::Success));
        rig.leave(&old);
        rig.lends(5);
        assert!(rig.try_lend().is_none(), "{before:?}");
    }
}

#[test]
fn any_longest_wait_is_a_wait() {
    let rig = Rig::with("a", PoolParams { max_wait: Duration::MAX, ..limited(1, 60) });
    assert_eq!(rig.pool.patience(secs(1)), None);
}
