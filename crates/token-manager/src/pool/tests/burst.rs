use super::*;

#[test]
fn one_burst_counts_once() {
    let mut rig = Rig::new("a");
    let burst: Vec<_> = (0..10).map(|_| rig.lend()).collect();
    burst.iter().for_each(|loan| rig.end(loan, Outcome::Limited));
    let status = rig.status("a");
    assert_eq!((status.failures, status.retry_in, status.rate_limited), (1, secs(1), 10));
    assert_eq!(status.cooldowns, [1, 0, 0, 0]);
}

#[test]
fn an_old_success_does_not_end_a_rest() {
    let mut rig = Rig::new("a");
    let (first, second) = (rig.lend(), rig.lend());
    rig.end(&first, Outcome::Limited);
    rig.end(&second, Outcome::Success);
    assert_eq!((rig.state("a"), rig.status("a").failures), (State::Cooling, 1));
    rig.pass(secs(1));
    assert_eq!(rig.state("a"), State::Probing);
}

#[test]
fn an_old_success_does_not_stand_for_the_probe() {
    let mut rig = Rig::new("a");
    let (first, second) = (rig.lend(), rig.lend());
    rig.end(&first, Outcome::Limited);
    rig.pass(secs(1));
    let probe = rig.lend();
    rig.end(&second, Outcome::Success);
    assert_eq!(rig.state("a"), State::Probing);
    rig.end(&probe, Outcome::Limited);
    assert_eq!(rig.status("a").failures, 2);
}

#[test]
fn an_old_failure_after_the_probe_changes_nothing() {
    let mut rig = Rig::new("a");
    let (first, second) = (rig.lend(), rig.lend());
    rig.end(&first, Outcome::Limited);
    rig.pass(secs(1));
    rig.fail("a", Outcome::Success);
    rig.report(&second, &told(Outcome::Limited, 100));
    assert_eq!((rig.state("a"), rig.status("a").failures), (State::Ready, 0));
}

#[test]
fn an_old_result_only_extends_the_rest() {
    for (report, seconds) in [
        (told(Outcome::Limited, 10), 10),
        (told(Outcome::Rejected, 10), 10),
        (quota(Outcome::Success, 10), 10),
        (told(Outcome::Success, 10), 1),
        (told(Outcome::Limited, 0), 1),
        (Report::new(Outcome::Rejected), 1),
    ] {
        let mut rig = Rig::new("a");
        let (first, second) = (rig.lend(), rig.lend());
        rig.end(&first, Outcome::Limited);
        rig.report(&second, &report);
        let status = rig.status("a");
        assert_eq!(
            (status.retry_in, status.failures, status.state),
            (secs(seconds), 1, State::Cooling),
            "{report:?}"
        );
    }
}

#[test]
fn an_extended_rest_is_not_ended_by_the_probe_that_was_out() {
    let mut rig = Rig::new("a");
    let (first, second) = (rig.lend(), rig.lend());
    rig.end(&first, Outcome::Limited);
    rig.pass(secs(1));
    let probe = rig.lend();
    rig.report(&second, &told(Outcome::Limited, 50));
    assert_eq!((rig.state("a"), rig.retry_in("a")), (State::Cooling, secs(50)));
    rig.end(&probe, Outcome::Success);
    assert_eq!(rig.state("a"), State::Cooling, "the upstream's word is newer than the probe");
    rig.pass(secs(50));
    rig.fail("a", Outcome::Success);
    assert_eq!(rig.state("a"), State::Ready);
}

#[test]
fn a_charge_is_a_failure_of_its_leases_generation() {
    let mut rig = Rig::new("a");
    let (first, second) = (rig.lend(), rig.lend());
    rig.end(&first, Outcome::Unaffected);
    rig.end(&second, Outcome::Unaffected);
    rig.pool.charge(id("a"), generation(&first), 403, rig.now);
    let status = rig.status("a");
    assert_eq!((status.state, status.failures, status.last_status), (State::Cooling, 1, Some(403)));
    rig.pool.charge(id("a"), generation(&second), 403, rig.now);
    assert_eq!(rig.status("a").failures, 1, "one burst counts once");
    rig.pass(secs(1));
    rig.pool.charge(id("a"), generation(&second), 403, rig.now);
    assert_eq!(rig.state("a"), State::Probing);
    rig.pool.charge(id("nobody"), generation(&second), 403, rig.now);
}

#[test]
fn a_dropped_lease_is_nobodys_fault() {
    let mut rig = Rig::new("a");
    let loan = rig.lend();
    rig.drop(&loan);
    let status = rig.status("a");
    assert_eq!((status.state, status.failures, status.in_flight, status.requests), (State::Ready, 0, 0, 1));
}
