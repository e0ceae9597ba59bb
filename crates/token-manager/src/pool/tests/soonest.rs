use super::*;
use crate::{Limit, WhenExhausted};

fn soonest() -> PoolParams {
    PoolParams { when_exhausted: WhenExhausted::Soonest, ..PoolParams::default() }
}

fn resting(params: PoolParams) -> Rig {
    let mut rig = Rig::with("a b", params);
    for (name, seconds) in [("a", 20), ("b", 10)] {
        let loan = rig.lend_this(name);
        rig.report(&loan, &told(Outcome::Limited, seconds));
        rig.leave(&loan);
    }
    rig
}

#[test]
fn the_token_that_is_free_soonest_is_lent_though_it_rests() {
    let mut rig = resting(soonest());
    let (early, another) = (rig.lend(), rig.lend());
    assert_eq!((name(&early), name(&another)), ("b".into(), "b".into()));
    rig.end(&early, Outcome::Success);
    assert_eq!((rig.state("b"), rig.status("b").failures), (State::Ready, 0), "its success counts");
    assert_eq!(rig.lends(2), "b b");
}

#[test]
fn an_early_failure_counts_and_never_shortens_the_rest() {
    let mut rig = resting(soonest());
    let (early, another) = (rig.lend(), rig.lend());
    rig.end(&early, Outcome::Limited);
    rig.end(&another, Outcome::Limited);
    assert_eq!((rig.status("b").failures, rig.retry_in("b")), (2, secs(10)));
}

#[test]
fn a_ready_token_goes_before() {
    let mut rig = resting(soonest());
    rig.pass(secs(10));
    let probe = rig.lend();
    assert_eq!(name(&probe), "b");
    assert_eq!(name(&rig.lend()), "a", "b's probe is out, a rests");
}

#[test]
fn tried_and_barred_tokens_are_not_lent_early() {
    let mut rig = resting(soonest());
    assert_eq!(name(&rig.pool.lend_any(&[id("b")], 0, rig.now).unwrap()), "a");
    assert!(rig.pool.lend_any(&[id("a"), id("b")], 0, rig.now).is_none());
    rig.pool.disable(id("b"), rig.now).unwrap();
    assert_eq!(name(&rig.lend()), "a");
    rig.pool.disable(id("a"), rig.now).unwrap();
    assert!(rig.try_lend().is_none());
}

#[test]
fn limits_hold_for_early_lends() {
    let mut rig = resting(PoolParams { max_concurrency: 1, ..soonest() });
    assert_eq!((name(&rig.lend()), name(&rig.lend())), ("b".into(), "a".into()));
    assert!(rig.try_lend().is_none());
    let mut rig = Rig::with("a b", PoolParams { limit: Some(Limit::window(2, secs(60))), ..soonest() });
    rig.fail("a", Outcome::Limited);
    assert_eq!(rig.lends(2), "b b");
    assert_eq!(rig.lends(1), "a");
    assert!(rig.try_lend().is_none(), "no token has a lend left");
}
