use super::*;
use crate::{Limit, Strategy};

impl Rig {
    fn reload(&mut self, tokens: &str) {
        self.pool.reload(specs(tokens), self.now);
    }

    fn names(&mut self) -> Vec<TokenId> {
        self.pool.snapshot(self.now).into_iter().map(|status| status.id).collect()
    }
}

#[test]
fn tokens_that_stay_keep_their_state_in_the_new_order() {
    for strategy in Strategy::ALL {
        let mut rig = Rig::with("a b c", PoolParams { strategy, ..PoolParams::default() });
        let loan = rig.lend_this("a");
        rig.report(&loan, &told(Outcome::Limited, 100));
        rig.pool.disable(id("b"), rig.now).unwrap();
        rig.reload("d b a");
        assert_eq!(rig.names(), [id("d"), id("b"), id("a")]);
        assert_eq!(
            ["d", "b", "a"].map(|name| rig.state(name)),
            [State::Ready, State::Disabled, State::Cooling]
        );
        assert_eq!((rig.retry_in("a"), rig.status("a").in_flight), (secs(100), 1));
        rig.leave(&loan);
        assert_eq!(rig.status("a").in_flight, 0, "{strategy}: a lease finds its token where it is now");
        assert_eq!(rig.lends(2), "d d");
    }
}

#[test]
fn a_lease_of_before_counts_after() {
    let mut rig = Rig::new("a b");
    let loan = rig.lend_this("b");
    rig.reload("b a");
    rig.end(&loan, Outcome::Limited);
    assert_eq!((rig.state("b"), rig.state("a")), (State::Cooling, State::Ready));
}

#[test]
fn a_token_that_goes_gets_no_new_request_and_its_leases_end_well() {
    let mut rig = Rig::new("a b");
    let loan = rig.lend_this("a");
    rig.reload("b");
    assert_eq!(rig.lends(3), "b b b");
    rig.report(&loan, &Report::new(Outcome::Limited));
    rig.pool.charge(id("a"), generation(&loan), 403, rig.now);
    assert!(rig.pool.reset(id("a"), rig.now).is_err());
    rig.leave(&loan);
    assert!(rig.pool.retired.is_empty(), "nothing is kept of it");
    rig.reload("a b");
    assert_eq!((rig.state("a"), rig.status("a").requests), (State::Ready, 0), "a new token");
}

#[test]
fn a_token_that_comes_back_while_its_leases_are_out_is_the_same() {
    let mut rig = Rig::with("a", PoolParams { max_concurrency: 1, ..PoolParams::default() });
    let loan = rig.lend();
    rig.reload("b");
    rig.reload("a");
    assert!(rig.try_lend().is_none(), "its one lease is still out");
    rig.drop(&loan);
    rig.lend();
}

#[test]
fn an_old_lease_is_not_taken_for_a_new_tokens() {
    let mut rig = Rig::new("a");
    let loan = rig.lend();
    let stamp = generation(&loan);
    rig.drop(&loan);
    rig.reload("");
    rig.reload("a");
    rig.pool.charge(id("a"), stamp, 403, rig.now);
    assert_eq!(rig.state("a"), State::Ready);
}

#[test]
fn of_two_with_one_value_the_first_counts() {
    let mut rig = Rig::new("a*2 b a*5");
    assert_eq!(rig.names(), [id("a"), id("b")]);
    assert_eq!(rig.lends(6).matches('a').count(), 4);
}

#[test]
fn round_robin_goes_on_where_it_was() {
    let mut rig = Rig::new("a b c d");
    assert_eq!(rig.lends(2), "a b");
    rig.reload("x c y a");
    assert_eq!(rig.lends(4), "c y a x");
}

#[test]
fn names_weights_and_limits_follow_at_once() {
    let limit = Some(Limit::window(3, secs(60)));
    let mut rig = Rig::with("a b", PoolParams { limit, ..PoolParams::default() });
    rig.lends(4);
    let mut renamed = specs("a*2 b");
    renamed[0].1.name = Some("first".into());
    rig.pool.reload(renamed, rig.now);
    assert_eq!(rig.status("a").name.as_deref(), Some("first"));
    assert_eq!(rig.lends(2), "a b", "each has one lend left in its window");
    assert!(rig.try_lend().is_none());
}
