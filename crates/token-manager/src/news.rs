use std::sync::Arc;
use std::time::Duration;

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
/// News need not come in order, nor once: [`merge`](Self::merge) gives the same whichever came first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The token's pool, by its name in the settings.
    pub pool: Arc<str>,
    /// The token.
    pub id: TokenId,
    /// Its latest rest.
    pub rest: Option<RestNews>,
    /// When a reset last made everything of before void.
    pub cleared: Option<Stamp>,
    /// When a probe last succeeded: rests that had ended by then are over and done with.
    pub recovered: Option<Stamp>,
    /// Whether an operator has barred it, and when that was decided.
    pub bar: Option<BarNews>,
}

/// A rest, and what led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestNews {
    /// When it began, or was last extended.
    pub at: Stamp,
    /// Its end.
    pub until: Stamp,
    /// Failures in a row.
    pub failures: u32,
    /// Those among the latest of them by which the token itself was refused.
    pub rejections: u32,
    /// Why it rests.
    pub reason: Reason,
    /// Whether it is [`Unavailable`](crate::State::Unavailable).
    pub worn_out: bool,
}

/// What an operator has decided about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl News {
    /// No news of a token.
    pub fn none(pool: Arc<str>, id: TokenId) -> Self {
        Self { pool, id, rest: None, cleared: None, recovered: None, bar: None }
    }

    /// Whether it says nothing.
    pub const fn is_none(&self) -> bool {
        self.rest.is_none() && self.cleared.is_none() && self.recovered.is_none() && self.bar.is_none()
    }

    /// Takes in other news of the same token: of two ends the later one counts, a reset makes void what was
    /// before it, and of two decisions of operators the later one holds.
    ///
    /// ```
    /// use tidegate_token_manager::{News, Reason, RestNews, Stamp, TokenId};
    ///
    /// let token = |rest, cleared| News { rest, cleared, ..News::none("default".into(), TokenId::from_bytes([7; 8])) };
    /// let rest = |at, until| RestNews {
    ///     at: Stamp(at), until: Stamp(until), failures: 1, rejections: 0, reason: Reason::RateLimited, worn_out: false,
    /// };
    /// let mut known = token(Some(rest(1_000, 9_000)), None);
    /// known.merge(&token(Some(rest(2_000, 4_000)), None));
    /// assert_eq!(known.rest.unwrap().until, Stamp(9_000));
    /// known.merge(&token(None, Some(Stamp(3_000))));
    /// assert_eq!(known.rest, None);
    /// known.merge(&token(Some(rest(2_500, 60_000)), None));
    /// assert_eq!(known.rest, None, "older than the reset");
    /// ```
    pub fn merge(&mut self, other: &Self) {
        self.cleared = self.cleared.max(other.cleared);
        self.recovered = self.recovered.max(other.recovered);
        let (ours, theirs) = (self.living(self.rest), self.living(other.rest));
        self.rest = match (ours, theirs) {
            (Some(a), Some(b)) => {
                let later = if (b.at, b.until) > (a.at, a.until) { b } else { a };
                Some(RestNews { until: a.until.max(b.until), ..later })
            }
            (a, b) => a.or(b),
        };
        self.bar = match (self.bar, other.bar) {
            (Some(a), Some(b)) => Some(if (b.at, b.bar) > (a.at, a.bar) { b } else { a }),
            (a, b) => a.or(b),
        };
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
        let old = known.living(known.rest);
        self.is_barred()
            || merged.is_barred() != known.is_barred()
            || differs(merged.cleared, known.cleared)
            || differs(merged.recovered, known.recovered)
            || differs(merged.rest.map(|rest| rest.until), old.map(|rest| rest.until))
            || merged.rest.map(facts) != old.map(facts)
    }

    /// A rest, if nothing has ended it.
    fn living(&self, rest: Option<RestNews>) -> Option<RestNews> {
        let rest = rest.filter(|rest| self.cleared.is_none_or(|cleared| rest.at > cleared))?;
        Some(rest).filter(|rest| self.recovered.is_none_or(|at| rest.until > at.plus(SLACK_MS)))
    }

    /// The latest moment that it speaks of; what is older than this by far need not be kept.
    pub fn latest(&self) -> Option<Stamp> {
        let rest = self.rest.map(|rest| rest.until.max(rest.at));
        rest.max(self.cleared).max(self.recovered).max(self.bar.map(|bar| bar.at))
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
        (prop::option::of(rest), prop::option::of(stamp()), prop::option::of(stamp()), prop::option::of(bar))
            .prop_map(|(rest, cleared, recovered, bar)| News {
                rest,
                cleared,
                recovered,
                bar,
                ..News::none("p".into(), TokenId::from_bytes([1; 8]))
            })
    }

    fn merged(all: &[News]) -> News {
        let mut sum = News::none("p".into(), TokenId::from_bytes([1; 8]));
        all.iter().for_each(|news| sum.merge(news));
        sum
    }

    proptest! {
        #[test]
        fn news_may_come_twice(all in prop::collection::vec(news(), 0..6)) {
            let once = merged(&all);
            let mut twice = once.clone();
            all.iter().for_each(|news| twice.merge(news));
            prop_assert_eq!(once.cleared, twice.cleared);
            prop_assert_eq!(once.bar, twice.bar);
            prop_assert_eq!(once.recovered, twice.recovered);
        }

        #[test]
        fn what_is_void_never_stands_and_the_latest_end_does(
            mut all in prop::collection::vec(news(), 0..6), turn in 0_usize..6,
        ) {
            let sum = merged(&all);
            if !all.is_empty() {
                let turn = turn % all.len();
                all.rotate_left(turn);
            }
            let turned = merged(&all);
            prop_assert_eq!((sum.cleared, sum.recovered, sum.bar), (turned.cleared, turned.recovered, turned.bar));
            let lives = |rest: &RestNews| sum.cleared.is_none_or(|at| rest.at > at)
                && sum.recovered.is_none_or(|at| rest.until > at.plus(SLACK_MS));
            let latest = all.iter().filter_map(|news| news.rest).filter(lives).map(|rest| rest.until).max();
            // An older end may stay with a later rest, but never an earlier one, in whatever order they came.
            prop_assert!(sum.rest.map(|rest| rest.until) >= latest);
            prop_assert!(turned.rest.map(|rest| rest.until) >= latest);
            // What stands is not void itself. (Its end may be that of a rest which a reset made void, where a later
            // rest, too short to outlast a recovery, had taken that end over before the reset was heard of.)
            for rest in [&sum.rest, &turned.rest] {
                prop_assert!(rest.is_some() || latest.is_none());
                prop_assert!(rest.as_ref().is_none_or(lives));
            }
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
        let known = News {
            rest: Some(rest(1000, 9000, 1)),
            cleared: Some(Stamp(500)),
            bar: Some(BarNews { at: Stamp(600), bar: Bar::Barred }),
            ..token.clone()
        };
        let allowed = |at| News { bar: Some(BarNews { at: Stamp(at), bar: Bar::Allowed }), ..token.clone() };
        for (what, news, adds) in [
            ("nothing", token.clone(), false),
            ("the same by another clock", News { rest: Some(rest(1003, 9003, 1)), ..token.clone() }, false),
            ("a later end", News { rest: Some(rest(1000, 9100, 1)), ..token.clone() }, true),
            ("another failure", News { rest: Some(rest(1001, 9001, 2)), ..token.clone() }, true),
            ("a reset that ends it, just after", News { cleared: Some(Stamp(1001)), ..token.clone() }, true),
            ("an old reset", News { cleared: Some(Stamp(503)), ..token.clone() }, false),
            ("a decision just after another", allowed(601), true),
            ("a decision of before", allowed(599), false),
            ("the bar itself", known.clone(), true),
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
                "the later end, the later count",
                vec![resting(1000, 9000, 3), resting(2000, 4000, 1)],
                Some(rest(2000, 9000, 1)),
            ),
            ("a reset wins over older news", vec![resting(1000, 9000, 3), cleared(1000)], None),
            ("also over older news that come later", vec![cleared(5000), resting(4999, 90_000, 3)], None),
            (
                "but not over newer ones",
                vec![cleared(5000), resting(5001, 6000, 1)],
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
