use std::time::Duration;

use super::moment::Moment;

/// What one token has used of a token bucket that is known: the generic cell rate algorithm.
///
/// The upstream's bucket may have been full until a call arrived, which is before its answer: what flowed over until
/// then is lost there, and so it is here from the answer on. That costs of the burst, a tenth at most, and nothing of the
/// rate.
#[derive(Debug)]
pub(super) struct Bucket {
    interval: Duration,
    /// What the burst allows beyond one call, as the time in which that much flows in.
    credit: Duration,
    /// When the bucket is full again.
    full_at: Moment,
    /// How many it has counted: what was lent before them it knows nothing of.
    lends: u32,
}

impl Bucket {
    /// All three are above zero.
    pub(super) fn new(count: u32, per: Duration, burst: u32) -> Self {
        let nanos = per.as_nanos().div_ceil(count.into());
        let interval = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        Self { interval, credit: interval.saturating_mul(burst - 1), full_at: Moment::BEFORE, lends: 0 }
    }

    /// The lends that have not flowed back, as if they had been made as they do, the oldest first.
    pub(super) fn lends(&self, now: Moment) -> Vec<Moment> {
        let mut lends = Vec::new();
        let mut at = self.full_at;
        while at > now {
            at = at.before(self.interval);
            lends.push(at.min(now));
        }
        lends.reverse();
        lends
    }

    /// Counts a lend.
    pub(super) fn lend(&mut self, now: Moment) {
        self.full_at = self.full_at.max(now).after(self.interval);
        self.lends = self.lends.saturating_add(1);
    }

    /// Takes back a lend that was never used.
    pub(super) fn take_back(&mut self) {
        self.full_at = self.full_at.before(self.interval);
        self.lends = self.lends.saturating_sub(1);
    }

    /// The lend `later` lends before the latest, made at `lent`, is answered.
    pub(super) fn answered(&mut self, later: u32, lent: Moment, now: Moment) {
        if later >= self.lends {
            return;
        }
        let counted = now.min(lent.after(self.credit / 10));
        let owed = self.interval.saturating_mul(later.saturating_add(1));
        self.full_at = self.full_at.max(counted.after(owed));
    }

    /// The moment from which the limit allows a lend, which may be long past.
    pub(super) fn free_at(&self) -> Moment {
        self.full_at.before(self.credit)
    }

    /// The moment at which the limit allows lend number `nth` (0 is the next), if each is made as soon as it
    /// may be, and the first not before `from`.
    pub(super) fn serves_at(&self, nth: u32, from: Moment) -> Moment {
        let first = self.free_at().max(from);
        let owed = self.interval.saturating_mul(nth);
        self.full_at.max(first).after(owed).before(self.credit).max(first)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::BEFORE.after(Duration::from_millis(millis))
    }

    /// Two a second.
    fn bucket(burst: u32) -> Bucket {
        Bucket::new(2, Duration::from_secs(1), burst)
    }

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut bucket = bucket(3);
        let mut lends = Vec::new();
        for now in (10_000..=11_200).step_by(100) {
            while bucket.free_at() <= at(now) {
                bucket.lend(at(now));
                lends.push(now);
            }
        }
        assert_eq!(lends, [10_000, 10_000, 10_000, 10_500, 11_000]);
    }

    #[test]
    fn a_lend_that_was_not_used_is_taken_back() {
        let mut bucket = bucket(1);
        bucket.lend(at(10_000));
        assert_eq!(bucket.free_at(), at(10_500));
        bucket.take_back();
        assert_eq!(bucket.free_at(), at(10_000));
    }

    #[test]
    fn the_nth_lend_from_now_is_foreseen() {
        let mut bucket = bucket(3);
        let foreseen =
            |bucket: &Bucket, from| -> Vec<_> { (0..5).map(|nth| bucket.serves_at(nth, at(from))).collect() };
        assert_eq!(foreseen(&bucket, 9000), [9000, 9000, 9000, 9500, 10_000].map(at));
        (0..3).for_each(|_| bucket.lend(at(10_000)));
        assert_eq!(foreseen(&bucket, 10_100), [10_500, 11_000, 11_500, 12_000, 12_500].map(at));
        assert_eq!(foreseen(&bucket, 11_000), [11_000, 11_000, 11_500, 12_000, 12_500].map(at));
    }

    #[test]
    fn what_flowed_over_until_a_call_arrived_is_lost_but_no_more_than_a_tenth_of_the_burst() {
        let mut bucket = bucket(11);
        bucket.lend(at(10_000));
        bucket.lend(at(10_000));
        bucket.answered(1, at(10_000), at(10_130));
        assert_eq!(bucket.free_at(), at(10_130 + 1000 - 5000));
        bucket.answered(0, at(10_000), at(19_000));
        assert_eq!(bucket.free_at(), at(10_130 + 1000 - 5000), "it was the second that arrived");
        (0..20).for_each(|_| bucket.lend(at(10_131)));
        let full = bucket.free_at();
        bucket.answered(0, at(10_131), at(10_400));
        assert_eq!(bucket.free_at(), full, "nothing flows over while it is used");
    }

    #[test]
    fn what_has_not_flowed_back_is_what_was_lent_of_late() {
        let mut bucket = bucket(4);
        (0..3).for_each(|_| bucket.lend(at(10_000)));
        assert_eq!(bucket.lends(at(10_600)), [10_000, 10_500, 10_600].map(at)[1..]);
        assert_eq!(bucket.lends(at(11_500)), []);
    }

    proptest! {
        /// An upstream's bucket grants every call, whenever it arrives between its lend and its answer, where a tenth
        /// of the burst is as long as an answer takes and no more calls than that are lent while one is out.
        #[test]
        fn whenever_calls_arrive_the_upstream_grants_them(
            steps in prop::collection::vec((0_u64..900, 0_u64..100), 1..200),
        ) {
            let mut bucket = bucket(11);
            let (mut now, mut full_at) = (10_000, 0);
            for (step, way) in steps {
                now += step;
                while bucket.free_at() <= at(now) {
                    bucket.lend(at(now));
                    let arrives = now + way;
                    prop_assert!(full_at <= arrives + 5000, "refused at {arrives}");
                    full_at = full_at.max(arrives) + 500;
                    now += 100;
                    bucket.answered(0, at(now - 100), at(now));
                }
            }
        }
    }
}
