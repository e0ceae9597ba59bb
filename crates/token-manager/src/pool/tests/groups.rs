use super::*;
use crate::Reason;

fn states(rig: &mut Rig) -> Vec<State> {
    rig.pool.snapshot(rig.now).iter().map(|status| status.state).collect()
}

use State::{Cooling, Ready};

#[test]
fn a_limit_of_one_rests_its_group_and_nobody_else() {
    let mut rig = Rig::new("org:a org:b lab:c d");
    rig.fail("b", Outcome::Limited);
    assert_eq!(states(&mut rig), [Cooling, Cooling, Ready, Ready]);
    assert_eq!(rig.status("a").reason, Some(Reason::RateLimited));
    assert_eq!(rig.lends(4), "c d c d");
}

#[test]
fn a_rejection_is_the_tokens_own() {
    let mut rig = Rig::new("org:a org:b c d");
    rig.fail("b", Outcome::Rejected);
    assert_eq!(states(&mut rig), [Ready, Cooling, Ready, Ready]);
}

#[test]
fn a_group_sends_one_probe_and_its_success_is_for_all() {
    let mut rig = Rig::new("org:a org:b org:c");
    rig.fail("b", Outcome::Limited);
    assert!(rig.try_lend().is_none());
    rig.pass(secs(1));
    let probe = rig.lend();
    assert!(rig.try_lend().is_none(), "one probe for the group");
    rig.end(&probe, Outcome::Limited);
    assert_eq!(states(&mut rig), [Cooling; 3]);
    assert_eq!(rig.retry_in("a"), secs(2));
    rig.pass(secs(2));
    let probe = rig.lend();
    rig.end(&probe, Outcome::Success);
    assert_eq!(states(&mut rig), [Ready; 3]);
    assert_eq!(rig.lends(3).split(' ').count(), 3);
}

#[test]
fn a_burst_of_a_group_counts_once() {
    let mut rig = Rig::new("org:a org:b org:c org:d org:e x");
    rig.fail_together(5, &Report::new(Outcome::Limited));
    assert_eq!(rig.retry_in("e"), secs(1));
}

#[test]
fn a_quota_told_as_empty_is_the_groups() {
    let mut rig = Rig::new("org:a org:b c");
    let loan = rig.lend_this("a");
    rig.report(&loan, &quota(Outcome::Success, 30));
    rig.leave(&loan);
    assert_eq!(rig.retry_in("b"), secs(30));
    assert_eq!(rig.state("c"), Ready);
}

#[test]
fn a_probe_that_is_lost_in_any_way_is_anothers_to_make() {
    for way in 0..4 {
        let mut rig = Rig::new("org:a org:b");
        rig.fail("a", Outcome::Limited);
        rig.pass(secs(1));
        let probe = rig.lend();
        assert!(rig.try_lend().is_none());
        match way {
            0 => rig.drop(&probe),
            1 => rig.end(&probe, Outcome::Unaffected),
            2 => rig.pool.take_back(&probe, rig.now),
            _ => {
                let left = if probe.entry.id() == id("a") { "org:b" } else { "org:a" };
                rig.pool.reload(specs(left), rig.now);
                rig.drop(&probe);
            }
        }
        assert!(rig.try_lend().is_some(), "way {way}");
    }
}

#[test]
fn an_operators_reset_of_one_ends_the_groups_rest() {
    let mut rig = Rig::new("org:a org:b");
    rig.fail("a", Outcome::Limited);
    rig.pool.reset(id("b"), rig.now).unwrap();
    assert_eq!(rig.lends(1), "b", "a still rests by its own refusal");
    assert_eq!(rig.state("a"), Cooling);
}

#[test]
fn a_token_that_joins_a_group_rests_with_it() {
    let mut rig = Rig::new("org:a b c");
    rig.fail("a", Outcome::Limited);
    rig.pool.reload(specs("org:a org:b c"), rig.now);
    assert_eq!(states(&mut rig), [Cooling, Cooling, Ready]);
    rig.pool.reload(specs("a b c"), rig.now);
    assert_eq!(states(&mut rig), [Cooling, Ready, Ready]);
}

#[test]
fn three_refusals_in_one_group_do_not_blame_the_address() {
    let mut rig = Rig::new("org:a org:b org:c d e");
    rig.fail_together(3, &Report::new(Outcome::Limited));
    assert_eq!(states(&mut rig), [Cooling, Cooling, Cooling, Ready, Ready]);
}
