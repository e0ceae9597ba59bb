use super::*;
use crate::entry::Hears;
use crate::pool::{Forecast, Record, Renewed};
use crate::{Limit, Pacing, Reason, WhenExhausted};

impl Rig {
    /// Lends this token, as soon as it can be.
    fn lend_only(&mut self, name: &str) -> Loan {
        for _ in 0..3 {
            if let Some(loan) = self.pool.lend_for(Some(id(name)), &[], 0, self.now) {
                return loan;
            }
            self.now = self.pool.next_wake_for(Some(id(name))).expect("time makes it lendable");
        }
        panic!("{name} is not lent at its time");
    }

    /// Lends as long as the paces allow it.
    fn lend_all(&mut self) {
        let lends = (0..1000).take_while(|_| self.try_lend().is_some()).count();
        assert!((1..1000).contains(&lends), "{lends} lends");
    }

    /// Lends so many times, so far apart; all succeed.
    fn use_evenly(&mut self, name: &str, interval: Duration, lends: u32) {
        for _ in 0..lends {
            self.pass(interval);
            let loan = self.lend_only(name);
            self.end(&loan, Outcome::Success);
        }
    }

    /// Teaches the token this pace, by three refusals: how slowly it is used the first one does not know. It is ready then, and may be lent after an interval more.
    fn teach(&mut self, name: &str, interval: Duration) {
        for _ in 0..3 {
            self.use_evenly(name, interval, 20);
            self.pass(interval);
            let loan = self.lend_only(name);
            self.end(&loan, Outcome::Limited);
            self.pass(interval.max(secs(1)));
            let probe = self.lend_only(name);
            self.end(&probe, Outcome::Success);
        }
        self.use_evenly(name, interval * 2, 20);
    }

    fn record(&self, name: &str) -> &Record {
        &self.pool.records[self.pool.place(id(name)).unwrap()]
    }

    fn interval(&self, name: &str) -> Option<Duration> {
        self.record(name).pace().and_then(tidegate_backoff_core::Pace::interval)
    }

    fn is_paced(&self, names: &str) -> Vec<bool> {
        names.split_whitespace().map(|name| self.interval(name).is_some()).collect()
    }
}

#[test]
fn a_token_that_was_never_refused_costs_nothing() {
    let mut rig = Rig::new("a b");
    for _ in 0..100 {
        let loan = rig.lend();
        assert_eq!(loan.entry.who_hears(), Hears::Nobody, "the lock is left alone");
        rig.end(&loan, Outcome::Success);
    }
    for name in ["a", "b"] {
        assert!(rig.record(name).limits.is_none(), "nothing is allocated");
        assert!(!rig.record(name).is_touched_by_lends(), "and a lend changes nothing");
    }
    assert_eq!(rig.pool.patience(secs(0)), None);
}

#[test]
fn a_token_that_was_refused_is_used_at_what_it_was_granted() {
    let mut rig = Rig::new("a b");
    rig.teach("a", secs(2));
    assert_eq!(rig.is_paced("a b"), [true, false]);
    assert_eq!(rig.record("a").entry.who_hears(), Hears::Nobody, "while it is well, a success tells nothing");
    let interval = rig.interval("a").unwrap();
    assert!(interval >= secs(2) && interval < secs(3), "{interval:?}");
    rig.pool.disable(id("b"), rig.now).unwrap();
    rig.pass(secs(60));
    rig.lend_all();
    let Forecast::At(next) = rig.pool.forecast(0, rig.now) else { panic!("it is known") };
    assert!(next - rig.now <= interval, "the next is due in {:?}", next - rig.now);
    rig.now = next - Duration::from_nanos(1);
    assert!(rig.try_lend().is_none());
    rig.now = next;
    rig.lend();
}

#[test]
fn one_refusal_paces_nothing() {
    let mut rig = Rig::new("a");
    rig.fail("a", Outcome::Limited);
    rig.pass(secs(1));
    let probe = rig.lend();
    rig.end(&probe, Outcome::Success);
    assert_eq!(rig.interval("a"), None);
    assert_eq!(rig.pool.patience(secs(0)), None, "and nobody waits less for it");
    rig.fail("a", Outcome::Rejected);
    assert_eq!(rig.interval("a"), None);
}

#[test]
fn what_else_a_response_tells_teaches_no_pace() {
    let quota = quota(Outcome::Success, 30);
    let rejected = Report::new(Outcome::Rejected);
    for report in [quota, rejected] {
        let mut rig = Rig::new("a");
        for _ in 0..20 {
            rig.use_evenly("a", secs(1), 10);
            let loan = rig.lend();
            rig.report(&loan, &report);
            rig.leave(&loan);
            rig.pool.reset(id("a"), rig.now).unwrap();
        }
        assert!(rig.record("a").limits.is_none(), "{report:?}");
    }
    let mut rig = Rig::new("a");
    rig.teach("a", secs(2));
    let before = rig.interval("a");
    for _ in 0..5 {
        rig.pass(secs(10));
        let loan = rig.lend();
        rig.report(&loan, &quota);
        rig.leave(&loan);
        rig.pass(secs(30));
    }
    assert_eq!(rig.interval("a"), before);
}

#[test]
fn a_reset_forgets_it() {
    let mut rig = Rig::new("a b");
    rig.teach("a", secs(2));
    rig.teach("b", secs(3));
    rig.pool.reset(id("a"), rig.now).unwrap();
    assert_eq!(rig.is_paced("a b"), [false, true]);
    assert!(rig.pool.patience(secs(0)).is_some());
    rig.pool.reset_all(rig.now);
    assert_eq!(rig.is_paced("a b"), [false, false]);
    assert_eq!(rig.pool.patience(secs(0)), None);
    assert!(rig.record("a").limits.is_none());
}

#[test]
fn where_pacing_is_off_nothing_is_learned_and_what_was_is_forgotten() {
    let off = PoolParams { pacing: Pacing::Off, ..PoolParams::default() };
    let mut rig = Rig::with("a", off);
    for _ in 0..3 {
        rig.use_evenly("a", secs(1), 20);
        rig.fail("a", Outcome::Limited);
        rig.pass(secs(60));
    }
    assert!(rig.record("a").limits.is_none());
    let mut rig = Rig::new("a");
    rig.teach("a", secs(2));
    rig.pool.set_params(off, rig.now);
    assert!(rig.record("a").limits.is_none());
    assert_eq!(rig.pool.patience(secs(0)), None);
    rig.lends(10);
    rig.pool.set_params(PoolParams::default(), rig.now);
    assert_eq!(rig.interval("a"), None, "it would have to be learned anew");
}

#[test]
fn other_settings_keep_it_and_a_known_limit_holds_beside_it() {
    let mut rig = Rig::new("a");
    rig.teach("a", secs(2));
    let learned = rig.interval("a");
    let limit = Some(Limit::window(1, secs(60)));
    rig.pool.set_params(PoolParams { limit, ..PoolParams::default() }, rig.now);
    assert_eq!(rig.interval("a"), learned);
    rig.pass(secs(60));
    rig.lends(1);
    rig.pass(secs(59));
    assert!(rig.try_lend().is_none(), "one a minute");
    rig.pool.set_params(PoolParams::default(), rig.now);
    assert_eq!(rig.interval("a"), learned);
    rig.lends(1);
    assert!(rig.pool.patience(secs(0)).is_some());
}

#[test]
fn a_reload_keeps_it_and_so_does_a_renewal() {
    let mut rig = Rig::new("a b");
    rig.teach("a", secs(2));
    let learned = rig.interval("a");
    rig.pool.reload(specs("c b a"), rig.now);
    assert_eq!(rig.interval("a"), learned);
    assert_eq!(rig.is_paced("b c"), [false, false]);

    let named = |value: &str| (id(value), TokenSpec { name: Some("n".to_owned()), ..TokenSpec::new(value) });
    rig.pool.reload(vec![named("a")], rig.now);
    rig.pool.reload_renewed(vec![named("z")], Renewed::ByName, rig.now);
    assert_eq!(rig.interval("z"), learned, "the limit is the account's");

    rig.pool.reload(specs("b"), rig.now);
    assert_eq!(rig.pool.patience(secs(0)), None, "who is gone paces nobody");
}

#[test]
fn tokens_used_as_fast_as_they_are_granted_do_not_blame_the_address() {
    for (interval, blamed) in [(secs(2), false), (secs(6), true)] {
        let mut rig = Rig::new("a b c d");
        let tokens = ["a", "b", "c"];
        tokens.iter().for_each(|name| rig.teach(name, secs(2)));
        // All together, so that none has a time without use.
        for _ in 0..40 {
            rig.pass(interval.max(rig.interval("a").unwrap()));
            for name in tokens {
                let loan = rig.lend_only(name);
                rig.end(&loan, Outcome::Success);
            }
        }
        rig.pass(interval.max(secs(3)));
        let loans = tokens.map(|name| rig.lend_only(name));
        loans.iter().for_each(|loan| rig.end(loan, Outcome::Limited));
        let rests = rig.pool.whole_rest(rig.pool.latest).is_some();
        assert_eq!(rests, blamed, "a call each {interval:?}: {:?}", rig.record("a").pace());
    }
}

#[test]
fn a_pardoned_token_that_is_refused_again_acquits_the_address() {
    for (again, blamed) in [("a", false), ("d", true)] {
        let mut rig = Rig::new("a b c d e f g");
        rig.fail_together(3, &Report::new(Outcome::Limited));
        rig.pass(secs(1));
        let probe = rig.lend();
        rig.end(&probe, Outcome::Success);
        for name in [again, "e", "f"] {
            let loan = rig.lend_only(name);
            rig.end(&loan, Outcome::Limited);
        }
        let whole = rig.pool.whole_rest(rig.pool.latest);
        assert_eq!(whole.is_some(), blamed, "{again} was refused first: {whole:?}");
        assert_eq!(rig.status("g").state == State::Cooling, blamed);
        assert_eq!(rig.status(again).reason, Some(Reason::RateLimited));
    }
}

#[test]
fn a_pardoned_tokens_rests_go_on_where_they_were() {
    let mut rig = Rig::new("a b c d");
    rig.fail_together(3, &Report::new(Outcome::Limited));
    rig.pass(secs(1));
    let probe = rig.lend_only("d");
    rig.end(&probe, Outcome::Success);
    let loan = rig.lend_only("a");
    rig.end(&loan, Outcome::Limited);
    assert_eq!(rig.retry_in("a"), secs(2), "its second refusal");
}

#[test]
fn who_asks_is_told_when_the_pace_serves_him() {
    let mut rig = Rig::new("a b");
    rig.teach("a", secs(20));
    rig.teach("b", secs(20));
    rig.pass(secs(600));
    rig.lend_all();
    let (a, b) = (rig.interval("a").unwrap(), rig.interval("b").unwrap());
    let mut expected: Vec<Duration> = (1..4).flat_map(|nth| [a * nth, b * nth]).collect();
    expected.sort_unstable();
    for (ahead, expected) in expected.into_iter().enumerate() {
        let Forecast::At(at) = rig.pool.forecast(ahead, rig.now) else { panic!("it is known") };
        assert_eq!(at - rig.now, expected, "{ahead} ahead");
    }
    for ahead in 0..4 {
        let Forecast::At(at) = rig.pool.forecast_for(Some(id("b")), ahead, rig.now) else {
            panic!("it is known")
        };
        assert_eq!(at - rig.now, b * u32::try_from(ahead + 1).unwrap(), "{ahead} who want b");
    }
}

#[test]
fn soonest_does_not_outrun_a_pace() {
    let mut rig =
        Rig::with("a", PoolParams { when_exhausted: WhenExhausted::Soonest, ..PoolParams::default() });
    rig.teach("a", secs(5));
    rig.pass(secs(600));
    rig.lend_all();
    rig.pass(rig.interval("a").unwrap() - Duration::from_nanos(1));
    assert!(rig.try_lend().is_none());
    rig.pass(Duration::from_nanos(1));
    rig.lend();
}

#[test]
fn a_lend_that_nobody_took_is_given_back_to_the_pace() {
    let mut rig = Rig::new("a");
    rig.teach("a", secs(20));
    rig.pass(secs(600));
    rig.lend_all();
    rig.pass(rig.interval("a").unwrap());
    let loan = rig.lend();
    assert!(rig.try_lend().is_none());
    rig.pool.take_back(&loan, rig.now);
    rig.lend();
}

#[test]
fn a_dear_refusal_slows_a_peer_of_the_same_pace_down_too() {
    let mut rig = Rig::new("a b c d");
    let tokens = ["a", "b"];
    for round in 0..3 {
        for _ in 0..if round == 2 { 1000 } else { 400 } {
            rig.pass(secs(2));
            for name in tokens {
                let loan = rig.lend_only(name);
                rig.end(&loan, Outcome::Success);
            }
        }
        if round == 2 {
            break;
        }
        let refused = tokens.map(|name| rig.lend_only(name));
        for loan in &refused {
            rig.report(loan, &told(Outcome::Limited, 60));
            rig.leave(loan);
        }
        rig.pass(secs(60));
        for name in tokens {
            let probe = rig.lend_only(name);
            rig.end(&probe, Outcome::Success);
        }
    }
    let before = tokens.map(|name| rig.interval(name).unwrap());
    let loan = rig.lend_only("a");
    rig.end(&loan, Outcome::Limited);
    let after = tokens.map(|name| rig.interval(name).unwrap());
    assert!(after[0] > before[0] && after[1] > before[1], "{after:?} after {before:?}");
}
