use super::*;
use crate::Remaining;

fn left(calls: u32, reset: u64) -> Report {
    let remaining = Some(Remaining { calls, reset: secs(reset) });
    Report { remaining, ..Report::new(Outcome::Success) }
}

impl Rig {
    fn answer(&mut self, loan: &Loan, report: &Report) {
        self.report(loan, report);
        self.leave(loan);
    }
}

#[test]
fn no_more_are_lent_than_are_left_less_those_that_are_out() {
    let mut rig = Rig::new("a");
    let first = rig.lend();
    rig.answer(&first, &left(3, 0));
    let out: Vec<_> = (0..3).map(|_| rig.lend()).collect();
    assert!(rig.try_lend().is_none(), "all three that are left are out");
    assert_eq!(rig.state("a"), State::Ready, "that is no fault");
    // The second came first.
    rig.answer(&out[1], &left(2, 0));
    assert!(rig.try_lend().is_none(), "two are left, and two are out");
    rig.answer(&out[0], &left(1, 0));
    assert!(rig.try_lend().is_none());
    rig.answer(&out[2], &left(5, 0));
    let out: Vec<_> = (0..3).map(|_| rig.lend()).collect();
    assert!(rig.try_lend().is_none(), "of the five both others may have used one");
    out.iter().for_each(|loan| rig.drop(loan));
    let last = rig.lend();
    rig.answer(&last, &left(1, 0));
    rig.lend();
    assert!(rig.try_lend().is_none());
}

#[test]
fn one_that_tells_nothing_may_have_come_or_not() {
    let mut rig = Rig::new("a");
    let first = rig.lend();
    rig.answer(&first, &left(2, 0));
    let (told, silent) = (rig.lend(), rig.lend());
    rig.answer(&told, &left(1, 0));
    rig.drop(&silent);
    let next = rig.lend();
    assert!(rig.try_lend().is_none());
    rig.drop(&next);
    rig.lend();
    assert!(rig.try_lend().is_none(), "with none out one is lent, to hear more");
}

#[test]
fn those_that_were_out_before_anything_was_told_count_until_they_end() {
    let mut rig = Rig::new("a");
    let early: Vec<_> = (0..4).map(|_| rig.lend()).collect();
    rig.answer(&early[0], &left(3, 0));
    assert!(rig.try_lend().is_none(), "the three that are left are out");
    rig.report(&early[1], &left(2, 0));
    assert!(rig.try_lend().is_none());
    rig.leave(&early[1]);
    rig.drop(&early[2]);
    rig.drop(&early[3]);
    rig.lend();
}

#[test]
fn a_lend_that_was_not_used_is_as_if_it_had_not_been() {
    let mut rig = Rig::new("a");
    let early: Vec<_> = (0..3).map(|_| rig.lend()).collect();
    rig.answer(&early[0], &left(1, 0));
    rig.pool.take_back(&early[1], rig.now);
    rig.pool.take_back(&early[2], rig.now);
    for _ in 0..3 {
        let loan = rig.lend();
        rig.pool.take_back(&loan, rig.now);
    }
    let loan = rig.lend();
    assert!(rig.try_lend().is_none());
    rig.answer(&loan, &left(1, 0));
    rig.lend();
    assert!(rig.try_lend().is_none());
}

#[test]
fn after_the_told_reset_there_is_one_more_in_any_case() {
    let mut rig = Rig::new("a");
    let first = rig.lend();
    rig.answer(&first, &left(1, 60));
    rig.lend();
    assert!(rig.try_lend().is_none());
    rig.pass(secs(60));
    rig.lend();
    assert!(rig.try_lend().is_none(), "how many more nobody has told");
}

#[test]
fn who_waits_for_an_answer_is_not_refused() {
    let mut rig = Rig::new("a");
    let first = rig.lend();
    rig.answer(&first, &left(1, 3600));
    rig.lend();
    assert_eq!(rig.pool.forecast(0, rig.now), crate::pool::Forecast::Unknown);
}

#[test]
fn in_a_lane_of_its_own_only_its_own_leases_count() {
    let mut base = Rig::new("a");
    let elsewhere = base.lend();
    let mut rig = Rig { pool: base.pool.branch(1, base.now), ..Rig::new("b") };
    rig.now = base.now;
    let first = rig.lend();
    rig.answer(&first, &left(2, 0));
    let out = rig.lend();
    rig.lend();
    assert!(rig.try_lend().is_none());
    rig.answer(&out, &left(1, 0));
    assert!(rig.try_lend().is_none());
    // Of a lease of another lane the answer names this one: all that was lent here may have come later.
    rig.pool.settle_from(&elsewhere, &left(9, 0), rig.now);
    (0..7).for_each(|_| drop(rig.lend()));
    assert!(rig.try_lend().is_none());
}

#[test]
fn a_renewed_token_begins_to_count_anew() {
    let mut rig = Rig::new("a");
    let first = rig.lend();
    rig.answer(&first, &left(1, 0));
    rig.lend();
    assert!(rig.try_lend().is_none());
    let named =
        |value: &str| vec![(id(value), TokenSpec { name: Some("n".into()), ..TokenSpec::new(value) })];
    rig.pool.reload(named("a"), rig.now);
    rig.pool.reload_renewed(named("b"), crate::pool::Renewed::ByName, rig.now);
    (0..3).for_each(|_| drop(rig.lend()));
}

#[test]
fn what_is_there_again_before_an_answer_comes_is_not_waited_for() {
    let mut rig = Rig::new("a");
    let first = rig.lend();
    rig.answer(&first, &left(2, 0));
    for _ in 0..8 {
        let mut out: Vec<_> = std::iter::from_fn(|| rig.try_lend()).take(9).collect();
        assert!(out.len() <= 2, "no more than are left");
        let last = out.pop().unwrap();
        out.iter().for_each(|loan| rig.drop(loan));
        rig.answer(&last, &left(2, 0));
    }
    let out: Vec<_> = (0..5).map(|_| rig.lend()).collect();
    rig.answer(&out[0], &left(0, 60));
    assert!(rig.try_lend().is_none(), "it stays empty for longer than an answer takes");
}

#[test]
fn a_long_answer_from_before_the_counting_is_not_waited_for_to_its_end() {
    let mut rig = Rig::new("a");
    let (stream, first) = (rig.lend(), rig.lend());
    rig.report(&stream, &Report::new(Outcome::Success));
    rig.answer(&first, &left(1, 0));
    let silent = rig.try_lend();
    silent.iter().for_each(|loan| rig.drop(loan));
    let next = rig.pool.next_wake();
    assert!(rig.try_lend().is_some() || next.is_some(), "nobody would ever look again");
    rig.pass(secs(30));
    rig.lend();
}
