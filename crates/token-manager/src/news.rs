use std::sync::Arc;
use std::time::Duration;

use tidegate_backoff_core::LearnedLimit;
use tokio::time::Instant;

use crate::{Reason, TokenId, wall};

/// How far two readings of one moment may lie apart that came by different clocks, in milliseconds. Moments
/// closer than this are taken for one where it matters which was first.
pub(crate) const SLACK_MS: i64 = 50;
pub(crate) const SLACK: Duration = Duration::from_millis(SLACK_MS.unsigned_abs());

/// A moment by a store's clock: milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub i64);

impl Stamp {
    /// How many milliseconds it is from `earlier` to this; negative if that is the later one.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// This moment and so many milliseconds.
    #[must_use = "returns the moment, changes nothing"]
    pub const fn plus(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}

/// One moment by two clocks: the process' own, and that of the store. Whatever is told to a store or by it is
/// read against such a pair, so that the clocks of those who share it need not agree.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The moment by the clock that measures.
    pub instant: Instant,
    /// The same moment by the store's.
    pub stamp: Stamp,
}

impl Clock {
    /// The present, for a store that goes by the wall clock.
    pub fn wall() -> Self {
        let since = wall::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        Self { instant: Instant::now(), stamp: Stamp(millis) }
    }

    /// The present by the store's clock, which goes on from this pair.
    pub fn now(&self) -> Self {
        let instant = Instant::now();
        let passed = i64::try_from(instant.saturating_duration_since(self.instant).as_millis());
        Self { instant, stamp: self.stamp.plus(passed.unwrap_or(i64::MAX)) }
    }
}

/// What has become of a token: what a pool tells a store, and what it is told.
///
/// News need not come in order, nor once: [`merge`](Self::merge) is commutative, associative and idempotent, so
/// that all who have heard the same say the same, in whatever order they heard it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The token's pool, by its name in the settings.
    pub pool: Arc<str>,
    /// The token.
    pub id: TokenId,
    /// When a reset last made everything of before void.
    pub cleared: Option<Stamp>,
    /// Its latest rest since [`cleared`](Self::cleared): made by somebody who knew of that reset.
    pub rest: Option<RestNews>,
    /// When a probe last succeeded: rests that had ended by then are over and done with.
    pub recovered: Option<Stamp>,
    /// Whether an operator has barred it, and when that was decided.
    pub bar: Option<BarNews>,
    /// What its refusals have taught of its limit. Of two the later counts, whatever it says.
    pub learned: Option<LearnedNews>,
}

/// A rest, and what led to it. Of two the one that ends later is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RestNews {
    /// Its end.
    pub until: Stamp,
    /// When it began, or was last extended.
    pub at: Stamp,
    /// Failures in a row.
    pub failures: u32,
    /// Those among the latest of them by which the token itself was refused.
    pub rejections: u32,
    /// Why it rests.
    pub reason: Reason,
    /// Whether it is [`Unavailable`](crate::State::Unavailable).
    pub worn_out: bool,
}

/// What an operator has decided about a token. The later of two is the greater; at the same moment it is the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BarNews {
    /// When.
    pub at: Stamp,
    /// What.
    pub bar: Bar,
}

/// Whether a token may be lent at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bar {
    /// It may.
    Allowed,
    /// It is [`Disabled`](crate::State::Disabled).
    Barred,
}

/// What is known of a token's limit, and since when. The later of two is the greater.
///
/// It is somebody's part of the limit who shares it with others, so that of two which differ both may be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LearnedNews {
    /// When it was learned, or last found to be still so.
    pub at: Stamp,
    /// What; none if an operator's reset had it forgotten.
    pub limit: Option<LearnedLimit>,
}

impl News {
    /// No news of a token.
    pub fn none(pool: Arc<str>, id: TokenId) -> Self {
        Self { pool, id, rest: None, cleared: None, recovered: None, bar: None, learned: None }
    }

    /// Whether it says nothing.
    pub const fn is_none(&self) -> bool {
        self.rest.is_none()
            && self.cleared.is_none()
            && self.recovered.is_none()
            && self.bar.is_none()
            && self.learned.is_none()
    }

    /// Takes in other news of the same token. The later reset counts, and of the rests since then the one that
    /// ends last, unless a probe has succeeded after its end; of two decisions of operators, and of two things that
    /// were learned, the later one holds.
    ///
    /// A rest counts from the reset on that its maker knew of. A rest that was made in ignorance of a reset is void
    /// with all that was before it, as is the result of a lease that was lent before a reset.
    ///
    /// ```
    /// use tidegate_token_manager::{News, Reason, RestNews, Stamp, TokenId};
    ///
    /// let token = |rest, cleared| News { rest, cleared, ..News::none("default".into(), TokenId::from_bytes([7; 8])) };
    /// let rest = |at, until| Some(RestNews {
    ///     at: Stamp(at), until: Stamp(until), failures: 1, rejections: 0, reason: Reason::RateLimited, worn_out: false,
    /// });
    /// let mut known = token(rest(1_000, 9_000), None);
    /// known.merge(&token(rest(2_000, 4_000), None));
    /// assert_eq!(known.rest, rest(1_000, 9_000));
    /// known.merge(&token(None, Some(Stamp(3_000))));
    /// assert_eq!(known.rest, None);
    /// known.merge(&token(rest(2_500, 60_000), None));
    /// assert_eq!(known.rest, None, "who made it did not know of the reset");
    /// known.merge(&token(rest(3_500, 5_000), Some(Stamp(3_000))));
    /// assert_eq!(known.rest, rest(3_500, 5_000));
    /// ```
    pub fn merge(&mut self, other: &Self) {
        let cleared = self.cleared.max(other.cleared);
        let rest_since = |news: &Self| news.rest.filter(|_| news.cleared == cleared);
        let rest = rest_since(self).max(rest_since(other));
        self.cleared = cleared;
        self.recovered = self.recovered.max(other.recovered);
        self.rest = self.unrecovered(rest);
        self.bar = self.bar.max(other.bar);
        self.learned = self.learned.max(other.learned);
    }

    /// Whether these tell somebody who knows `known` anything that matters. Moments that differ by less than
    /// clocks do are the same, as long as nothing follows from it. A bar does always: where it is kept for a
    /// time, it is kept for longer.
    pub fn adds_to(&self, known: &Self) -> bool {
        let mut merged = known.clone();
        merged.merge(self);
        let differs = |new: Option<Stamp>, old: Option<Stamp>| match (new, old) {
            (Some(new), Some(old)) => new.since(old).abs() > SLACK_MS,
            (new, old) => new != old,
        };
        let facts = |rest: RestNews| (rest.failures, rest.rejections, rest.reason, rest.worn_out);
        let old = known.unrecovered(known.rest);
        self.is_barred()
            || merged.is_barred() != known.is_barred()
            || merged.cleared != known.cleared
            || merged.learned != known.learned
            || differs(merged.recovered, known.recovered)
            || differs(merged.rest.map(|rest| rest.until), old.map(|rest| rest.until))
            || merged.rest.map(facts) != old.map(facts)
    }

    /// A rest, if no probe has succeeded after its end.
    fn unrecovered(&self, rest: Option<RestNews>) -> Option<RestNews> {
        rest.filter(|rest| self.recovered.is_none_or(|at| rest.until > at.plus(SLACK_MS)))
    }

    /// The latest moment that it speaks of; what is older than this by far need not be kept.
    pub fn latest(&self) -> Option<Stamp> {
        let rest = self.rest.map(|rest| rest.until.max(rest.at));
        let others = [self.cleared, self.recovered, self.bar.map(|bar| bar.at), self.learned.map(|it| it.at)];
        others.into_iter().fold(rest, Option::max)
    }

    /// Whether an operator's bar stands, which does not age.
    pub fn is_barred(&self) -> bool {
        self.bar.is_some_and(|news| news.bar == Bar::Barred)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn news() -> impl Strategy<Value = News> {
        let stamp = || (0_i64..400).prop_map(Stamp);
        let rest = (stamp(), 0_i64..300, 1_u32..4).prop_map(|(at, length, failures)| RestNews {
            at,
            until: at.plus(length),
            failures,
            rejections: 0,
            reason: Reason::RateLimited,
            worn_out: false,
        });
        let bar = (stamp(), any::<bool>())
            .prop_map(|(at, barred)| BarNews { at, bar: if barred { Bar::Barred } else { Bar::Allowed } });
        let limit = (1_u64..4).prop_map(|millis| LearnedLimit {
            interval: Duration::from_millis(millis),
            refused: Duration::ZERO,
            cost: Duration::ZERO,
            credit: 0,
            window: 0,
            bound: tidegate_backoff_core::Bound::Ceiling,
        });
        let learned = (stamp(), prop::option::of(limit)).prop_map(|(at, limit)| LearnedNews { at, limit });
        // Of few resets, so that there are rests of the same one.
        let cleared = prop::option::of((1_i64..4).prop_map(|reset| Stamp(100 * reset)));
        let learned = prop::option::of(learned);
        (prop::option::of(rest), cleared, prop::option::of(stamp()), prop::option::of(bar), learned).prop_map(
            |(rest, cleared, recovered, bar, learned)| News {
                rest,
                cleared,
                recovered,
                bar,
                learned,
                ..News::none("p".into(), TokenId::from_bytes([1; 8]))
            },
        )
    }

    fn merged(all: &[News]) -> News {
        let mut sum = News::none("p".into(), TokenId::from_bytes([1; 8]));
        all.iter().for_each(|news| sum.merge(news));
        sum
    }

    proptest! {
        #[test]
        fn in_whatever_order_and_however_often_news_come_they_come_to_the_same(
            all in prop::collection::vec(news(), 0..7), turn in 0_usize..7, split in 0_usize..7,
        ) {
            let sum = merged(&all);
            let mut turned = all.clone();
            turned.rotate_left(turn % all.len().max(1));
            prop_assert_eq!(&merged(&turned), &sum, "commutative");
            turned.reverse();
            prop_assert_eq!(&merged(&turned), &sum, "commutative");
            // Two who have each heard a part tell each other, in either order.
            let (one, other) = all.split_at(split.min(all.len()));
            let (one, other) = (merged(one), merged(other));
            prop_assert_eq!(&merged(&[one.clone(), other.clone()]), &sum, "associative");
            prop_assert_eq!(&merged(&[other.clone(), one, other]), &sum, "idempotent");
        }

        #[test]
        fn what_is_void_never_stands_and_the_latest_end_does(all in prop::collection::vec(news(), 0..6)) {
            let sum = merged(&all);
            let lives = |news: &&News| news.cleared == sum.cleared
                && news.rest.is_some_and(|rest| sum.recovered.is_none_or(|at| rest.until > at.plus(SLACK_MS)));
            let latest = all.iter().filter(lives).filter_map(|news| news.rest).map(|rest| rest.until).max();
            prop_assert_eq!(sum.rest.map(|rest| rest.until), latest);
            prop_assert_eq!(sum.cleared, all.iter().filter_map(|news| news.cleared).max());
            prop_assert_eq!(sum.learned, all.iter().filter_map(|news| news.learned).max());
        }
    }

    #[test]
    fn what_matters_is_told_and_a_clock_that_is_read_again_is_not() {
        let token = News::none("p".into(), TokenId::from_bytes([1; 8]));
        let rest = |at, until, failures| RestNews {
            at: Stamp(at),
            until: Stamp(until),
            failures,
            rejections: 0,
            reason: Reason::RateLimited,
            worn_out: false,
        };
        let learned =
            |at| News { learned: Some(LearnedNews { at: Stamp(at), limit: None }), ..token.clone() };
        let known = News { rest: Some(rest(1000, 9000, 1)), cleared: Some(Stamp(500)), ..learned(700) };
        assert!(!known.adds_to(&known));
        let known = News { bar: Some(BarNews { at: Stamp(600), bar: Bar::Barred }), ..known };
        let allowed = |at| News { bar: Some(BarNews { at: Stamp(at), bar: Bar::Allowed }), ..token.clone() };
        let since = |rest| News { rest: Some(rest), cleared: Some(Stamp(500)), ..token.clone() };
        for (what, news, adds) in [
            ("nothing", token.clone(), false),
            ("the same by another clock", since(rest(1003, 9003, 1)), false),
            ("a later end", since(rest(1000, 9100, 1)), true),
            ("another failure", since(rest(1001, 9001, 2)), true),
            ("an earlier end", since(rest(1001, 8000, 2)), false),
            ("a rest of before the reset", News { rest: Some(rest(1001, 9900, 2)), ..token.clone() }, false),
            ("a reset that ends it, just after", News { cleared: Some(Stamp(1001)), ..token.clone() }, true),
            ("an old reset", News { cleared: Some(Stamp(499)), ..token.clone() }, false),
            ("a decision just after another", allowed(601), true),
            ("a decision of before", allowed(599), false),
            ("the bar itself", known.clone(), true),
            ("what was learned just after", learned(701), true),
            ("what was learned before", learned(699), false),
            ("the same", learned(700), false),
        ] {
            assert_eq!(news.adds_to(&known), adds, "{what}");
        }
    }

    #[test]
    fn the_later_end_and_the_later_decision_count() {
        let token = News::none("p".into(), TokenId::from_bytes([1; 8]));
        let rest = |at, until, failures| RestNews {
            at: Stamp(at),
            until: Stamp(until),
            failures,
            rejections: 0,
            reason: Reason::RateLimited,
            worn_out: false,
        };
        let resting = |at, until, failures| News { rest: Some(rest(at, until, failures)), ..token.clone() };
        let cleared = |at| News { cleared: Some(Stamp(at)), ..token.clone() };
        let recovered = |at| News { recovered: Some(Stamp(at)), ..token.clone() };
        for (what, all, want) in [
            (
                "the later end, and all that is said of that rest",
                vec![resting(1000, 9000, 3), resting(2000, 4000, 1)],
                Some(rest(1000, 9000, 3)),
            ),
            (
                "of one end, the later news",
                vec![resting(2000, 9000, 4), resting(1000, 9000, 3)],
                Some(rest(2000, 9000, 4)),
            ),
            ("a reset wins over older news", vec![resting(1000, 9000, 3), cleared(1000)], None),
            ("also over older news that come later", vec![cleared(5000), resting(4999, 90_000, 3)], None),
            ("and over those of who had not heard of it", vec![cleared(5000), resting(5001, 6000, 1)], None),
            (
                "but not over those of who had",
                vec![cleared(5000), News { cleared: Some(Stamp(5000)), ..resting(5001, 6000, 1) }],
                Some(rest(5001, 6000, 1)),
            ),
            (
                "a probe that succeeded ends the rest before it",
                vec![resting(1000, 2000, 3), recovered(2100)],
                None,
            ),
            (
                "but not one that still runs",
                vec![recovered(2100), resting(2090, 32_000, 1)],
                Some(rest(2090, 32_000, 1)),
            ),
        ] {
            assert_eq!(merged(&all).rest, want, "{what}");
        }
        let bar = |at, bar| News { bar: Some(BarNews { at: Stamp(at), bar }), ..token.clone() };
        assert!(!merged(&[bar(2, Bar::Allowed), bar(1, Bar::Barred)]).is_barred());
        assert!(
            merged(&[bar(2, Bar::Barred), bar(2, Bar::Allowed)]).is_barred(),
            "at the same moment it stays barred"
        );
        assert_eq!(token.latest(), None);
        assert_eq!(resting(5, 70, 1).latest(), Some(Stamp(70)));
    }
}
