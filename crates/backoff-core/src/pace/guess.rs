//! What pace to keep after the first refusals, where another would be dear.

use super::search::slower;
use super::usage::{Filled, SECOND, Since};
use super::{Known, Pace};

impl Pace {
    /// The seconds for which APIs limit their calls: most by a unit...
    const UNITS: [u64; 5] = [1, 10, 60, 3600, 86_400];
    /// ... and some by a part of an hour.
    const COMMON_WINDOWS: [u64; 8] = [1, 10, 60, 300, 600, 900, 3600, 86_400];

    /// Whether the upstream itself made the rest so long: a short one may be the cool-down's, and behind it may stand a
    /// bucket, which for a while grants more than it will.
    pub(super) const fn is_long(&self) -> bool {
        self.cost >= 10 * SECOND
    }

    /// A dear refusal, while little is known: better a guess than another such. Returns whether there is one.
    pub(super) fn guess(&mut self, now: u64) -> bool {
        let Filled { granted, within, .. } = self.filled;
        let usual = within / u64::from(granted.max(1));
        if granted < Self::ENOUGH || usual == 0 || self.cost / usual < Self::DEAR {
            return false;
        }
        let guess = if self.is_long() { self.by_window() } else { None };
        if let Some(interval) = guess {
            self.fill_window(interval, granted);
        } else if self.known == Known::Nothing && within >= self.cost / 4 {
            self.keep_to_usual(usual);
        } else {
            return false;
        }
        self.meter.empty(now);
        true
    }

    /// What was granted from when nothing was counted may have filled a window. Returns the interval at which that is filled,
    /// so far as it is known: a refusal tells that it is not shorter than the time before, the next success that it is not
    /// longer than that and the rest.
    fn by_window(&self) -> Option<u64> {
        let Filled { granted, within, since } = self.filled;
        let longest = within.saturating_add(self.cost);
        let common = |windows: &[u64]| {
            let mut windows = windows.iter().map(|seconds| seconds * SECOND);
            windows.find(|&window| window >= within).filter(|&window| window <= longest)
        };
        let window = match since {
            Since::Start => common(&Self::UNITS)?,
            // The same again: that is what the window holds.
            Since::Rest(before) if before.abs_diff(granted) <= granted / 20 => {
                common(&Self::COMMON_WINDOWS).unwrap_or(longest)
            }
            // Not as many: it was the rate.
            Since::Rest(_) => slower(within, 30),
            Since::Before => return None,
        };
        Some((window / u64::from(granted.max(1))).max(1))
    }

    fn fill_window(&mut self, interval: u64, granted: u32) {
        self.known = Known::Guessed;
        self.risky = interval;
        // One call fewer than fits, and a hundredth at least: they do not all take equally long.
        self.whole = slower(interval, (1000 / u64::from(granted)).max(10));
        self.safe = self.whole;
        self.granted = granted;
        self.means = [0; 4];
        self.recent = self.recent.over(granted);
        self.recent.mean = self.whole;
        self.window = granted;
        self.share = Self::WHOLE;
        self.apply();
    }

    /// What was used for less than a quarter of the time that it rested was used in a burst: that is no rate.
    fn keep_to_usual(&mut self, usual: u64) {
        self.known = Known::Usual;
        self.whole = slower(usual, 40);
        self.window = u32::try_from(self.cost / usual).unwrap_or(u32::MAX);
        self.meter.interval = self.whole;
        self.meter.credit = self.window / 2;
    }
}
