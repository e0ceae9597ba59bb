use super::*;
use crate::Reason;

fn rested(tokens: &str) -> Rig {
    let mut rig = Rig::new(tokens);
    rig.fail("a", Outcome::Limited);
    rig.pass(secs(1));
    rig
}

#[test]
fn a_rested_token_is_lent_once() {
    let mut rig = rested("a");
    assert_eq!(rig.status("a").reason, Some(Reason::RateLimited));
    let probe = rig.lend();
    assert!(rig.try_lend().is_none(), "one probe at a time");
    assert_eq!(rig.state("a"), State::Probing);
    rig.drop(&probe);
}

#[test]
fn a_probe_that_succeeds_makes_it_ready_before_its_body_has_ended() {
    let mut rig = rested("a");
    let probe = rig.lend();
    rig.report(&probe, &Report::new(Outcome::Success));
    assert_eq!(rig.state("a"), State::Ready);
    let other = rig.lend();
    assert_eq!(rig.status("a").in_flight, 2);
    rig.drop(&other);
}

#[test]
fn a_token_that_was_limited_comes_back_by_one_lease_more_for_each_success() {
    let mut rig = rested("a");
    let probe = rig.lend();
    let mut out = vec![probe];
    let mut at_once = Vec::new();
    for _ in 0..6 {
        at_once.push(out.len());
        // All succeed, and their bodies end.
        for loan in std::mem::take(&mut out) {
            rig.end(&loan, Outcome::Success);
        }
        out.extend(std::iter::from_fn(|| rig.try_lend()).take(100));
    }
    assert_eq!(at_once, [1, 2, 4, 8, 16, 100]);
}

#[test]
fn bodies_that_still_stream_do_not_hold_a_token_back_that_comes_back() {
    let mut rig = rested("a");
    let streaming: Vec<_> = (0..40)
        .map(|_| {
            let loan = rig.lend();
            rig.report(&loan, &Report::new(Outcome::Success));
            loan
        })
        .collect();
    assert_eq!(rig.status("a").in_flight, 40);
    streaming.iter().for_each(|loan| rig.leave(loan));
}

#[test]
fn a_token_that_was_rejected_or_had_no_quota_left_comes_back_at_once() {
    let mut rig = Rig::new("a");
    rig.fail("a", Outcome::Rejected);
    rig.pass(secs(1));
    let probe = rig.lend();
    rig.end(&probe, Outcome::Success);
    let loan = rig.lend();
    rig.report(&loan, &quota(Outcome::Success, 1));
    rig.pass(secs(1));
    let probe = rig.lend();
    rig.end(&probe, Outcome::Success);
    let out: Vec<_> = (0..50).map(|_| rig.lend()).collect();
    out.iter().for_each(|loan| rig.drop(loan));
}

#[test]
fn a_probe_that_fails_counts_one_more() {
    let mut rig = rested("a");
    rig.fail("a", Outcome::Limited);
    assert_eq!((rig.status("a").failures, rig.retry_in("a")), (2, secs(2)));
}

#[test]
fn anything_else_gives_the_probe_back() {
    let mut rig = rested("a");
    for _ in 0..3 {
        let probe = rig.lend();
        rig.report(&probe, &Report::new(Outcome::Unaffected));
        assert_eq!((rig.state("a"), rig.status("a").failures), (State::Probing, 1));
        let next = rig.lend();
        assert!(rig.try_lend().is_none());
        probe.entry.leave();
        rig.pool.left(&probe, Told::Outcome, rig.now);
        assert!(
            rig.try_lend().is_none(),
            "the end of the first probe's body gives nothing back that the next one holds"
        );
        rig.drop(&next);
    }
}

#[test]
fn a_probe_that_is_not_used_is_as_if_it_never_was() {
    let mut rig = rested("a");
    let requests = rig.status("a").requests;
    let probe = rig.lend();
    rig.pool.take_back(&probe, rig.now);
    let status = rig.status("a");
    assert_eq!((status.requests, status.in_flight, status.state), (requests, 0, State::Probing));
    rig.lend();
}

#[test]
fn an_unavailable_token_returns_by_a_probe_too() {
    let mut rig = Rig::new("a");
    rig.fail("a", Outcome::Rejected);
    rig.pass(secs(1));
    rig.fail("a", Outcome::Rejected);
    assert_eq!(rig.state("a"), State::Unavailable);
    rig.pass(secs(300));
    let probe = rig.lend();
    assert_eq!(rig.state("a"), State::Probing);
    assert!(rig.try_lend().is_none());
    rig.end(&probe, Outcome::Success);
    assert_eq!((rig.state("a"), rig.status("a").failures), (State::Ready, 0));
}

#[test]
fn a_probe_whose_success_says_the_quota_is_empty_rests_without_failures() {
    let mut rig = rested("a");
    let probe = rig.lend();
    rig.report(&probe, &quota(Outcome::Success, 30));
    let status = rig.status("a");
    assert_eq!((status.state, status.failures, status.reason), (State::Cooling, 0, Some(Reason::QuotaEmpty)));
}
