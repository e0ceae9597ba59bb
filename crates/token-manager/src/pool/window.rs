use std::time::Duration;

use super::moment::Moment;
use super::small;

/// One token's lends in the last `per`: a ring with the moment of each chunk's latest lend, so that it needs at most
/// 256 stamps whatever the limit. A chunk leaves the window when its latest lend does, so the count is never below the
/// truth, and with chunks of one it is the truth.
///
/// The upstream counts a call when it arrives, which is before its answer. So an answer moves its lend's stamp on: a
/// call that is quicker on its way than the one whose place it takes would be one too many. It moves it by a hundredth
/// of the window at most, the most that is given away for that: where answers take longer than that, what is known of
/// the arrival is not worth it.
#[derive(Debug)]
pub(super) struct Window {
    count: u32,
    chunk: u32,
    per: Duration,
    stamps: Box<[Moment]>,
    oldest: u32,
    chunks: u32,
    /// Lends in the newest chunk; all others are full.
    newest_lends: u32,
}

impl Window {
    const STAMPS: u32 = 256;

    /// `count` and `per` are above zero.
    pub(super) fn new(count: u32, per: Duration) -> Self {
        let chunk = count.div_ceil(Self::STAMPS);
        let stamps = vec![Moment::BEFORE; count.div_ceil(chunk) as usize].into();
        Self { count, chunk, per, stamps, oldest: 0, chunks: 0, newest_lends: 0 }
    }

    /// Its lends, the oldest first.
    pub(super) fn lends(&self) -> Vec<Moment> {
        (0..self.used()).map(|lend| self.stamp(lend / self.chunk)).collect()
    }

    /// Counts a lend.
    pub(super) fn lend(&mut self, now: Moment) {
        self.forget(now);
        self.add(now);
    }

    /// Takes back a lend of this moment that was never used, where that is sure to leave no later one
    /// uncounted: where it is among the newest. Otherwise it stays counted.
    pub(super) fn take_back(&mut self, lent: Moment) {
        if self.chunks == 0 || self.stamp(self.chunks - 1) != lent {
            return;
        }
        self.newest_lends -= 1;
        if self.newest_lends == 0 {
            self.chunks -= 1;
            self.newest_lends = if self.chunks == 0 { 0 } else { self.chunk };
        }
    }

    /// The lend `later` lends before the latest, made at `lent`, is answered.
    pub(super) fn answered(&mut self, later: u32, lent: Moment, now: Moment) {
        self.forget(now);
        let chunk = match later.checked_sub(self.newest_lends) {
            None => 0,
            Some(later) => 1 + later / self.chunk,
        };
        let Some(first) = self.chunks.checked_sub(1 + chunk) else { return };
        let counted = now.min(lent.after(self.per / 100));
        // Those behind it do not leave before it.
        for chunk in first..self.chunks {
            if self.stamp(chunk) >= counted {
                break;
            }
            let slot = self.slot(chunk);
            self.stamps[slot] = counted;
        }
    }

    /// The moment from which the limit allows a lend: now if it does already.
    pub(super) fn free_at(&mut self, now: Moment) -> Moment {
        self.forget(now);
        self.serves_at(0, now)
    }

    /// The moment at which the limit allows lend number `nth` (0 is the next), if each is made as soon as it
    /// may be, and the first not before `from`.
    pub(super) fn serves_at(&self, nth: u32, from: Moment) -> Moment {
        let (round, turn) = (nth / self.count, nth % self.count);
        let free = self.count - self.used().min(self.count);
        let first = match turn.checked_sub(free) {
            Some(lend) => self.stamp(lend / self.chunk).after(self.per).max(from),
            None => from,
        };
        first.after(self.per.saturating_mul(round))
    }

    fn used(&self) -> u32 {
        if self.chunks == 0 { 0 } else { (self.chunks - 1) * self.chunk + self.newest_lends }
    }

    fn forget(&mut self, now: Moment) {
        while self.chunks > 0 && self.stamp(0).after(self.per) <= now {
            self.oldest = (self.oldest + 1) % small(self.stamps.len());
            self.chunks -= 1;
        }
    }

    fn add(&mut self, now: Moment) {
        if self.chunks == 0 || self.newest_lends == self.chunk {
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

    fn window(count: u32, per_millis: u64) -> Window {
        Window::new(count, Duration::from_millis(per_millis))
    }

    #[test]
    fn up_to_256_the_window_slides_exactly() {
        let mut window = window(3, 100);
        for (now, free) in [
            (1000, true),
            (1010, true),
            (1050, true),
            (1099, false),
            (1100, true),
            (1109, false),
            (1110, true),
        ] {
            assert_eq!(window.free_at(at(now)) <= at(now), free, "at {now} ms");
            if free {
                window.lend(at(now));
            }
        }
        assert_eq!(window.free_at(at(1111)), at(1150));
    }

    #[test]
    fn the_nth_lend_from_now_is_foreseen() {
        let mut window = window(2, 100);
        window.lend(at(1000));
        assert_eq!(window.free_at(at(1040)), at(1040));
        window.lend(at(1040));
        let foreseen: Vec<_> = (0..5).map(|nth| window.serves_at(nth, at(1040))).collect();
        assert_eq!(foreseen, [at(1100), at(1140), at(1200), at(1240), at(1300)]);
        let rested: Vec<_> = (0..4).map(|nth| window.serves_at(nth, at(1120))).collect();
        assert_eq!(rested, [at(1120), at(1140), at(1220), at(1240)]);
    }

    #[test]
    fn a_lend_that_was_not_used_is_taken_back_only_where_none_goes_uncounted() {
        let mut window = window(2, 100);
        window.lend(at(1000));
        window.take_back(at(1000));
        assert_eq!(window.used(), 0);
        window.lend(at(1000));
        window.lend(at(1050));
        window.take_back(at(1000));
        assert_eq!(window.used(), 2, "forgetting the lend of 1050 would allow three in 100 ms");
    }

    #[test]
    fn an_answer_moves_its_lend_on_by_a_hundredth_of_the_window_at_most() {
        let mut window = window(3, 60_000);
        for lent in [1000, 2000, 3000] {
            window.lend(at(lent));
        }
        window.answered(1, at(2000), at(2130));
        window.answered(2, at(1000), at(9000));
        assert_eq!(window.lends(), [at(1600), at(2130), at(3000)]);
        assert_eq!(window.free_at(at(61_000)), at(61_600));
        window.answered(3, at(900), at(9000));
        assert_eq!(window.lends(), [at(1600), at(2130), at(3000)], "that one has left the window");
    }

    #[test]
    fn in_chunks_an_answer_moves_the_chunk_of_its_lend() {
        let mut window = window(512, 60_000);
        for lent in 0..5 {
            window.lend(at(1000 * lent));
        }
        window.answered(2, at(2000), at(2100));
        window.answered(1, at(3000), at(3050));
        assert_eq!(window.lends(), [1000, 1000, 3050, 3050, 4000].map(at));
    }

    proptest! {
        #[test]
        fn no_window_ever_holds_more_than_the_limit(
            count in prop::sample::select(vec![1_u32, 2, 7, 255, 256, 257, 300, 511, 513, 1000]),
            steps in prop::collection::vec(prop::sample::select(vec![0_u64, 0, 0, 0, 1, 3, 40, 150]), 1..1500),
        ) {
            let (mut window, mut lends, mut now) = (window(count, 100), Vec::new(), 1000);
            for step in steps {
                now += step;
                let in_window = lends.iter().rev().take_while(|&&lent| lent + 100 > now).count();
                prop_assert!(in_window <= count as usize);
                let free = window.free_at(at(now)) <= at(now);
                if in_window == count as usize {
                    prop_assert!(!free, "the limit is used up");
                }
                if count <= 256 {
                    prop_assert_eq!(free, in_window < count as usize, "exact");
                }
                if free {
                    window.lend(at(now));
                    lends.push(now);
                }
            }
        }
    }
}
