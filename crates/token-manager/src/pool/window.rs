use std::time::Duration;

use super::moment::Moment;
use super::small;
use crate::Limit;

/// A limit as its windows count it: in chunks of lends, so that a window needs at most 256 stamps whatever
/// the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    count: u32,
    chunk: u32,
    per: Duration,
}

impl Frame {
    const STAMPS: u32 = 256;

    /// None where the limit limits nothing.
    pub(super) fn new(limit: Limit) -> Option<Self> {
        let Limit { count, per } = limit;
        (count > 0 && !per.is_zero()).then(|| Self { count, chunk: count.div_ceil(Self::STAMPS), per })
    }

    fn stamps(self) -> usize {
        self.count.div_ceil(self.chunk) as usize
    }
}

/// One token's lends in the last `per`: a ring with the moment of each chunk's latest lend. A chunk leaves
/// the window when its latest lend does, so the count is never below the truth, and with chunks of one it is
/// the truth.
#[derive(Debug)]
pub(super) struct Window {
    stamps: Box<[Moment]>,
    oldest: u32,
    chunks: u32,
    /// Lends in the newest chunk; all others are full.
    newest_lends: u32,
}

impl Window {
    pub(super) fn new(frame: Frame) -> Self {
        Self { stamps: vec![Moment::BEFORE; frame.stamps()].into(), oldest: 0, chunks: 0, newest_lends: 0 }
    }

    /// The same history under another limit: of its lends the latest that the new one has room for.
    pub(super) fn reframed(&self, old: Frame, new: Frame) -> Self {
        let mut window = Self::new(new);
        let used = self.used(old);
        for lend in used.saturating_sub(new.count)..used {
            window.add(new, self.stamp(lend / old.chunk));
        }
        window
    }

    /// Counts a lend.
    pub(super) fn lend(&mut self, frame: Frame, now: Moment) {
        self.forget(frame, now);
        self.add(frame, now);
    }

    /// Takes back a lend of this moment that was never used, where that is sure to leave no later one
    /// uncounted: where it is among the newest. Otherwise it stays counted.
    pub(super) fn take_back(&mut self, frame: Frame, lent: Moment) {
        if self.chunks == 0 || self.stamp(self.chunks - 1) != lent {
            return;
        }
        self.newest_lends -= 1;
        if self.newest_lends == 0 {
            self.chunks -= 1;
            self.newest_lends = if self.chunks == 0 { 0 } else { frame.chunk };
        }
    }

    /// The moment from which the limit allows a lend: now if it does already.
    pub(super) fn free_at(&mut self, frame: Frame, now: Moment) -> Moment {
        self.forget(frame, now);
        self.serves_at(frame, 0, now)
    }

    /// The moment at which the limit allows lend number `nth` (0 is the next), if each is made as soon as it
    /// may be, and the first not before `from`.
    pub(super) fn serves_at(&self, frame: Frame, nth: u32, from: Moment) -> Moment {
        let (round, turn) = (nth / frame.count, nth % frame.count);
        let free = frame.count - self.used(frame).min(frame.count);
        let first = match turn.checked_sub(free) {
            Some(lend) => self.stamp(lend / frame.chunk).after(frame.per).max(from),
            None => from,
        };
        first.after(frame.per.saturating_mul(round))
    }

    fn used(&self, frame: Frame) -> u32 {
        if self.chunks == 0 { 0 } else { (self.chunks - 1) * frame.chunk + self.newest_lends }
    }

    fn forget(&mut self, frame: Frame, now: Moment) {
        while self.chunks > 0 && self.stamp(0).after(frame.per) <= now {
            self.oldest = (self.oldest + 1) % small(self.stamps.len());
            self.chunks -= 1;
        }
    }

    fn add(&mut self, frame: Frame, now: Moment) {
        if self.chunks == 0 || self.newest_lends == frame.chunk {
            self.chunks += 1;
            self.newest_lends = 0;
        }
        self.newest_lends += 1;
        let newest = self.slot(self.chunks - 1);
        self.stamps[newest] = now;
    }

    fn stamp(&self, chunk: u32) -> Moment {
        self.stamps[self.slot(chunk)]
    }

    fn slot(&self, chunk: u32) -> usize {
        (self.oldest as usize + chunk as usize) % self.stamps.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::BEFORE.after(Duration::from_millis(millis))
    }

    fn frame(count: u32, per_millis: u64) -> Frame {
        Frame::new(Limit { count, per: Duration::from_millis(per_millis) }).unwrap()
    }

    #[test]
    fn a_limit_of_nothing_is_none() {
        assert_eq!(Frame::new(Limit { count: 0, per: Duration::from_secs(1) }), None);
        assert_eq!(Frame::new(Limit { count: 1, per: Duration::ZERO }), None);
    }

    #[test]
    fn up_to_256_the_window_slides_exactly() {
        let frame = frame(3, 100);
        let mut window = Window::new(frame);
        for (now, free) in [
            (1000, true),
            (1010, true),
            (1050, true),
            (1099, false),
            (1100, true),
            (1109, false),
            (1110, true),
        ] {
            assert_eq!(window.free_at(frame, at(now)) <= at(now), free, "at {now} ms");
            if free {
                window.lend(frame, at(now));
            }
        }
        assert_eq!(window.free_at(frame, at(1111)), at(1150));
    }

    #[test]
    fn the_nth_lend_from_now_is_foreseen() {
        let frame = frame(2, 100);
        let mut window = Window::new(frame);
        window.lend(frame, at(1000));
        assert_eq!(window.free_at(frame, at(1040)), at(1040));
        window.lend(frame, at(1040));
        let foreseen: Vec<_> = (0..5).map(|nth| window.serves_at(frame, nth, at(1040))).collect();
        assert_eq!(foreseen, [at(1100), at(1140), at(1200), at(1240), at(1300)]);
        let rested: Vec<_> = (0..4).map(|nth| window.serves_at(frame, nth, at(1120))).collect();
        assert_eq!(rested, [at(1120), at(1140), at(1220), at(1240)]);
    }

    #[test]
    fn a_lend_that_was_not_used_is_taken_back_only_where_none_goes_uncounted() {
        let frame = frame(2, 100);
        let mut window = Window::new(frame);
        window.lend(frame, at(1000));
        window.take_back(frame, at(1000));
        assert_eq!(window.used(frame), 0);
        window.lend(frame, at(1000));
        window.lend(frame, at(1050));
        window.take_back(frame, at(1000));
        assert_eq!(window.used(frame), 2, "forgetting the lend of 1050 would allow three in 100 ms");
    }

    #[test]
    fn another_limit_keeps_the_latest_lends() {
        let (old, new) = (frame(4, 100), frame(2, 100));
        let mut window = Window::new(old);
        for now in [1000, 1010, 1020, 1030] {
            window.lend(old, at(now));
        }
        let mut window = window.reframed(old, new);
        assert_eq!(window.free_at(new, at(1031)), at(1120));
        let mut wider = window.reframed(new, frame(3, 100));
        assert_eq!(wider.free_at(frame(3, 100), at(1031)), at(1031));
    }

    proptest! {
        #[test]
        fn no_window_ever_holds_more_than_the_limit(
            count in prop::sample::select(vec![1_u32, 2, 7, 255, 256, 257, 300, 511, 513, 1000]),
            steps in prop::collection::vec(prop::sample::select(vec![0_u64, 0, 0, 0, 1, 3, 40, 150]), 1..1500),
        ) {
            let frame = frame(count, 100);
            let (mut window, mut lends, mut now) = (Window::new(frame), Vec::new(), 1000);
            for step in steps {
                now += step;
                let in_window = lends.iter().rev().take_while(|&&lent| lent + 100 > now).count();
                prop_assert!(in_window <= count as usize);
                let free = window.free_at(frame, at(now)) <= at(now);
                if in_window == count as usize {
                    prop_assert!(!free, "the limit is used up");
                }
                if count <= 256 {
                    prop_assert_eq!(free, in_window < count as usize, "exact");
                }
                if free {
                    window.lend(frame, at(now));
                    lends.push(now);
                }
            }
        }
    }
}
