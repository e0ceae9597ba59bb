use std::time::Duration;

use super::Moment;
use super::limits::Lent;
use crate::Remaining;

/// What is told to be left of a token's quota, less the calls on their way.
///
/// An answer says what was left when it was written. Of the calls that were out at any time while its own was, nobody
/// knows which came before it and which come after it; all that had ended when its own was lent came before. So what it
/// says, less all those, is there in any case, and stays there but for what is lent later.
#[derive(Debug)]
pub(super) struct Quota {
    /// So much is there in any case.
    left: u32,
    /// How many were lent since the counting began.
    lends: u32,
    /// How many of those are out.
    out: u32,
    /// Those that were out when it began, until they end: some of them may have told by then.
    early: u32,
    /// Until when those are waited for: of some only the body may still be under way, for hours.
    early_until: Moment,
    /// When there is more: one at least, as some tell when the quota is full again and some when the next call may be
    /// made. Before all time where that was not told, or has been used.
    more_at: Moment,
    /// The most that was ever told.
    most: u32,
    /// How often the last that was out was waited for and told of half the most, since one was told to be empty for
    /// longer than the telling took.
    in_vain: u32,
}

/// What a counted lend remembers: how many had ended before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended(u32);

impl Quota {
    /// What was out before the counting began has arrived by then.
    const ARRIVES_WITHIN: Duration = Duration::from_secs(30);

    /// Begins to count, with so many out.
    pub(super) fn new(out: u32, now: Moment) -> Self {
        Self {
            left: 0,
            lends: 0,
            out: 0,
            early: out,
            early_until: now.after(Self::ARRIVES_WITHIN),
            more_at: Moment::BEFORE,
            most: 0,
            in_vain: 0,
        }
    }

    pub(super) fn lend(&mut self, now: Moment) -> Ended {
        if self.has_more(now) {
            self.left = self.left.max(1);
            self.more_at = Moment::BEFORE;
        }
        self.left = self.left.saturating_sub(1);
        let ended = Ended(self.lends.wrapping_sub(self.out));
        self.lends = self.lends.wrapping_add(1);
        self.out += 1;
        ended
    }

    /// A lend was never used.
    pub(super) fn take_back(&mut self, lent: Lent) {
        self.end(lent);
        if lent.ended.is_some() {
            self.out = self.out.saturating_sub(1);
            self.left = self.left.saturating_add(1);
        }
    }

    /// A lend was answered, or will not be.
    pub(super) fn answered(&mut self, lent: Lent, told: Option<Remaining>, now: Moment) {
        let unsure = match lent.ended {
            Some(Ended(ended)) => {
                self.out = self.out.saturating_sub(1);
                self.lends.wrapping_sub(ended).saturating_sub(1)
            }
            // It is one of them itself.
            None => self.lends.saturating_add(self.early.saturating_sub(1)),
        };
        let Some(Remaining { calls, reset }) = told else { return };
        self.more_at = more_at(lent.at, reset, now);
        let waited = self.left == 0 && self.out == 0 && self.most > 0;
        self.most = self.most.max(calls);
        let is_renewed = self.has_more(now);
        if calls == 0 && !is_renewed {
            self.in_vain = 0;
        } else if waited && calls > 0 && calls >= self.most / 2 {
            self.in_vain = self.in_vain.saturating_add(1);
        }
        let calls = if is_renewed { calls.max(1) } else { calls };
        // Others may use the token too, or its quota be another: never more than the answer says.
        self.left = self.left.max(calls.saturating_sub(unsure)).min(calls);
    }

    /// A lease has ended.
    pub(super) fn end(&mut self, lent: Lent) {
        if lent.ended.is_none() {
            self.early = self.early.saturating_sub(1);
        }
    }

    /// Whether all that is left is out, so that the next answer has to be waited for.
    pub(super) fn is_out(&self, now: Moment) -> bool {
        let is_awaited = self.out > 0 || self.early > 0 && now < self.early_until;
        self.left == 0 && is_awaited && !self.refills_at_once() && !self.has_more(now)
    }

    /// Where all that is left is out: until when at most, if no answer comes. None where only an answer tells.
    pub(super) fn out_until(&self) -> Option<Moment> {
        let early = (self.out == 0).then_some(self.early_until);
        self.more_at().into_iter().chain(early).min()
    }

    /// From when on there is more.
    fn more_at(&self) -> Option<Moment> {
        Some(self.more_at).filter(|&at| at > Moment::BEFORE)
    }

    /// Whether there is more by the time an answer comes: what it says is left says nothing then.
    fn refills_at_once(&self) -> bool {
        self.in_vain >= 8
    }

    fn has_more(&self, now: Moment) -> bool {
        self.more_at().is_some_and(|at| at <= now)
    }
}

/// When there is more of a quota whose answer, to a call that was lent at `lent`, said `reset`. That counts from when it
/// was written: from the answer's coming, where what that loses is a hundredth of it; else from the middle of the call, as
/// a limit is looked at before the work is done.
pub(super) fn more_at(lent: Moment, reset: Duration, now: Moment) -> Moment {
    if reset.is_zero() {
        return Moment::BEFORE;
    }
    let took = lent.until(now);
    let written = (reset / 100).clamp(took / 2, took).as_nanos();
    // In whole milliseconds, as timers go.
    let written = u64::try_from(written.div_ceil(1_000_000)).unwrap_or(u64::MAX);
    lent.after(Duration::from_millis(written)).after(reset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::BEFORE.after(Duration::from_millis(millis))
    }

    fn remaining(calls: u32) -> Option<Remaining> {
        Some(Remaining { calls, reset: Duration::ZERO })
    }

    #[test]
    fn a_reset_counts_from_the_answer_where_it_is_long_and_from_the_middle_of_the_call_where_it_is_short() {
        for (took, reset, more) in [
            (100, 500, 1550),
            (100, 7_000, 8_070),
            (100, 60_000, 61_100),
            (101, 500, 1551),
            (0, 500, 1500),
            (9_000, 500, 6_000),
        ] {
            let told = more_at(at(1000), Duration::from_millis(reset), at(1000 + took));
            assert_eq!(told, at(more), "{reset} ms told after {took} ms");
        }
        assert_eq!(more_at(at(1000), Duration::ZERO, at(1100)), Moment::BEFORE);
    }

    #[derive(Clone, Copy, Debug)]
    struct Call {
        lent: Lent,
        told: Option<u32>,
    }

    proptest! {
        /// In whatever order calls arrive and are answered, none arrives for which nothing is left, and all that is
        /// left gets used.
        #[test]
        fn no_more_is_lent_than_there_is(
            mut left in 1_u32..40,
            steps in prop::collection::vec((0_u8..4, any::<prop::sample::Index>()), 1..300),
        ) {
            let mut quota = Quota::new(1, at(1));
            quota.answered(Lent { nth: 1, at: at(1), ended: None }, remaining(left), at(1));
            quota.end(Lent { nth: 1, at: at(1), ended: None });
            let (mut is_empty, mut out) = (false, Vec::<Call>::new());
            let steps = steps.into_iter().map(|(what, which)| (what, Some(which)));
            let end = (0..1000_u32).map(|step| ((step % 4) as u8, None));
            for (what, which) in steps.chain(end) {
                let which = which.map_or(0, |which| which.index(out.len().max(1)));
                match (what, out.get(which).copied()) {
                    (0 | 1, _) if !is_empty && !quota.is_out(at(1)) => {
                        let lent = Lent { nth: 0, at: at(1), ended: Some(quota.lend(at(1))) };
                        out.push(Call { lent, told: None });
                    }
                    (2, Some(call)) if call.told.is_none() => {
                        prop_assert!(left > 0, "refused");
                        left -= 1;
                        out[which].told = Some(left);
                    }
                    (3, Some(Call { lent, told: Some(told) })) => {
                        out.remove(which);
                        is_empty |= told == 0;
                        quota.answered(lent, remaining(told), at(1));
                    }
                    _ => {}
                }
            }
            prop_assert_eq!((left, out.len()), (0, 0));
        }
    }
}
