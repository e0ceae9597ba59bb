//! What of a pace outlives the process, and what others with the same token may know of it.

use core::time::Duration;

use super::search::faster;
use super::usage::Epoch;
use super::{Known, Lesson, News, Pace, nanos};

/// What a [`Pace`] knows of its limit, in few numbers: to be kept beyond the process, and to be told to others that use
/// the same token.
///
/// What was saved up, and how the token was used of late, is not in it: nobody knows that after a pause.
///
/// ```
/// use core::time::Duration;
/// use tidegate_backoff_core::{Bound, LearnedLimit, Pace};
///
/// let learned = LearnedLimit {
///     interval: Duration::from_millis(500),
///     refused: Duration::from_millis(480),
///     cost: Duration::from_secs(2),
///     credit: 7,
///     window: 0,
///     bound: Bound::Ceiling,
/// };
/// let pace = Pace::resume(&learned, Duration::from_secs(1));
/// assert_eq!(pace.learned(), Some(learned));
/// assert_eq!(pace.allows_from(), Duration::from_millis(1500));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LearnedLimit {
    /// The time between two lends at which the whole limit is used; at least a nanosecond.
    pub interval: Duration,
    /// That at which a refusal came; zero if it is not known.
    pub refused: Duration,
    /// How long the latest rest lasted, from its refusal to the next success; zero if it is not known.
    pub cost: Duration,
    /// How many lends that were not used in time may follow at once.
    pub credit: u32,
    /// About how many calls a window holds, where refusals are dear; 0 where that is not known.
    pub window: u32,
    /// Of what the interval is known.
    pub bound: Bound,
}

/// Which side a limit is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// So much was granted, rests included: the limit may be far above.
    Floor,
    /// More was refused.
    Ceiling,
}

impl LearnedLimit {
    /// Whether it is worth to tell this to one who knows `other`: another bound, an interval that differs by more
    /// than 2 %, or a cost by a factor of two or more. Credit and window are told with these.
    pub fn differs_from(&self, other: &Self) -> bool {
        let (one, two) = (nanos(self.interval), nanos(other.interval));
        let (low, high) = (self.cost.min(other.cost), self.cost.max(other.cost));
        self.bound != other.bound
            || one.abs_diff(two) > two / 50
            || high > Duration::ZERO && high >= low.saturating_mul(2)
    }
}

impl Pace {
    /// What is known of the limit from two refusals or more. None before that: what is guessed at the first one comes
    /// from this process' own use.
    pub fn learned(&self) -> Option<LearnedLimit> {
        let bound = match self.known {
            Known::Nothing | Known::Usual | Known::Guessed => return None,
            Known::Floor => Bound::Floor,
            Known::Ceiling => Bound::Ceiling,
        };
        Some(LearnedLimit {
            interval: Duration::from_nanos(self.whole),
            refused: Duration::from_nanos(self.risky),
            cost: Duration::from_nanos(self.cost),
            credit: self.meter.credit,
            window: self.window,
            bound,
        })
    }

    /// Goes on where another pace of the same token was, with nothing saved up: the upstream's bucket may be full or
    /// empty, and its window as well.
    pub fn resume(learned: &LearnedLimit, now: Duration) -> Self {
        let mut pace = Self::new(0, Duration::ZERO, now);
        let now = nanos(now);
        let whole = nanos(learned.interval).max(1);
        pace.known = Known::of(learned.bound);
        pace.whole = whole;
        pace.safe = whole;
        pace.risky = match learned.bound {
            Bound::Ceiling if learned.refused.is_zero() => faster(whole, 30),
            _ => nanos(learned.refused),
        };
        pace.cost = nanos(learned.cost);
        pace.window = learned.window;
        pace.epoch = Epoch::idle(now);
        pace.recent = pace.recent.over(learned.window);
        pace.recent.mean = whole;
        pace.meter.credit = learned.credit;
        pace.apply();
        pace.meter.empty(now);
        pace
    }

    /// What has been learned of the same token elsewhere, where it may have been used more or less than here. It
    /// is taken over where nothing is known; where only a floor is, as from another token; a ceiling of its own it
    /// keeps, and of one that is about the same it takes the cost.
    pub fn take_up(&mut self, learned: &LearnedLimit, now: Duration) {
        if matches!(self.known, Known::Nothing | Known::Usual | Known::Guessed) {
            *self = Self { refused_at: self.refused_at, ..Self::resume(learned, now) };
            return;
        }
        let interval = nanos(learned.interval).max(1);
        let known = Known::of(learned.bound);
        let cost = if learned.cost.is_zero() { self.cost } else { nanos(learned.cost) };
        let news = News::Returned(cost);
        self.heed(&Lesson { pace: interval, now: interval, known, news, window: learned.window }, now);
    }
}

impl Known {
    const fn of(bound: Bound) -> Self {
        match bound {
            Bound::Floor => Self::Floor,
            Bound::Ceiling => Self::Ceiling,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    const LEARNED: LearnedLimit = LearnedLimit {
        interval: millis(500),
        refused: millis(480),
        cost: millis(2000),
        credit: 7,
        window: 0,
        bound: Bound::Ceiling,
    };

    /// After two refusals at a rate of 2 a second: a floor.
    fn taught() -> Pace {
        let mut pace = Pace::new(20, Duration::ZERO, Duration::ZERO);
        assert_eq!(pace.refused(Duration::ZERO), None);
        for call in 1..=40 {
            assert_eq!(pace.lent(millis(500 * call)), None);
            assert_eq!(pace.succeeded(millis(500 * call)), None);
        }
        assert_eq!(pace.lent(millis(20_000)), None);
        assert_eq!(pace.refused(millis(20_000)), None);
        pace
    }

    #[test]
    fn what_is_guessed_is_not_told_and_what_two_refusals_tell_is() {
        let mut pace = Pace::new(101, millis(60_000), millis(60_000));
        assert_eq!(pace.refused(millis(60_000)), None);
        assert_eq!(pace.lent(millis(120_000)), None);
        assert!(pace.succeeded(millis(120_000)).is_some(), "a window of a minute, since the rest was dear");
        assert_eq!((pace.interval(), pace.learned()), (Some(millis(606)), None));
        let learned = taught().learned().unwrap();
        assert_eq!((learned.interval, learned.cost, learned.bound), (millis(500), millis(500), Bound::Floor));
    }

    #[test]
    fn a_pace_that_is_resumed_knows_what_was_known_and_has_nothing_saved_up() {
        let dear = LearnedLimit { cost: millis(60_000), credit: 0, window: 100, ..LEARNED };
        let floor = LearnedLimit { refused: Duration::ZERO, bound: Bound::Floor, ..LEARNED };
        for learned in [LEARNED, dear, floor, taught().learned().unwrap()] {
            let mut pace = Pace::resume(&learned, millis(9000));
            assert_eq!(pace.learned(), Some(learned));
            assert_eq!((pace.allows_from(), pace.is_resting()), (millis(9500), false), "{learned:?}");
            assert_eq!(pace.serves_at(3, millis(9000)), millis(11_000), "{learned:?}");
            for lend in 0..20 {
                assert_eq!(pace.lent(millis(9500 + 500 * lend)), None);
            }
            assert!(!pace.is_surprised(), "{learned:?}");
            let lesson = pace.refused(millis(19_000));
            let then = pace.learned().unwrap();
            if learned == dear {
                assert!(
                    lesson.is_some() && then.interval > learned.interval,
                    "it still knows what that costs"
                );
            } else {
                assert!(then.credit < learned.credit || then.interval > learned.interval, "{then:?}");
            }
        }
    }

    #[test]
    fn what_is_worth_telling() {
        for (what, other, differs) in [
            ("the same", LEARNED, false),
            ("2 % slower", LearnedLimit { interval: millis(510), ..LEARNED }, false),
            ("more than 2 % slower", LearnedLimit { interval: millis(511), ..LEARNED }, true),
            ("more than 2 % faster", LearnedLimit { interval: millis(489), ..LEARNED }, true),
            ("another bound", LearnedLimit { bound: Bound::Floor, ..LEARNED }, true),
            ("a cost that is near", LearnedLimit { cost: millis(3999), ..LEARNED }, false),
            ("twice the cost", LearnedLimit { cost: millis(4000), ..LEARNED }, true),
            ("half of it", LearnedLimit { cost: millis(1000), ..LEARNED }, true),
            ("none that is known", LearnedLimit { cost: Duration::ZERO, ..LEARNED }, true),
            ("other credit", LearnedLimit { credit: 15, window: 9, refused: millis(1), ..LEARNED }, false),
        ] {
            assert_eq!(other.differs_from(&LEARNED), differs, "{what}");
        }
        let unknown = LearnedLimit { cost: Duration::ZERO, ..LEARNED };
        assert!(!unknown.differs_from(&unknown));
    }

    #[test]
    fn of_what_others_have_learned_a_pace_takes_up_what_it_does_not_know() {
        let slower = LearnedLimit { interval: millis(900), ..LEARNED };
        let floor = LearnedLimit { bound: Bound::Floor, ..LEARNED };
        let mut new = Pace::new(3, millis(60_000), millis(60_000));
        assert_eq!(new.refused(millis(60_000)), None);
        new.take_up(&slower, millis(60_500));
        assert_eq!(new.learned(), Some(slower), "nothing was known");
        assert!(new.is_resting(), "its rest goes on");
        assert_eq!(new.allows_from(), millis(61_400));

        let between = LearnedLimit { interval: millis(700), refused: millis(600), ..LEARNED };
        for (what, known, told, interval) in [
            ("a ceiling for a floor", LearnedLimit { interval: millis(800), ..floor }, between, 700),
            (
                "none that is above what was refused",
                LearnedLimit { refused: millis(750), ..floor },
                between,
                500,
            ),
            ("nor one that is below what was granted", floor, slower, 500),
            ("no floor for a floor", floor, LearnedLimit { interval: millis(490), ..floor }, 500),
            ("no ceiling for its own", LEARNED, slower, 500),
        ] {
            let mut pace = Pace::resume(&known, millis(1000));
            pace.take_up(&told, millis(1000));
            assert_eq!(pace.interval(), Some(millis(interval)), "{what}");
        }
        let mut pace = Pace::resume(&LEARNED, millis(1000));
        pace.take_up(&LearnedLimit { interval: millis(510), cost: millis(60_000), ..LEARNED }, millis(1000));
        let known = pace.learned().unwrap();
        assert_eq!((known.interval, known.cost), (millis(500), millis(60_000)), "of one like it the cost");
        pace.take_up(&LearnedLimit { cost: Duration::ZERO, ..LEARNED }, millis(1000));
        assert_eq!(pace.learned(), Some(known), "but not that it is unknown");
    }

    fn anything() -> impl Strategy<Value = LearnedLimit> {
        let time =
            || prop_oneof![0..1_000_000_u64, 0..u64::MAX, Just(u64::MAX)].prop_map(Duration::from_nanos);
        let count = || prop_oneof![0..100_u32, 0..=u32::MAX];
        (time(), time(), time(), count(), count(), any::<bool>()).prop_map(
            |(interval, refused, cost, credit, window, floor)| LearnedLimit {
                interval,
                refused,
                cost,
                credit,
                window,
                bound: if floor { Bound::Floor } else { Bound::Ceiling },
            },
        )
    }

    proptest! {
        #[test]
        fn whatever_is_told_a_pace_goes_on(
            learned in anything(), other in anything(), start in 0..u64::MAX,
            steps in prop::collection::vec((0_u8..4, 0..10_000_000_000_u64), 0..40),
        ) {
            let mut now = Duration::from_nanos(start);
            let mut pace = Pace::resume(&learned, now);
            prop_assert!(pace.interval().is_some());
            for (step, after) in steps {
                now = now.saturating_add(Duration::from_nanos(after));
                match step {
                    0 => drop(pace.lent(now)),
                    1 => drop(pace.refused(now)),
                    2 => drop(pace.succeeded(now)),
                    _ => pace.take_up(&other, now),
                }
                prop_assert!(pace.learned().is_some_and(|learned| !learned.interval.is_zero()));
                prop_assert!(pace.allows_from() <= Duration::from_nanos(u64::MAX));
            }
        }
    }
}
