use super::*;
use crate::Reason;

fn limited() -> Report {
    Report::new(Outcome::Limited)
}

#[test]
fn three_tokens_refused_within_a_second_are_one_limit_on_the_address() {
    let rows: [(&str, usize, u64, Outcome, bool); 8] = [
        ("a b c d e", 3, 0, Outcome::Limited, true),
        ("a b c d e", 3, 400, Outcome::Limited, true),
        ("a b c d e", 3, 600, Outcome::Limited, false),
        ("a b c d e", 2, 0, Outcome::Limited, false),
        ("a b", 2, 0, Outcome::Limited, true),
        ("a b c", 3, 0, Outcome::Rejected, true),
        ("a", 1, 0, Outcome::Limited, false),
        ("a b c", 2, 0, Outcome::Rejected, false),
    ];
    for (tokens, refused, apart, outcome, blamed) in rows {
        let mut rig = Rig::new(tokens);
        let loans: Vec<_> = (0..refused).map(|_| rig.lend()).collect();
        for loan in &loans {
            rig.end(loan, outcome);
            rig.pass(Duration::from_millis(apart));
        }
        let row = format!("{refused} of {tokens:?} {outcome:?} {apart} ms apart");
        assert_eq!(rig.pool.whole_rest(rig.pool.latest).is_some(), blamed, "{row}");
    }
}

#[test]
fn different_faults_blame_nobody() {
    let mut rig = Rig::new("a b c");
    for (name, outcome) in [("a", Outcome::Limited), ("b", Outcome::Rejected), ("c", Outcome::Limited)] {
        rig.fail(name, outcome);
    }
    assert_eq!(rig.pool.whole_rest(rig.pool.latest), None);
}

#[test]
fn a_token_refused_again_and_again_is_one_token() {
    let mut rig = Rig::with("a b c", PoolParams::default());
    rig.fail("a", Outcome::Limited);
    for _ in 0..5 {
        rig.pool.reset(id("a"), rig.now).unwrap();
        rig.fail("a", Outcome::Limited);
    }
    assert_eq!(rig.pool.whole_rest(rig.pool.latest), None);
}

#[test]
fn the_whole_pool_takes_one_rest_and_sends_one_probe() {
    let mut rig = Rig::new("a b c d e");
    rig.fail_together(3, &limited());
    for name in ["a", "d"] {
        let status = rig.status(name);
        assert_eq!((status.state, status.retry_in), (State::Cooling, secs(1)), "{name}");
        assert_eq!(status.reason, Some(Reason::RateLimited), "{name}");
    }
    assert!(rig.try_lend().is_none(), "d and e are ready, but not from this address");
    for expected in [2, 4, 8] {
        rig.pass(secs(expected / 2));
        let probe = rig.lend();
        assert!(rig.try_lend().is_none(), "one probe");
        rig.end(&probe, Outcome::Limited);
        assert_eq!(rig.status("e").retry_in, secs(expected));
    }
}

#[test]
fn a_success_of_the_probe_ends_it_for_all_who_were_refused_with_it() {
    let mut rig = Rig::new("a b c d e");
    rig.fail_together(3, &limited());
    rig.pass(secs(1));
    let probe = rig.lend();
    rig.end(&probe, Outcome::Success);
    for name in ["a", "b", "c", "d", "e"] {
        let status = rig.status(name);
        assert_eq!(status.state, State::Ready, "{name}");
    }
}

#[test]
fn tokens_that_were_rejected_prove_themselves_one_by_one() {
    let mut rig = Rig::new("a b c d e");
    rig.fail_together(3, &Report::new(Outcome::Rejected));
    rig.pass(secs(1));
    let probe = rig.lend();
    rig.end(&probe, Outcome::Success);
    let probing = rig.pool.state_counts(rig.now).probing;
    assert!(probing >= 2, "a good token says nothing of those that were refused: {probing}");
}

#[test]
fn a_success_that_began_meanwhile_acquits_the_address_for_a_while() {
    let mut rig = Rig::new("a b c d e f g h i");
    let before = rig.lend();
    let loans: Vec<_> = (0..3).map(|_| rig.lend()).collect();
    rig.pass(secs(1));
    rig.end(&loans[0], Outcome::Limited);
    let meanwhile = rig.lend();
    rig.end(&loans[1], Outcome::Limited);
    rig.end(&loans[2], Outcome::Limited);
    assert!(rig.try_lend().is_none());
    rig.end(&before, Outcome::Success);
    assert!(rig.try_lend().is_none(), "what was sent before the limit struck proves nothing");
    rig.end(&meanwhile, Outcome::Success);
    assert_eq!(rig.state("h"), State::Ready);
    assert_eq!(rig.state("b"), State::Cooling, "by its own refusal");
    rig.fail_together(3, &limited());
    assert!(rig.try_lend().is_some(), "not blamed again so soon");
}

#[test]
fn a_success_between_the_refusals_keeps_the_address_out_of_it() {
    let mut rig = Rig::new("a b c d e");
    rig.fail_together(2, &limited());
    let loan = rig.lend();
    rig.end(&loan, Outcome::Success);
    rig.fail("d", Outcome::Limited);
    assert!(rig.try_lend().is_some());
}

#[test]
fn a_probe_that_tells_nothing_is_anothers_to_make() {
    let mut rig = Rig::new("a b c d e");
    rig.fail_together(3, &limited());
    rig.pass(secs(1));
    for way in 0..3 {
        let probe = rig.lend();
        assert!(rig.try_lend().is_none());
        match way {
            0 => rig.drop(&probe),
            1 => rig.end(&probe, Outcome::Unaffected),
            _ => rig.pool.take_back(&probe, rig.now),
        }
    }
    assert!(rig.try_lend().is_some());
}

#[test]
fn a_rest_that_all_were_told_is_kept_and_the_least_of_several() {
    let mut rig = Rig::new("a b c d");
    let loans: Vec<_> = (0..3).map(|_| rig.lend()).collect();
    for (loan, seconds) in loans.iter().zip([30, 20, 40]) {
        rig.report(loan, &told(Outcome::Limited, seconds));
        rig.leave(loan);
    }
    assert_eq!(rig.retry_in("d"), secs(20));
    assert_eq!(rig.retry_in("c"), secs(40), "its own");
}

#[test]
fn an_operators_reset_ends_it() {
    for all in [true, false] {
        let mut rig = Rig::new("a b c d");
        rig.fail_together(3, &limited());
        if all {
            rig.pool.reset_all(rig.now);
        } else {
            rig.pool.reset(id("b"), rig.now).unwrap();
        }
        assert!(rig.try_lend().is_some());
    }
}
