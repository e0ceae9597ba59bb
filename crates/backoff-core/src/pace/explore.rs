//! Trials of more than is known to be granted, where a refusal is dear, and of what was granted once.

use super::search::faster;
use super::usage::{Epoch, Fall, Filled, Since, Trial};
use super::{Known, Lesson, News, Pace};

impl Pace {
    /// Where a refusal is dear, more is tried after thirty times its cost, but then until it comes: each pace for as
    /// long as it takes to fill a window, and each step twice as wide as the one before. A guess is tried as soon as it has
    /// proved safe.
    pub(super) fn explore(&mut self, now: u64) -> Option<Lesson> {
        let lends = self.trial.lends;
        let is_over = match (self.known, self.growth) {
            (Known::Guessed, _) => lends >= self.window.saturating_mul(2),
            (_, 0) => {
                lends >= Self::TRIAL && self.trial.lasted(now) >= self.cost.saturating_mul(Self::PATIENCE)
            }
            _ => lends >= self.window.max(Self::SHORT_TRIAL),
        };
        if !is_over {
            return None;
        }
        let is_wanted = self.trial.used(95, self.whole, now);
        self.known = Known::Ceiling;
        self.trial = Trial::from(now);
        if !is_wanted {
            self.growth = 0;
            return None;
        }
        let lesson = match self.growth {
            0 => self.lesson(self.whole, News::Tries),
            _ => self.lesson(self.safe, News::Granted),
        };
        self.safe = self.whole;
        self.whole = faster(self.whole, (20 << self.growth.min(5)).min(500));
        self.growth = self.growth.saturating_add(1);
        self.apply();
        Some(lesson)
    }

    /// Another was granted more.
    pub(super) fn follow(&mut self, interval: u64, now: u64) {
        self.safe = interval;
        self.whole = interval;
        self.trial = Trial::from(now);
        self.apply();
    }

    /// A rate that was granted for long before the first refusal is one to come back to.
    pub(super) fn note_use_before(&mut self) {
        let Filled { granted, within, since } = self.filled;
        if since == Since::Start && granted >= Self::TRIAL && within >= self.cost.saturating_mul(5) {
            self.fall.from = within / u64::from(granted);
        }
    }

    /// Notes a pace that was kept; or, after a fall, tries the one before it: soon, and then after twice as long each time.
    pub(super) fn get_up(&mut self, now: u64) -> Option<Lesson> {
        if !self.fall.is_down_to(self.whole) {
            self.note_proven();
            return None;
        }
        let fallen = self.fall.note(now);
        let tries = self.fall.tries;
        let is_due = fallen.lends >= Self::SHORT_TRIAL << tries
            && fallen.lasted(now) >= self.cost.saturating_mul(5 << tries)
            && self.trial.used(95, self.whole, now);
        if !is_due {
            return None;
        }
        let lesson = self.lesson(self.whole, News::Tries);
        self.fall.to = self.whole;
        self.whole = self.fall.from;
        self.trial = Trial::from(now);
        self.meter.change(self.whole, now);
        self.apply();
        Some(lesson)
    }

    /// A pace counts that was granted for longer than what was saved up, or left of a window, lets expect.
    fn note_proven(&mut self) {
        let is_known = matches!(self.known, Known::Floor | Known::Ceiling);
        if is_known && self.trial.lends >= self.window.saturating_mul(2).max(Self::SHORT_TRIAL) {
            self.fall = Fall::below(self.whole);
        }
    }

    /// What was granted before a fall is granted again, once it has been for long enough.
    pub(super) fn stand_up(&mut self, now: u64) -> Option<Lesson> {
        if self.trial.lends < self.window.max(Self::SHORT_TRIAL) {
            return None;
        }
        let lesson = self.lesson(self.fall.to, News::Granted);
        self.fall = Fall::below(self.whole);
        self.safe = self.whole;
        self.trial = Trial::from(now);
        Some(lesson)
    }

    /// It is refused: back to what was. Returns whether it was tried.
    pub(super) fn fall_back(&mut self, now: u64) -> bool {
        if !self.fall.is_tried() {
            return false;
        }
        self.whole = self.fall.to;
        self.fall.lasts();
        self.epoch = Epoch::empty(now);
        self.apply();
        true
    }
}
