use super::*;
use crate::Limit;
use crate::pool::Forecast;

impl Rig {
    /// Seconds from the start, for so many ahead.
    fn expected(&mut self, ahead: usize) -> Option<u64> {
        match self.pool.forecast(ahead, self.now) {
            Forecast::At(at) => Some((at - self.start).as_secs()),
            Forecast::Unknown | Forecast::Never => None,
        }
    }
}

#[test]
fn a_ready_token_is_expected_now() {
    let mut rig = Rig::new("a");
    rig.pass(secs(3));
    assert_eq!(rig.expected(0), Some(3));
}

#[test]
fn the_first_rest_to_end_serves_everybody_once_its_probe_is_through() {
    let mut rig = Rig::new("a b");
    for (name, seconds) in [("a", 20), ("b", 10)] {
        let loan = rig.lend_this(name);
        rig.report(&loan, &told(Outcome::Limited, seconds));
        rig.drop(&loan);
    }
    assert_eq!((rig.expected(0), rig.expected(50)), (Some(10), Some(10)));
    rig.pass(secs(10));
    let probe = rig.lend();
    assert_eq!(rig.pool.forecast(0, rig.now), Forecast::Unknown, "the probe may be through at any moment");
    rig.drop(&probe);
}

#[test]
fn a_limit_serves_one_for_each_lend_that_leaves_its_window() {
    let mut rig =
        Rig::with("a b", PoolParams { limit: Some(Limit::window(2, secs(100))), ..PoolParams::default() });
    for _ in 0..4 {
        rig.lends(1);
        rig.pass(secs(10));
    }
    // a was lent at 0 and 20 s, b at 10 and 30 s.
    let expected: Vec<_> = (0..9).map(|ahead| rig.expected(ahead).unwrap()).collect();
    assert_eq!(expected, [100, 110, 120, 130, 200, 210, 220, 230, 300]);
}

#[test]
fn a_limited_token_that_rests_serves_what_its_limit_leaves() {
    let mut rig =
        Rig::with("a", PoolParams { limit: Some(Limit::window(3, secs(100))), ..PoolParams::default() });
    let loan = rig.lend();
    rig.report(&loan, &told(Outcome::Limited, 50));
    rig.drop(&loan);
    let expected: Vec<_> = (0..3).map(|ahead| rig.expected(ahead).unwrap()).collect();
    assert_eq!(expected, [50, 50, 100]);
}

#[test]
fn nobody_knows_when_a_lease_ends() {
    let mut rig = Rig::with("a b", PoolParams { max_concurrency: 1, ..PoolParams::default() });
    rig.fail("a", Outcome::Limited);
    let held = rig.lend();
    assert_eq!(rig.pool.forecast(0, rig.now), Forecast::Unknown);
    rig.pool.disable(id("b"), rig.now).unwrap();
    assert_eq!(rig.expected(0), Some(1));
    rig.drop(&held);
}

#[test]
fn without_tokens_none_is_expected() {
    let mut rig = Rig::new("a");
    rig.pool.disable(id("a"), rig.now).unwrap();
    assert_eq!(rig.pool.forecast(0, rig.now), Forecast::Never);
    assert_eq!(Rig::new("").pool.forecast(0, rig.now), Forecast::Never);
}

#[test]
fn those_ahead_are_reckoned_with_as_long_as_leases_last_of_late() {
    let mut rig = Rig::with("a b", PoolParams { max_concurrency: 2, ..PoolParams::default() });
    let loans: Vec<_> = (0..4).map(|_| rig.lend()).collect();
    assert_eq!(rig.expected(8), None, "none has ended yet");
    rig.pass(secs(3));
    rig.drop(&loans[0]);
    let _again = rig.lend();
    // Four places: each of the eight ahead takes 3 s of one of them.
    assert_eq!((rig.expected(8), rig.expected(4)), (Some(3 + 6), Some(3 + 3)));
    assert_eq!(rig.expected(0), None, "one that runs may end at any moment");
}
