mod explore;
mod guess;
mod learned;
mod lesson;
mod meter;
mod search;
#[cfg(test)]
mod tests;
mod usage;

use core::time::Duration;

pub use learned::{Bound, LearnedLimit};
pub use lesson::Lesson;
use lesson::News;
use meter::Meter;
use search::stepped_back;
use usage::{Epoch, Fall, Filled, Recent, Since, Trial};

/// What a token's refusals have taught of the limit that its upstream holds it to, and the pace that follows.
///
/// A limit is met by being refused, and every refusal tells something: so many calls were granted since the one
/// before. For a token bucket that is its rate, exactly; for a window it is a lower bound, and the pace at which
/// the refusal came is an upper one. The pace is searched between the two, then a little above, at intervals that
/// grow with what a refusal costs: after a block of a minute one token of a pool looks for more every half hour, and
/// the others follow it. A limit that has fallen all at once may soon be what it was: that is tried earlier.
///
/// Made at a token's first refusal, and paces nothing until the limit can be told. It holds a few numbers and
/// reads no clock: every `now` is the time since any fixed start, and one that goes back counts as standing still.
///
/// - [`allows_from`](Self::allows_from) is when the pace allows the next lend: a generic cell rate algorithm whose
///   credit is learned too, since a bucket keeps what was not used and a window does not.
/// - [`lent`](Self::lent), [`refused`](Self::refused) and [`succeeded`](Self::succeeded) are told what happened.
/// - A [`Lesson`] is what the refusal of one token teaches the others of about the same pace.
///
/// ```
/// use core::time::Duration;
/// use tidegate_backoff_core::Pace;
///
/// // A bucket of 2 calls a second and a burst of 20: the first refusal, then one after 40 calls and 20 s.
/// let mut pace = Pace::new(20, Duration::ZERO, Duration::ZERO);
/// pace.refused(Duration::ZERO);
/// assert_eq!(pace.interval(), None);
/// for call in 1..=40 {
///     let now = Duration::from_millis(500) * call;
///     pace.lent(now);
///     pace.succeeded(now);
/// }
/// pace.lent(Duration::from_secs(20));
/// pace.refused(Duration::from_secs(20));
/// assert_eq!(pace.interval(), Some(Duration::from_millis(500)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    meter: Meter,
    known: Known,
    /// The interval at which the whole limit is used; 0 while there is no pace.
    whole: u64,
    /// The slowest interval that is known to be safe, or believed so.
    safe: u64,
    /// The interval at which a refusal came.
    risky: u64,
    trial: Trial,
    epoch: Epoch,
    /// The mean intervals of the latest epochs between two refusals, 0 for none.
    means: [u64; 4],
    recent: Recent,
    /// When the rest began that still lasts.
    refused_at: Option<u64>,
    /// When it was to end; 0 where that was not told.
    rests_until: u64,
    /// How long the latest rest lasted, from its refusal to the next success.
    cost: u64,
    /// What was granted before the latest rest.
    granted: u32,
    /// About how many calls a window holds, where refusals are dear; 0 where that is not known.
    window: u32,
    /// How much of it is paced, in thousandths: the rest may be used in bursts.
    share: u32,
    /// Refusals that came too soon after one another to tell a rate.
    strikes: u32,
    /// Raises in a row beyond what was ever refused.
    growth: u32,
    fall: Fall,
    /// How many trials to let pass before credit is tried again, and how many to the next.
    wary: (u32, u32),
    /// The latest lend used credit.
    early: bool,
    filled: Filled,
    /// It was lent since the latest refusal: what is refused now is not what was granted before.
    was_probed: bool,
}

/// How much is known of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing: no pace.
    Nothing,
    /// What was lent before the first refusal, which had a dear rest.
    Usual,
    /// So many calls seem to fill a window of a common length.
    Guessed,
    /// A rate that was granted, rests included: the limit may be far above.
    Floor,
    /// A rate that was refused.
    Ceiling,
}

impl Pace {
    /// At a token's first refusal: `lends` is how many calls were made with it up to now, in `age` at most.
    pub fn new(lends: u32, age: Duration, now: Duration) -> Self {
        let now = nanos(now);
        Self {
            meter: Meter::UNPACED,
            known: Known::Nothing,
            whole: 0,
            safe: 0,
            risky: 0,
            trial: Trial::from(now),
            epoch: Epoch { granted: 1, ..Epoch::idle(now) },
            means: [0; 4],
            recent: Recent::new(lends, now),
            refused_at: None,
            rests_until: 0,
            cost: 0,
            granted: 0,
            window: 0,
            share: Self::WHOLE,
            strikes: 0,
            growth: 0,
            fall: Fall::NONE,
            wary: (0, 1),
            early: false,
            filled: Filled { granted: lends, within: nanos(age), since: Since::Start },
            was_probed: false,
        }
    }

    /// The time between two lends at which the whole limit is used; none while nothing is known.
    pub fn interval(&self) -> Option<Duration> {
        self.is_paced().then(|| Duration::from_nanos(self.whole))
    }

    /// From when the pace allows a lend, which may be long past.
    pub const fn allows_from(&self) -> Duration {
        Duration::from_nanos(self.meter.allows_from())
    }

    /// The moment from which the pace allows lend number `nth` (0 is the next), if each is made as soon as it may
    /// be, and the first not before `from`.
    pub const fn serves_at(&self, nth: u32, from: Duration) -> Duration {
        Duration::from_nanos(self.meter.serves_at(nth, nanos(from)))
    }

    /// Whether it rests: it was refused, and no success has followed. The success has to be told.
    pub const fn is_resting(&self) -> bool {
        self.refused_at.is_some()
    }

    /// Whether a refusal now is more than the limit that is known can explain: it comes though the token was used at
    /// less than two thirds of its pace of late.
    pub const fn is_surprised(&self) -> bool {
        self.is_paced() && self.recent.mean / 3 * 2 > self.whole
    }

    const fn is_paced(&self) -> bool {
        self.whole != 0
    }

    /// A lend. Returns what it says of others: that this one tries a faster pace, or has found one to be granted.
    pub fn lent(&mut self, now: Duration) -> Option<Lesson> {
        let now = nanos(now);
        let gap = now.saturating_sub(self.recent.last);
        let timing = self.meter.timing(now);
        if self.was_unused(now) {
            let is_known = self.is_paced() || self.is_resting();
            if is_known || self.epoch.note_unused(gap, now) {
                self.epoch = Epoch::idle(now);
            }
        }
        if self.refused_at.is_none() {
            self.recent.note(gap, self.epoch.granted);
        }
        self.recent.last = now;
        self.epoch.granted = self.epoch.granted.saturating_add(1);
        self.trial.lends = self.trial.lends.saturating_add(1);
        self.was_probed |= self.refused_at.is_some();
        if !self.is_paced() {
            return None;
        }
        self.trial.note(timing);
        self.early = self.meter.is_early(now);
        let lost = self.meter.lost(now);
        self.meter.lend(now);
        if self.refused_at.is_some() {
            return None;
        }
        self.share_window(timing, lost);
        self.end_trial(now)
    }

    /// Whether nobody wanted the token for so long before a lend now that what was granted says little of the limit.
    fn was_unused(&self, now: u64) -> bool {
        match self.refused_at {
            Some(_) if self.rests_until == 0 => false,
            Some(_) if self.is_paced() => now.saturating_sub(self.rests_until) > self.whole.saturating_mul(4),
            Some(_) => self.recent.is_idle(now.saturating_sub(self.rests_until)),
            None if self.is_paced() => self.meter.was_unused(now),
            None => self.recent.is_idle(now.saturating_sub(self.recent.last)),
        }
    }

    /// A lend that was never used.
    pub fn taken_back(&mut self) {
        self.epoch.granted = self.epoch.granted.saturating_sub(1);
        self.trial.lends = self.trial.lends.saturating_sub(1);
        self.meter.take_back();
    }

    /// The upstream has refused a call for its rate. Returns what that says of others.
    pub fn refused(&mut self, now: Duration) -> Option<Lesson> {
        let now = nanos(now);
        self.epoch.granted = self.epoch.granted.saturating_sub(1);
        if !self.was_probed {
            self.filled.granted = self.filled.granted.saturating_sub(1);
        }
        let (pace, knew) = (self.whole, matches!(self.known, Known::Floor | Known::Ceiling));
        if self.refused_at.is_none() {
            self.refused_at = Some(now);
            self.rests_until = 0;
            match self.known {
                Known::Nothing => {}
                Known::Usual | Known::Guessed => {
                    // The success with which it began was one more, and this one was none.
                    let since = Since::Rest(self.filled.granted);
                    self.filled = Filled { granted: self.trial.lends, within: self.trial.lasted(now), since };
                    self.was_probed = false;
                }
                Known::Floor | Known::Ceiling => self.filled = Filled::NOTHING,
            }
            if !self.fall_back(now) {
                self.learn(now);
            }
            self.growth = 0;
            self.trial = Trial::from(now);
        }
        self.meter.empty(now);
        (knew && self.is_dear() && self.whole > pace).then(|| self.lesson(pace, News::Refused))
    }

    /// The rest was over then: the token could have been lent. What comes later is nothing that the refusal has cost, since
    /// nobody asked. Told before the lend that follows; without it, all time to the next success is the cost.
    pub fn rests_until(&mut self, until: Duration) {
        self.rests_until = self.rests_until.max(nanos(until));
    }

    /// A call has succeeded that was lent after the latest refusal. Returns what the end of a rest says of others.
    pub fn succeeded(&mut self, now: Duration) -> Option<Lesson> {
        let now = nanos(now);
        let until = if self.was_unused(now) { self.rests_until } else { now };
        let refused_at = self.refused_at.take()?;
        self.cost = until.saturating_sub(refused_at);
        self.note_use_before();
        let guessed = self.guess(now);
        self.filled.since = Since::Before;
        if guessed || self.known == Known::Nothing {
            // Nothing more is known than that.
        } else if self.is_dear() {
            // What was lent before the block is in no window any more.
            self.recent.mean = self.whole;
            if self.known == Known::Ceiling {
                self.slow_down_to(stepped_back(self.risky));
            }
            self.size_window();
        } else {
            self.apply();
        }
        self.trial = Trial::from(now);
        self.is_paced().then(|| self.lesson(self.whole, News::Returned(self.cost)))
    }
}

const fn nanos(time: Duration) -> u64 {
    let nanos = time.as_nanos();
    #[expect(clippy::cast_possible_truncation, reason = "compared before")]
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}
