//! A caller with one token against naive limits, all in virtual time.

use core::time::Duration;

use super::world::{Caller, Demand, Limit, SECOND};
use crate::pace::Pace;

const MINUTE: Duration = Duration::from_secs(60);

fn bucket(burst: u32) -> Limit {
    Limit::Bucket { interval: SECOND, burst }
}

fn sliding() -> Limit {
    Limit::Sliding { count: 60, per: MINUTE }
}

fn block() -> Limit {
    Limit::Block { count: 60, per: MINUTE, block: MINUTE }
}

impl Caller {
    pub(super) fn pace(&self) -> &Pace {
        self.pace.as_ref().expect("it was refused")
    }
}

#[test]
fn nearly_all_that_is_granted_is_used_and_nearly_nothing_is_refused() {
    let limits = [bucket(1), bucket(5), bucket(30), sliding(), block()];
    let demands = [
        Demand::Endless,
        Demand::Chance(SECOND * 2 / 3),
        Demand::Chance(SECOND),
        Demand::Chance(SECOND * 5 / 4),
    ];
    for limit in limits {
        for demand in demands {
            let mut caller = Caller::new(limit.clone(), demand);
            caller.run(60 * MINUTE);
            let tally = caller.run(120 * MINUTE);
            let could = if let Demand::Endless = demand { 7200 } else { tally.asked.min(7200) };
            let row = super::std::format!("{limit:?}, {demand:?}: {tally:?} of {could}, {:?}", caller.pace);
            assert!(tally.granted * 10 >= could * 9, "{row}");
            assert!(tally.refused * 100 <= (tally.granted + tally.refused) * 3, "{row}");
        }
    }
}

#[test]
fn where_nothing_is_refused_nothing_is_paced() {
    for demand in [Demand::Chance(SECOND / 100), Demand::Pages(200, 10 * SECOND)] {
        let mut caller = Caller::new(Limit::None, demand);
        let tally = caller.run(10 * MINUTE);
        assert_eq!(caller.pace, None);
        assert_eq!((tally.refused, tally.granted), (0, tally.asked), "{demand:?}");
    }
}

#[test]
fn what_a_bucket_saves_up_may_be_used_and_that_another_saves_nothing_is_learned() {
    for (burst, served) in [(30, 95), (1, 60)] {
        let mut caller = Caller::new(bucket(burst), Demand::Endless);
        caller.run(60 * MINUTE);
        assert_eq!(caller.pace().meter.credit, 0, "burst {burst}: none is ever left");
        caller.ask_for(Demand::Pages(25, 40 * SECOND));
        let tally = caller.run(240 * MINUTE);
        assert!(tally.granted * 100 >= tally.asked * served, "burst {burst}: {tally:?}, {:?}", caller.pace());
        assert!(tally.refused * 100 <= tally.granted * 3, "burst {burst}: {tally:?}");
    }
}

#[test]
fn who_comes_in_bursts_keeps_them_where_a_refusal_is_dear() {
    let mut caller = Caller::new(block(), Demand::Endless);
    caller.run(180 * MINUTE);
    assert_eq!(caller.pace().share, Pace::WHOLE, "all is wanted");
    assert!(caller.pace().is_dear());
    caller.ask_for(Demand::Pages(20, 60 * SECOND));
    let tally = caller.run(180 * MINUTE);
    let pace = caller.pace();
    assert!(pace.share < Pace::WHOLE && pace.meter.credit >= 10, "{pace:?}");
    assert_eq!(tally.refused, 0, "{pace:?}");
}

#[test]
fn a_limit_that_changes_is_followed() {
    let bucket = |interval| Limit::Bucket { interval, burst: 5 };
    for (interval, warm_up) in [(SECOND * 4, 60), (SECOND * 2 / 3, 60), (SECOND / 3, 60)] {
        let mut caller = Caller::new(bucket(SECOND), Demand::Endless);
        caller.run(60 * MINUTE);
        caller.change(bucket(interval));
        caller.run(warm_up * MINUTE);
        let tally = caller.run(60 * MINUTE);
        let could = (60 * MINUTE).as_secs_f64() / interval.as_secs_f64();
        assert!(f64::from(tally.granted) >= could * 0.9, "{interval:?}: {tally:?} of {could}");
        assert!(tally.refused * 100 <= tally.granted * 3, "{interval:?}: {tally:?}");
    }
}

#[test]
fn a_limit_that_was_cut_for_a_while_is_found_again() {
    let bucket = |interval| Limit::Bucket { interval, burst: 30 };
    let mut caller = Caller::new(bucket(SECOND), Demand::Chance(SECOND * 10 / 9));
    caller.run(60 * MINUTE);
    caller.change(bucket(SECOND * 10));
    caller.run(10 * MINUTE);
    caller.change(bucket(SECOND));
    caller.run(30 * MINUTE);
    let tally = caller.run(30 * MINUTE);
    assert!(tally.granted * 10 >= tally.asked * 9, "{tally:?}, {:?}", caller.pace());
}

#[test]
fn what_is_refused_by_chance_is_hardly_slowed_down() {
    for share in [2, 10] {
        let mut caller = Caller::new(Limit::Chance(share), Demand::Chance(SECOND));
        caller.run(60 * MINUTE);
        let tally = caller.run(240 * MINUTE);
        assert!(tally.granted * 10 >= tally.asked * 9, "{share} of 1000: {tally:?}, {:?}", caller.pace());
    }
}

#[test]
fn a_clock_that_stood_still_costs_at_most_what_was_saved_up_meanwhile() {
    // The computer sleeps for an hour each hour: its own clock does not count that, the upstream's does.
    let mut caller = Caller::new(bucket(30), Demand::Endless);
    caller.run(60 * MINUTE);
    for _ in 0..10 {
        caller.sleep(60 * MINUTE);
        let tally = caller.run(60 * MINUTE);
        assert!(tally.granted >= 3600 * 9 / 10, "{tally:?}, {:?}", caller.pace());
        assert!(tally.refused * 100 <= tally.granted * 3, "{tally:?}");
    }
}

#[test]
fn a_few_long_gaps_among_many_calls_hide_no_limit() {
    // A thousand calls that come by chance, five a second: some of the gaps are longer than a second.
    let limit = Limit::Block { count: 1000, per: 10 * MINUTE, block: 10 * MINUTE };
    let mut caller = Caller::new(limit, Demand::Chance(SECOND / 5));
    caller.run(120 * MINUTE);
    let tally = caller.run(60 * MINUTE);
    assert!(tally.granted >= 5400 && tally.refused == 0, "{tally:?} of 6000");
}
