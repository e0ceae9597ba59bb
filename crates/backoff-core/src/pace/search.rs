//! Which pace follows from what was granted and what was refused.

use super::meter::Timing;
use super::usage::{Begins, Epoch, Filled, Trial};
use super::{Known, Lesson, Pace};

impl Pace {
    /// A rest this many lends long, or longer, is dear.
    pub(super) const DEAR: u64 = 10;
    /// Fewer grants tell no rate.
    pub(super) const ENOUGH: u32 = 8;
    /// A pace is tried for thirty times what its refusal would cost...
    pub(super) const PATIENCE: u64 = 30;
    /// ... and for so many lends.
    pub(super) const TRIAL: u32 = 60;
    /// Where the limit is known to be far off, less is enough.
    pub(super) const SHORT_TRIAL: u32 = 20;
    const CLIMBING_TRIAL: u32 = 10;
    /// How much of a dear limit is paced at least, in thousandths: the rest is for bursts.
    const LEAST_SHARE: u32 = 300;
    pub(super) const WHOLE: u32 = 1000;

    /// Whether a refusal costs so much that it is worth to stay well below.
    pub(super) const fn is_dear(&self) -> bool {
        self.whole != 0 && self.cost / self.whole >= Self::DEAR
    }

    /// The first refusal of a rest.
    pub(super) fn learn(&mut self, now: u64) {
        let epoch = self.epoch;
        let early = self.early && self.meter.credit > 0;
        if early {
            self.doubt_credit(now);
        }
        let lightly = self.trial.idle && !self.trial.used(80, self.whole, now);
        let counts = self.is_dear() || !(early || self.is_paced() && lightly);
        if counts && epoch.begins == Begins::Empty && epoch.granted < Self::ENOUGH {
            self.strike();
            return;
        }
        self.epoch = Epoch::empty(now);
        self.strikes = 0;
        self.granted = epoch.granted;
        if !counts {
            return;
        }
        match (epoch.begins, self.known) {
            (Begins::Empty, Known::Nothing | Known::Usual | Known::Guessed) => {
                self.set_floor(epoch.mean(now), epoch.granted);
            }
            (Begins::Empty, Known::Floor | Known::Ceiling) => {
                self.means.rotate_right(1);
                self.means[0] = epoch.mean(now);
                // No limit grants faster than itself, but chance may refuse what it would grant.
                let fastest = self.means.into_iter().filter(|&mean| mean > 0).min();
                self.search(fastest.unwrap_or(self.whole));
            }
            (Begins::Idle, Known::Nothing | Known::Usual | Known::Guessed) => {}
            // After hardly any use it says nothing of the pace.
            (Begins::Idle, Known::Floor | Known::Ceiling)
                if epoch.granted < Self::ENOUGH || self.is_surprised() => {}
            (Begins::Idle, Known::Floor | Known::Ceiling) => self.search(slower(self.whole, 40)),
        }
        self.apply();
    }

    /// A lend that used credit was refused. What came before it in one go is what can be saved up.
    fn doubt_credit(&mut self, now: u64) {
        let Epoch { since, granted, begins, .. } = self.epoch;
        let paced = u32::try_from(now.saturating_sub(since) / self.meter.interval).unwrap_or(u32::MAX);
        self.meter.credit = match begins {
            Begins::Idle => self.meter.credit.min(granted.saturating_sub(paced).saturating_sub(1)),
            Begins::Empty => self.meter.credit / 2,
        };
        self.window /= 2;
        let (_, next) = self.wary;
        self.wary = (next, next.saturating_mul(2).min(8));
    }

    /// The first rate that two refusals tell.
    fn set_floor(&mut self, mean: u64, granted: u32) {
        self.known = Known::Floor;
        self.means = [mean, 0, 0, 0];
        self.risky = self.recent.mean.min(mean);
        self.safe = mean;
        self.whole = mean;
        self.recent = self.recent.over(granted);
        let Filled { granted: lends, within: age, .. } = self.filled;
        let burst = u64::from(lends).saturating_sub(age / mean).min(200);
        self.meter.credit = u32::try_from(burst / 2).unwrap_or(0);
    }

    /// A pace was refused, of which `mean` was granted.
    fn search(&mut self, mean: u64) {
        self.known = Known::Ceiling;
        self.risky = self.whole;
        if self.is_dear() {
            // The latest pace may not have been kept for long; but a rare use is no pace.
            self.risky = self.whole.max(self.recent.mean.min(slower(self.whole, 1000)));
        }
        if self.safe <= self.risky || mean < self.safe {
            self.safe = mean.max(slower(self.risky, 2));
        }
        self.whole = if self.is_dear() {
            stepped_back(self.risky)
        } else if self.safe < slower(self.risky, 60) {
            self.safe
        } else {
            (self.safe / 2 + self.risky / 2).max(1)
        };
    }

    /// Refused again too soon to tell a rate: back by 4 %, and twice as far each time.
    fn strike(&mut self) {
        if self.is_paced() {
            self.risky = self.whole;
            self.whole = slower(self.risky, 40 << self.strikes.min(3));
            self.safe = self.safe.max(self.whole);
            self.strikes = self.strikes.saturating_add(1);
            self.apply();
        }
    }

    pub(super) fn slow_down_to(&mut self, interval: u64) {
        self.whole = self.whole.max(interval);
        self.safe = self.safe.max(self.whole);
        self.apply();
    }

    /// What a dear limit's window holds at least: what the rest has cost, or what was granted before it.
    pub(super) fn size_window(&mut self) {
        let cost = u32::try_from(self.cost / self.whole.max(1)).unwrap_or(u32::MAX);
        let seen = cost.min(self.granted);
        self.window = if self.window == 0 { seen } else { self.window.min(seen) };
        self.share = Self::WHOLE;
        self.apply();
    }

    /// The meter follows what is known. Where a refusal is dear, no window must ever hold more than its limit: so much credit
    /// as there is, so much slower is the pace.
    pub(super) fn apply(&mut self) {
        if !self.is_dear() || self.known == Known::Usual {
            self.meter.interval = self.whole;
        } else {
            let rest = u64::from(Self::WHOLE - self.share);
            self.meter.interval = scaled(self.whole, Self::WHOLE.into(), self.share.into());
            self.meter.credit = u32::try_from(u64::from(self.window) * rest * 9 / 10_000).unwrap_or(0);
        }
    }

    /// Where all of the pace is wanted, more of the limit is paced; where bursts come and go, less: each lend that had
    /// to wait is held against one that was lost between them.
    pub(super) fn share_window(&mut self, timing: Timing, lost: u64) {
        if !self.is_dear() || self.window == 0 || self.known == Known::Usual {
            return;
        }
        self.share = match timing {
            Timing::Tight => (self.share + 10).min(Self::WHOLE),
            Timing::Between => return,
            Timing::Idle => {
                let less = u32::try_from(lost).unwrap_or(u32::MAX).saturating_mul(10);
                self.share.saturating_sub(less).max(Self::LEAST_SHARE)
            }
        };
        self.apply();
    }

    /// A pace that was used, and not refused for long enough, is safe: on to the next.
    pub(super) fn end_trial(&mut self, now: u64) -> Option<Lesson> {
        if self.fall.is_tried() {
            return self.stand_up(now);
        }
        if let Some(lesson) = self.get_up(now) {
            return Some(lesson);
        }
        if self.known == Known::Guessed || self.known == Known::Ceiling && self.is_dear() && self.is_long() {
            return self.explore(now);
        }
        // The further the limit seems to be, the shorter the trials.
        let hurry = if self.is_dear() { 0 } else { self.growth.saturating_sub(1).min(3) };
        let patience = self.cost.saturating_mul(Self::PATIENCE) >> hurry;
        let (lends, patience) = match self.known {
            Known::Floor if self.is_dear() => (Self::CLIMBING_TRIAL, self.cost / 8),
            Known::Floor | Known::Ceiling if !self.is_dear() && self.headroom() > 100 => {
                (Self::SHORT_TRIAL, patience)
            }
            _ => (Self::TRIAL >> hurry, patience),
        };
        if self.trial.lends < lends || self.trial.lasted(now) < patience {
            return None;
        }
        let wanted = !self.is_dear() && self.trial.tight >= self.trial.lends - self.trial.lends / 3;
        if wanted || self.trial.used(95, self.whole, now) {
            self.raise();
        }
        if self.trial.idle && self.trial.tight > 0 && !self.is_dear() {
            self.try_credit();
        }
        self.trial = Trial::from(now);
        None
    }

    /// How much faster the refused pace was than this, in thousandths; 1000 where none was.
    fn headroom(&self) -> u64 {
        match self.safe.max(self.whole).saturating_mul(1000).checked_div(self.risky) {
            Some(ratio) => ratio.saturating_sub(1000),
            None => 1000,
        }
    }

    fn raise(&mut self) {
        self.safe = self.whole;
        let most = if self.is_dear() { 120 } else { 500 };
        let headroom = self.headroom();
        let step = if headroom > 10 {
            self.growth = 0;
            let is_careful = self.is_dear() && self.known != Known::Floor;
            (headroom / 2).min(if is_careful { 40 } else { most })
        } else {
            self.growth = self.growth.saturating_add(1);
            (5 << (self.growth - 1).min(7)).min(most)
        };
        self.whole = faster(self.whole, step);
        // What was lent stays in a window for as long, whatever the pace is now.
        if !self.is_dear() {
            self.meter.change(self.whole, self.recent.last);
        }
        self.apply();
    }

    fn try_credit(&mut self) {
        match &mut self.wary.0 {
            0 => self.meter.credit = self.meter.credit.saturating_mul(2).saturating_add(1),
            trials => *trials -= 1,
        }
    }
}

/// The pace to go back to from one that was refused at a high cost.
pub(super) fn stepped_back(interval: u64) -> u64 {
    slower(interval, 30)
}

/// A pace so many thousandths slower.
pub(super) fn slower(interval: u64, thousandths: u64) -> u64 {
    interval.saturating_add(scaled(interval, thousandths, 1000))
}

/// A pace so many thousandths faster: at least a nanosecond between two lends.
pub(super) fn faster(interval: u64, thousandths: u64) -> u64 {
    scaled(interval, 1000, 1000 + thousandths).max(1)
}

fn scaled(interval: u64, by: u64, of: u64) -> u64 {
    u64::try_from(u128::from(interval) * u128::from(by) / u128::from(of)).unwrap_or(u64::MAX)
}
