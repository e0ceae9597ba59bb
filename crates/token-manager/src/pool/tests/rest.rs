use super::*;
use crate::Reason;

#[test]
fn rests_double_and_unavailable_tokens_rest_past_the_cap() {
    let mut rig = Rig::new("a");
    let rows = [
        (1, State::Cooling),
        (2, State::Cooling),
        (4, State::Cooling),
        (8, State::Cooling),
        (16, State::Cooling),
        (32, State::Unavailable),
        (64, State::Unavailable),
        (128, State::Unavailable),
    ];
    for (failures, (seconds, state)) in (1..).zip(rows) {
        rig.fail("a", Outcome::Limited);
        let status = rig.status("a");
        assert_eq!((status.state, status.retry_in, status.failures), (state, secs(seconds), failures));
        assert_eq!(status.until, Some(rig.now + secs(seconds)));
        rig.pass(secs(seconds) - Duration::from_nanos(1));
        assert!(rig.try_lend().is_none(), "{failures} failures, a nanosecond before the end");
        rig.pass(Duration::from_nanos(1));
        assert_eq!(rig.state("a"), State::Probing);
    }
    for _ in 0..20 {
        rig.fail("a", Outcome::Limited);
        let rest = rig.retry_in("a");
        rig.pass(rest);
        assert!(rest <= secs(3600), "{rest:?}");
    }
    rig.fail("a", Outcome::Limited);
    assert_eq!(rig.retry_in("a"), secs(3600));
}

#[test]
fn two_rejections_in_a_row_are_unavailable_and_double_from_there() {
    let mut rig = Rig::new("a");
    for (seconds, state) in [
        (1, State::Cooling),
        (300, State::Unavailable),
        (600, State::Unavailable),
        (1200, State::Unavailable),
    ] {
        rig.fail("a", Outcome::Rejected);
        let status = rig.status("a");
        assert_eq!((status.state, status.retry_in), (state, secs(seconds)));
        assert_eq!(status.reason, Some(Reason::Rejected));
        rig.pass(secs(seconds));
    }
}

#[test]
fn a_success_ends_both_rows() {
    let mut rig = Rig::new("a");
    rig.fail("a", Outcome::Rejected);
    rig.pass(secs(1));
    rig.fail("a", Outcome::Success);
    let status = rig.status("a");
    assert_eq!((status.state, status.failures, status.reason), (State::Ready, 0, None));
    rig.fail("a", Outcome::Rejected);
    assert_eq!((rig.state("a"), rig.retry_in("a")), (State::Cooling, secs(1)));
}

#[test]
fn limits_and_rejections_count_apart() {
    let mut rig = Rig::new("a");
    rig.fail("a", Outcome::Limited);
    rig.pass(secs(1));
    rig.fail("a", Outcome::Rejected);
    assert_eq!(
        (rig.state("a"), rig.retry_in("a")),
        (State::Cooling, secs(2)),
        "the first rejection, the second failure"
    );
    let status = rig.status("a");
    assert_eq!((status.rate_limited, status.rejected, status.failures), (1, 1, 2));
    assert_eq!(status.cooldowns, [1, 1, 0, 0]);
}

#[test]
fn a_told_delay_is_a_floor_kept_up_to_30_days() {
    let month = 30 * 24 * 60 * 60;
    let rows = [(0, 1), (1, 1), (100, 100), (month, month), (month + 1, month), (u64::MAX, month)];
    for (seconds, kept) in rows {
        let mut rig = Rig::new("a");
        let loan = rig.lend();
        rig.report(&loan, &told(Outcome::Limited, seconds));
        assert_eq!(rig.retry_in("a"), secs(kept), "told {seconds} s");
        assert_eq!(rig.state("a"), State::Cooling, "a long told rest is no row of failures");
    }
}

#[test]
fn a_told_delay_of_another_outcome_is_not_the_tokens() {
    for outcome in [Outcome::Success, Outcome::Unaffected] {
        let mut rig = Rig::new("a");
        let loan = rig.lend();
        rig.report(&loan, &told(outcome, 100));
        assert_eq!(rig.state("a"), State::Ready, "{outcome:?}");
    }
}

#[test]
fn an_empty_quota_rests_the_token_without_a_failure() {
    for outcome in [Outcome::Success, Outcome::Unaffected] {
        let mut rig = Rig::new("a b");
        let loan = rig.lend_this("a");
        rig.report(&loan, &quota(outcome, 60));
        let status = rig.status("a");
        assert_eq!(
            (status.state, status.failures, status.retry_in),
            (State::Cooling, 0, secs(60)),
            "{outcome:?}"
        );
        assert_eq!(status.reason, Some(Reason::QuotaEmpty));
        assert_eq!(status.successes, u64::from(outcome == Outcome::Success));
        assert_eq!(rig.lends(3), "b b b");
        rig.pass(secs(60));
        assert_eq!(rig.state("a"), State::Probing);
    }
}

#[test]
fn a_quota_that_is_over_already_rests_nothing() {
    let mut rig = Rig::new("a");
    let loan = rig.lend();
    rig.report(&loan, &quota(Outcome::Success, 0));
    assert_eq!(rig.state("a"), State::Ready);
}

#[test]
fn a_refusal_with_an_empty_quota_is_a_failure_and_keeps_the_longest() {
    let mut rig = Rig::new("a");
    let loan = rig.lend();
    rig.report(&loan, &Report { told: Some(secs(5)), ..quota(Outcome::Limited, 60) });
    let status = rig.status("a");
    assert_eq!((status.failures, status.retry_in, status.reason), (1, secs(60), Some(Reason::RateLimited)));
}

#[test]
fn a_token_returns_though_others_are_healthy() {
    let mut rig = Rig::new("a b c");
    rig.fail("a", Outcome::Limited);
    assert_eq!(rig.lends(4), "b c b c");
    rig.pass(secs(1));
    assert_eq!(rig.lends(3), "a b c");
}

#[test]
fn a_status_is_kept_until_the_next() {
    let mut rig = Rig::new("a");
    let loan = rig.lend();
    rig.report(&loan, &Report { status: Some(404), ..Report::new(Outcome::Success) });
    let second = rig.lend();
    rig.report(&second, &Report::new(Outcome::Unaffected));
    let status = rig.status("a");
    assert_eq!((status.last_status, status.requests, status.in_flight), (Some(404), 2, 2));
    assert_eq!(status.last_used, Some(rig.now));
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let mut rig = Rig::new("a");
    rig.pass(secs(10));
    rig.fail("a", Outcome::Limited);
    rig.now -= secs(8);
    assert_eq!(rig.retry_in("a"), secs(1));
    rig.now += secs(9);
    assert_eq!(rig.state("a"), State::Probing);
    assert_eq!(rig.elapsed(), secs(11));
}
