//! What holds whatever happens, in any order and at any time.

use core::time::Duration;

use super::std::vec::Vec;
use proptest::prelude::*;

use crate::pace::{Bound, Known, LearnedLimit, Lesson, Pace};

#[derive(Clone, Copy, Debug)]
enum Step {
    Lent,
    TakenBack,
    Refused,
    RestsUntil(Duration),
    Succeeded,
    /// Hears of what the other has learned last.
    Heeds,
    TakesUp(LearnedLimit),
}

/// When a step is taken.
#[derive(Clone, Copy, Debug)]
enum When {
    /// So long after the one before.
    Later(Duration),
    /// As soon as the pace allows a lend.
    Allowed,
    /// At any moment, which may be before the last one.
    At(Duration),
}

fn moment() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::from_nanos(u64::MAX)),
        Just(Duration::MAX),
        any::<u64>().prop_map(Duration::from_nanos),
    ]
}

fn length() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(Duration::from_nanos(1)),
        6 => (0..10_000_u64).prop_map(Duration::from_millis),
        1 => (0..1_000_000_u64).prop_map(Duration::from_secs),
    ]
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        6 => length().prop_map(When::Later),
        6 => Just(When::Allowed),
        1 => moment().prop_map(When::At),
    ]
}

fn learned() -> impl Strategy<Value = LearnedLimit> {
    let count = || prop_oneof![0..100_u32, any::<u32>()];
    let time = || prop_oneof![length(), moment()];
    (time(), time(), time(), count(), count(), any::<bool>()).prop_map(
        |(interval, refused, cost, credit, window, is_floor)| {
            let bound = if is_floor { Bound::Floor } else { Bound::Ceiling };
            LearnedLimit { interval, refused, cost, credit, window, bound }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => Just(Step::Lent),
        1 => Just(Step::TakenBack),
        4 => Just(Step::Refused),
        2 => length().prop_map(Step::RestsUntil),
        6 => Just(Step::Succeeded),
        2 => Just(Step::Heeds),
        1 => learned().prop_map(Step::TakesUp),
    ]
}

/// A pace and what has been seen of it.
struct Watched {
    pace: Pace,
    now: Duration,
    latest: Duration,
    slowest: u64,
    most_credit: u32,
    lends: u64,
    was_paced: bool,
}

impl Watched {
    fn new(lends: u32, age: Duration, now: Duration) -> Self {
        Self {
            pace: Pace::new(lends, age, now),
            now,
            latest: now,
            slowest: 0,
            most_credit: 0,
            lends: 0,
            was_paced: false,
        }
    }

    /// Returns what others are to hear.
    fn take(&mut self, step: Step, when: When, heard: Option<&Lesson>) -> Option<Lesson> {
        self.now = match when {
            When::Later(length) => self.now.saturating_add(length),
            When::Allowed => self.now.max(self.pace.allows_from()),
            When::At(now) => now,
        };
        self.latest = self.latest.max(self.now);
        let now = self.now;
        match step {
            Step::Lent => {
                self.lends += 1;
                let _ = self.pace.lent(now);
                None
            }
            Step::TakenBack => {
                self.pace.taken_back();
                None
            }
            Step::Refused => self.pace.refused(now),
            Step::RestsUntil(length) => {
                self.pace.rests_until(now.saturating_add(length));
                None
            }
            Step::Succeeded => self.pace.succeeded(now),
            Step::TakesUp(learned) => {
                self.pace.take_up(&learned, now);
                None
            }
            Step::Heeds => {
                heard.into_iter().for_each(|lesson| self.pace.heed(lesson, now));
                None
            }
        }
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let pace = &self.pace;
        let is_paced = pace.interval().is_some();
        prop_assert_eq!(is_paced, pace.known != Known::Nothing, "a pace is what is known");
        prop_assert!(is_paced || !self.was_paced, "a pace is slowed down and raised, not lost");
        prop_assert!(!is_paced || pace.meter.interval > 0, "all at once is no pace");
        prop_assert!((300..=Pace::WHOLE).contains(&pace.share), "{}", pace.share);
        self.was_paced = is_paced;
        self.slowest = self.slowest.max(pace.meter.interval);

        // Each lend is worth an interval, and a refusal all credit that there was; a peer's holds for four.
        self.most_credit = self.most_credit.max(pace.meter.credit);
        let reached = self.slowest.saturating_mul(self.lends + u64::from(self.most_credit) + 5);
        let latest = self.latest.saturating_add(Duration::from_nanos(reached));
        prop_assert!(
            pace.allows_from() <= latest,
            "{:?} is beyond {:?}: {:?}",
            pace.allows_from(),
            latest,
            pace
        );

        for from in [Duration::ZERO, self.now, pace.allows_from()] {
            let from = from.min(Duration::from_nanos(u64::MAX));
            prop_assert_eq!(pace.serves_at(0, from), pace.allows_from().max(from));
            let moments: Vec<_> = [0, 1, 2, 7, 1000, u32::MAX].map(|nth| pace.serves_at(nth, from)).into();
            prop_assert!(moments.is_sorted(), "{:?}", moments);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_a_pace_is_a_pace(
        made in prop::array::uniform2((any::<u32>(), moment(), moment())),
        steps in prop::collection::vec((any::<bool>(), step(), when()), 1..400),
    ) {
        let mut paces = made.map(|(lends, age, now)| Watched::new(lends, age, now));
        let mut lesson = None;
        for (second, step, when) in steps {
            let pace = &mut paces[usize::from(second)];
            lesson = pace.take(step, when, lesson.as_ref()).or(lesson);
            pace.check()?;
        }
    }
}
