use super::*;
use crate::Strategy;

fn by(strategy: Strategy) -> PoolParams {
    PoolParams { strategy, ..PoolParams::default() }
}

fn shares(lends: &str, names: &[&str]) -> Vec<usize> {
    names.iter().map(|name| lends.split(' ').filter(|lent| lent == name).count()).collect()
}

#[test]
fn round_robin_goes_in_the_settings_order() {
    let mut rig = Rig::new("c a b");
    assert_eq!(rig.lends(7), "c a b c a b c");
}

#[test]
fn round_robin_keeps_weights_exactly() {
    let mut rig = Rig::new("a*3 b");
    for _ in 0..5 {
        assert_eq!(shares(&rig.lends(100), &["a", "b"]), [75, 25]);
    }
}

#[test]
fn random_keeps_weights_about() {
    let mut even = Rig::with("a b c d", by(Strategy::Random));
    for share in shares(&even.lends(8000), &["a", "b", "c", "d"]) {
        assert!((1850..2150).contains(&share), "{share} of 8000 for one of four");
    }
    let mut uneven = Rig::with("a*3 b", by(Strategy::Random));
    let share = shares(&uneven.lends(8000), &["a"])[0];
    assert!((5850..6150).contains(&share), "{share} of 8000 for 3 : 1");
}

#[test]
fn least_recently_used_remembers_tokens_that_rest() {
    let mut rig = Rig::with("a b c", by(Strategy::LeastRecentlyUsed));
    assert_eq!(rig.lends(3), "a b c");
    rig.fail("a", Outcome::Limited);
    assert_eq!(rig.lends(3), "b c b");
    rig.pass(secs(1));
    assert_eq!(rig.lends(4), "a c b a", "a's use is longer ago than c's and b's");
}

#[test]
fn least_loaded_evens_out_what_is_in_flight() {
    let mut rig = Rig::with("a b c d", by(Strategy::LeastLoaded));
    let loans: Vec<_> = (0..400).map(|_| rig.lend()).collect();
    for name in ["a", "b", "c", "d"] {
        let in_flight = rig.status(name).in_flight;
        assert!((95..=105).contains(&in_flight), "{name} has {in_flight} of 400");
    }
    loans.iter().for_each(|loan| rig.drop(loan));
    let mut uneven = Rig::with("a*3 b", by(Strategy::LeastLoaded));
    for _ in 0..400 {
        uneven.lend();
    }
    assert_eq!(uneven.status("a").in_flight, 300);
}

#[test]
fn tried_tokens_come_last() {
    for strategy in Strategy::ALL {
        for tokens in ["a b c", "a*3 b*2 c"] {
            let mut rig = Rig::with(tokens, by(strategy));
            let tried = [id("a"), id("nobody"), id("b"), id("a")];
            for _ in 0..20 {
                let loan = rig.pool.lend_any(&tried, rig.random.u64(..), rig.now).unwrap();
                assert_eq!(name(&loan), "c", "{strategy} of {tokens}");
                rig.drop(&loan);
            }
            assert!(rig.pool.has_ready(&tried, rig.now));
            rig.fail("c", Outcome::Limited);
            assert!(!rig.pool.has_ready(&tried, rig.now));
            assert!(rig.pool.lend_untried(&tried, 0, rig.now).is_none());
            assert_ne!(
                name(&rig.pool.lend_any(&tried, 0, rig.now).unwrap()),
                "c",
                "one that was tried, being ready"
            );
        }
    }
}

#[test]
fn no_tokens_lend_nothing() {
    for strategy in Strategy::ALL {
        let mut rig = Rig::with("", by(strategy));
        assert!(rig.try_lend().is_none(), "{strategy}");
        assert!(!rig.pool.has_ready(&[], rig.now));
    }
}

#[test]
fn another_strategy_holds_at_once() {
    let mut rig = Rig::new("a b c");
    rig.lends(1);
    rig.pass(secs(1));
    rig.pool.set_params(by(Strategy::LeastRecentlyUsed), rig.now);
    assert_eq!(rig.lends(4), "b c a b");
    rig.pool.set_params(by(Strategy::RoundRobin), rig.now);
    assert_eq!(rig.lends(3), "a b c");
}
