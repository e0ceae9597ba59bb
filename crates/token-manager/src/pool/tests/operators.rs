use super::*;
use crate::{Reason, StateCounts};

#[test]
fn a_reset_ends_any_rest_and_forgets_the_failures() {
    for failures in [0, 1, 3, 7] {
        for probing in [false, true] {
            let mut rig = Rig::new("a");
            for _ in 0..failures {
                let rest = rig.retry_in("a");
                rig.pass(rest);
                rig.fail("a", Outcome::Limited);
            }
            if probing {
                let rest = rig.retry_in("a");
                rig.pass(rest);
            }
            rig.pool.reset(id("a"), rig.now).unwrap();
            let status = rig.status("a");
            assert_eq!(
                (status.state, status.failures, status.reason),
                (State::Ready, 0, None),
                "after {failures}, {probing}"
            );
            assert_eq!(rig.lends(2), "a a");
        }
    }
}

#[test]
fn results_of_before_a_reset_do_not_undo_it() {
    let mut rig = Rig::new("a");
    let (first, second) = (rig.lend(), rig.lend());
    rig.report(&first, &told(Outcome::Limited, 500_000));
    rig.pool.reset(id("a"), rig.now).unwrap();
    rig.report(&second, &told(Outcome::Limited, 500_000));
    assert_eq!((rig.state("a"), rig.status("a").failures), (State::Ready, 0));
}

#[test]
fn a_reset_of_all_leaves_the_barred_ones_barred() {
    let mut rig = Rig::new("a b c");
    rig.fail("a", Outcome::Limited);
    rig.fail("b", Outcome::Rejected);
    rig.pool.disable(id("b"), rig.now).unwrap();
    rig.pool.reset_all(rig.now);
    let states = ["a", "b", "c"].map(|name| rig.state(name));
    assert_eq!(states, [State::Ready, State::Disabled, State::Ready]);
    rig.pool.enable(id("b"), rig.now).unwrap();
    assert_eq!(
        (rig.state("b"), rig.status("b").failures),
        (State::Ready, 0),
        "its rest was forgotten beneath"
    );
}

#[test]
fn a_disabled_token_is_not_lent_until_it_is_enabled() {
    let mut rig = Rig::new("a b");
    rig.pool.disable(id("a"), rig.now).unwrap();
    rig.pool.disable(id("a"), rig.now).unwrap();
    let status = rig.status("a");
    assert_eq!(
        (status.state, status.reason, status.cooldowns[3]),
        (State::Disabled, Some(Reason::Operator), 1)
    );
    assert_eq!(rig.lends(3), "b b b");
    rig.pool.disable(id("b"), rig.now).unwrap();
    assert!(rig.try_lend().is_none());
    rig.pool.enable(id("a"), rig.now).unwrap();
    assert_eq!(rig.lends(2), "a a");
    assert_eq!(rig.status("a").reason, None);
}

#[test]
fn a_rest_goes_on_beneath_a_disable() {
    for (later, state, left) in [(40, State::Cooling, 60), (100, State::Probing, 0)] {
        let mut rig = Rig::new("a");
        let loan = rig.lend();
        rig.report(&loan, &told(Outcome::Limited, 100));
        rig.pool.disable(id("a"), rig.now).unwrap();
        let status = rig.status("a");
        assert_eq!(
            (status.until, status.retry_in),
            (None, Duration::ZERO),
            "nobody waits for a barred token"
        );
        rig.pass(secs(later));
        rig.pool.enable(id("a"), rig.now).unwrap();
        assert_eq!(
            (rig.state("a"), rig.retry_in("a"), rig.status("a").failures),
            (state, secs(left), 1),
            "{later} s later"
        );
    }
}

#[test]
fn results_of_before_a_disable_count_neither_way() {
    for outcome in [Outcome::Success, Outcome::Limited, Outcome::Rejected, Outcome::Unaffected] {
        let mut rig = Rig::new("a");
        rig.fail("a", Outcome::Limited);
        rig.pass(secs(1));
        let probe = rig.lend();
        rig.pool.disable(id("a"), rig.now).unwrap();
        rig.end(&probe, outcome);
        rig.pool.enable(id("a"), rig.now).unwrap();
        assert_eq!((rig.state("a"), rig.status("a").failures), (State::Probing, 1), "{outcome:?}");
        rig.lend();
        assert!(rig.try_lend().is_none(), "one probe");
    }
}

#[test]
fn an_unknown_token_is_told() {
    let mut rig = Rig::new("a");
    let stranger = id("stranger");
    assert_eq!(rig.pool.reset(stranger, rig.now).unwrap_err().id, stranger);
    assert_eq!(rig.pool.disable(stranger, rig.now).unwrap_err().id, stranger);
    assert_eq!(rig.pool.enable(stranger, rig.now).unwrap_err().id, stranger);
}

#[test]
fn states_are_counted_as_they_are_now() {
    let mut rig = Rig::new("a b c d e");
    rig.fail("a", Outcome::Limited);
    rig.pass(secs(1));
    rig.fail("b", Outcome::Limited);
    rig.pool.disable(id("d"), rig.now).unwrap();
    for _ in 0..2 {
        rig.fail("c", Outcome::Rejected);
        if rig.retry_in("c") == secs(1) {
            rig.now += secs(1);
            rig.fail("b", Outcome::Limited);
        }
    }
    let counts = rig.pool.state_counts(rig.now);
    assert_eq!(counts, StateCounts { ready: 1, cooling: 1, probing: 1, unavailable: 1, disabled: 1 });
    assert_eq!(counts.total(), 5);
    for state in State::ALL {
        assert_eq!(counts.get(state), 1, "{state}");
    }
}
