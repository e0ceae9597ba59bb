use super::Moment;
use super::bucket::Bucket;
use super::window::Window;
use crate::Limit;

/// A limit that is known beforehand, and what one token has used of it.
#[derive(Debug)]
pub(super) enum Known {
    Window(Window),
    Bucket(Bucket),
}

impl Known {
    /// Nothing is used yet. None where the limit limits nothing.
    pub(super) fn new(limit: Limit) -> Option<Self> {
        let Limit { count, per, burst } = limit;
        limit.limits().then(|| match burst {
            None => Self::Window(Window::new(count, per)),
            Some(burst) => Self::Bucket(Bucket::new(count, per, burst)),
        })
    }

    /// The same history under another limit: of its lends the latest that the new one has room for.
    pub(super) fn under(&self, limit: Limit, now: Moment) -> Option<Self> {
        let mut known = Self::new(limit)?;
        let lends = match self {
            Self::Window(it) => it.lends(),
            Self::Bucket(it) => it.lends(now),
        };
        let room = limit.burst.unwrap_or(limit.count) as usize;
        lends.iter().skip(lends.len().saturating_sub(room)).for_each(|&lend| known.lend(lend));
        Some(known)
    }

    /// Counts a lend.
    pub(super) fn lend(&mut self, now: Moment) {
        match self {
            Self::Window(it) => it.lend(now),
            Self::Bucket(it) => it.lend(now),
        }
    }

    /// Takes back a lend of this moment that was never used.
    pub(super) fn take_back(&mut self, lent: Moment) {
        match self {
            Self::Window(it) => it.take_back(lent),
            Self::Bucket(it) => it.take_back(),
        }
    }

    /// The lend `later` lends before the latest, made at `lent`, is answered.
    pub(super) fn answered(&mut self, later: u32, lent: Moment, now: Moment) {
        match self {
            Self::Window(it) => it.answered(later, lent, now),
            Self::Bucket(it) => it.answered(later, lent, now),
        }
    }

    /// The moment from which the limit allows a lend, which may be long past.
    pub(super) fn free_at(&mut self, now: Moment) -> Moment {
        match self {
            Self::Window(it) => it.free_at(now),
            Self::Bucket(it) => it.free_at(),
        }
    }

    /// The moment at which the limit allows lend number `nth` (0 is the next), if each is made as soon as it
    /// may be, and the first not before `from`.
    pub(super) fn serves_at(&self, nth: u32, from: Moment) -> Moment {
        match self {
            Self::Window(it) => it.serves_at(nth, from),
            Self::Bucket(it) => it.serves_at(nth, from),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(millis: u64) -> Moment {
        Moment::BEFORE.after(Duration::from_millis(millis))
    }

    #[test]
    fn a_limit_of_nothing_is_none() {
        for limit in [Limit::window(0, SECOND), Limit::window(1, Duration::ZERO), Limit::bucket(1, SECOND, 0)]
        {
            assert!(Known::new(limit).is_none(), "{limit:?}");
        }
    }

    #[test]
    fn another_limit_keeps_the_latest_lends() {
        let mut known = Known::new(Limit::window(4, SECOND)).unwrap();
        for now in [10_000, 10_100, 10_200, 10_300] {
            known.lend(at(now));
        }
        for (limit, free_at) in [
            (Limit::window(2, SECOND), 11_200),
            (Limit::window(5, SECOND), 10_301),
            (Limit::bucket(1, SECOND, 2), 11_200),
            (Limit::bucket(1, SECOND, 1), 11_300),
        ] {
            let mut known = known.under(limit, at(10_301)).unwrap();
            assert_eq!(known.free_at(at(10_301)).max(at(10_301)), at(free_at), "{limit:?}");
            let mut back = known.under(Limit::window(1, SECOND), at(10_301)).unwrap();
            assert!(back.free_at(at(10_301)) > at(10_301), "{limit:?}");
        }
    }
}
