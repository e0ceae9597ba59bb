mod meter;
#[cfg(test)]
mod tests;

use core::time::Duration;

use meter::{Meter, Timing};

/// What a token's refusals have taught of the limit that its upstream holds it to, and the pace that follows.
///
/// A limit is met by being refused, and every refusal tells something: so many calls were granted since the one
/// before. For a token bucket that is its rate, exactly; for a window it is a lower bound, and the pace at which
/// the refusal came is an upper one. The pace is searched between the two, then a little above, at intervals that
/// grow with what a refusal costs: after a block of a minute a pool looks for more every half hour, 4 % at a time.
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
    /// The slowest interval that is known to be safe, or believed so.
    safe: u64,
    /// The interval at which a refusal came.
    risky: u64,
    trial: Trial,
    /// Calls granted since a refusal found nothing left.
    since: u64,
    granted: u32,
    recent: Recent,
    /// When the rest began that still lasts.
    refused_at: Option<u64>,
    /// How long the latest rest lasted, from its refusal to the next success.
    cost: u64,
    /// Refusals that came too soon after one another to tell a rate.
    strikes: u32,
    /// Raises in a row beyond what was ever refused.
    growth: u32,
    /// How many trials to let pass before credit is tried again, and how many to the next.
    wary: (u32, u32),
    /// The latest lend used credit.
    early: bool,
    /// Before the first refusal: lends, and in how long.
    first: (u32, u64),
}

/// How much is known of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing: no pace.
    Nothing,
    /// What was lent before the first refusal, which had a dear rest.
    Usual,
    /// A rate that was granted, rests included: the limit may be far above.
    Floor,
    /// A rate that was refused.
    Ceiling,
}

/// A pace is kept for a while before it counts as granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Trial {
    since: u64,
    lends: u32,
    idle: bool,
    tight: bool,
}

impl Trial {
    const fn from(now: u64) -> Self {
        Self { since: now, lends: 0, idle: false, tight: false }
    }
}

/// The mean interval of the latest lends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recent {
    last: u64,
    mean: u64,
    /// Over about how many lends: half of what a window seems to hold, so that the mean lags as a window's own does.
    span: u32,
}

/// What one token's refusal, or its return, says of others that are held to the same limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a lesson is for the other tokens"]
pub struct Lesson {
    /// The pace that the token had.
    pace: u64,
    /// The pace that it stepped back to.
    slower: Option<u64>,
    /// Whether a pace was refused already.
    known: Known,
    /// What the refusal has cost.
    cost: Option<u64>,
}

impl Pace {
    /// A rest this many lends long, or longer, is dear.
    const DEAR: u64 = 10;
    /// Fewer grants tell no rate.
    const ENOUGH: u32 = 8;
    /// A pace is tried for thirty times what its refusal would cost...
    const PATIENCE: u64 = 30;
    /// ... and for so many lends.
    const TRIAL: u32 = 60;
    /// Where the limit is known to be far off, less is enough.
    const SHORT_TRIAL: u32 = 20;
    const CLIMBING_TRIAL: u32 = 10;

    /// At a token's first refusal: `lends` is how many calls were made with it up to now, in `age` at most.
    pub fn new(lends: u32, age: Duration, now: Duration) -> Self {
        let now = nanos(now);
        Self {
            meter: Meter::UNPACED,
            known: Known::Nothing,
            safe: 0,
            risky: 0,
            trial: Trial::from(now),
            since: now,
            granted: 1,
            recent: Recent { last: now, mean: 0, span: span(lends) },
            refused_at: None,
            cost: 0,
            strikes: 0,
            growth: 0,
            wary: (0, 1),
            early: false,
            first: (lends, nanos(age)),
        }
    }

    /// The time between two lends at this pace; none while nothing is known.
    pub fn interval(&self) -> Option<Duration> {
        self.is_paced().then(|| Duration::from_nanos(self.meter.interval))
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
        self.is_paced() && self.recent.mean / 3 * 2 > self.meter.interval
    }

    const fn is_paced(&self) -> bool {
        self.meter.interval != 0
    }

    /// A lend.
    pub fn lent(&mut self, now: Duration) {
        let now = nanos(now);
        self.granted = self.granted.saturating_add(1);
        self.trial.lends = self.trial.lends.saturating_add(1);
        if self.refused_at.is_none() {
            self.recent.note(now, self.granted);
        }
        self.recent.last = now;
        if !self.is_paced() {
            return;
        }
        let timing = self.meter.timing(now);
        self.trial.tight |= timing == Timing::Tight;
        self.trial.idle |= timing == Timing::Idle;
        self.early = self.meter.is_early(now);
        self.meter.lend(now);
        if self.refused_at.is_none() {
            self.end_trial(now);
        }
    }

    /// A lend that was never used.
    pub fn taken_back(&mut self) {
        self.granted = self.granted.saturating_sub(1);
        self.trial.lends = self.trial.lends.saturating_sub(1);
        self.meter.take_back();
    }

    /// The upstream has refused a call for its rate. Returns what that says of others.
    pub fn refused(&mut self, now: Duration) -> Option<Lesson> {
        let now = nanos(now);
        self.granted = self.granted.saturating_sub(1);
        let before = self.meter.interval;
        let knew = matches!(self.known, Known::Floor | Known::Ceiling);
        if self.refused_at.is_none() {
            self.refused_at = Some(now);
            self.learn(now);
            self.growth = 0;
            self.trial = Trial::from(now);
        }
        self.meter.empty(now);
        let slower = self.meter.interval;
        (knew && self.is_dear() && slower > before).then_some(Lesson {
            pace: before,
            slower: Some(slower),
            known: self.known,
            cost: None,
        })
    }

    /// A call has succeeded that was lent after the latest refusal. Returns what the end of a rest says of others.
    pub fn succeeded(&mut self, now: Duration) -> Option<Lesson> {
        let refused_at = self.refused_at.take()?;
        let now = nanos(now);
        self.cost = now.saturating_sub(refused_at);
        if self.known == Known::Nothing {
            self.guess(now);
        }
        if self.is_dear() {
            // What was lent before the block is in no window any more.
            self.recent.mean = self.meter.interval;
            if self.known == Known::Ceiling {
                self.slow_down_to(stepped_back(self.risky));
            }
        }
        self.trial = Trial::from(now);
        self.is_paced().then_some(Lesson {
            pace: self.meter.interval,
            slower: None,
            known: self.known,
            cost: Some(self.cost),
        })
    }

    /// What another token has learned. It counts where both have about the same pace.
    pub fn heed(&mut self, lesson: &Lesson, now: Duration) {
        let now = nanos(now);
        if lesson.known == Known::Ceiling && self.may_be(lesson.slower.unwrap_or(lesson.pace)) {
            self.adopt(lesson.slower.unwrap_or(lesson.pace), now);
            return;
        }
        let alike = self.meter.interval.abs_diff(lesson.pace) < lesson.pace / 10;
        if !alike || self.refused_at.is_some() || matches!(self.known, Known::Nothing | Known::Usual) {
            return;
        }
        if let Some(slower) = lesson.slower.filter(|&slower| self.is_dear() && self.meter.interval < slower) {
            self.known = Known::Ceiling;
            self.risky = self.risky.max(lesson.pace);
            self.slow_down_to(slower);
            self.growth = 0;
            self.trial = Trial::from(now);
            // Its window is as full as the other's was.
            self.meter.hold(now, 4);
        }
        self.cost = lesson.cost.unwrap_or(self.cost);
    }

    /// Whether this may be its limit too, by what little is known of it.
    fn may_be(&self, interval: u64) -> bool {
        match self.known {
            Known::Nothing | Known::Ceiling => false,
            Known::Usual => interval > self.meter.interval && interval / 4 < self.meter.interval,
            Known::Floor => interval > self.risky && interval < self.safe,
        }
    }

    fn adopt(&mut self, interval: u64, now: u64) {
        self.known = Known::Ceiling;
        self.meter.interval = interval;
        self.recent.mean = interval;
        self.safe = self.safe.max(interval);
        self.risky = faster(interval, 30);
        self.growth = 0;
        self.trial = Trial::from(now);
        self.meter.empty(now);
    }

    /// Whether a refusal costs so much that it is worth to stay well below.
    const fn is_dear(&self) -> bool {
        self.is_paced() && self.cost / self.meter.interval >= Self::DEAR
    }

    /// The first refusal was dear: rather the usual rate, if it was sustained, than another.
    fn guess(&mut self, now: u64) {
        let (lends, age) = self.first;
        let usual = age / u64::from(lends.max(1));
        if lends >= Self::ENOUGH && usual > 0 && self.cost / usual >= Self::DEAR {
            self.known = Known::Usual;
            self.meter.interval = slower(usual, env("TENT", 40));
            self.meter.empty(now);
        }
    }

    /// The first refusal of a rest.
    fn learn(&mut self, now: u64) {
        let early = self.early && self.meter.credit > 0;
        if early {
            self.meter.credit /= 2;
            let (_, next) = self.wary;
            self.wary = (next, next.saturating_mul(2).min(env("WARY", 8) as u32));
        }
        if self.is_dear() {
            self.meter.credit = 0;
        } else if early || (self.is_paced() && self.trial.idle && !self.is_used(now, 80)) {
            // It was not the pace. What was granted still tells a rate when the pace is refused.
            if self.granted >= Self::ENOUGH {
                self.restart(now);
            }
            return;
        }
        if self.granted < Self::ENOUGH {
            self.strike();
            return;
        }
        let mean = (now.saturating_sub(self.since) / u64::from(self.granted)).max(1);
        match self.known {
            Known::Nothing | Known::Usual => self.set_floor(mean),
            Known::Floor | Known::Ceiling => self.search(mean),
        }
        self.restart(now);
    }

    fn restart(&mut self, now: u64) {
        self.since = now;
        self.granted = 0;
        self.strikes = 0;
    }

    /// The first rate that two refusals tell.
    fn set_floor(&mut self, mean: u64) {
        self.known = Known::Floor;
        self.risky = self.recent.mean.min(mean);
        self.safe = mean;
        self.meter.interval = mean;
        self.recent.span = span(self.granted);
        let (lends, age) = self.first;
        let burst = u64::from(lends).saturating_sub(age / mean).min(1000);
        self.meter.credit = if self.is_dear() { 0 } else { u32::try_from(burst / 2).unwrap_or(0) };
    }

    /// A pace was refused, of which `mean` was granted.
    fn search(&mut self, mean: u64) {
        self.known = Known::Ceiling;
        self.risky = self.meter.interval.max(self.recent.mean);
        if self.safe <= self.risky || mean < self.safe {
            self.safe = mean.max(slower(self.risky, 2));
        }
        self.meter.interval = if self.is_dear() {
            stepped_back(self.risky)
        } else {
            if self.safe < slower(self.risky, env("NEAR", 60)) { self.safe } else { self.safe / 2 + self.risky / 2 }
        };
    }

    /// Refused again too soon to tell a rate: back by 4 %, and twice as far each time.
    fn strike(&mut self) {
        if self.is_paced() {
            self.risky = self.meter.interval;
            self.meter.interval = slower(self.risky, 40 << self.strikes.min(3));
            self.safe = self.safe.max(self.meter.interval);
            self.strikes = self.strikes.saturating_add(1);
        }
    }

    fn slow_down_to(&mut self, interval: u64) {
        self.meter.interval = self.meter.interval.max(interval);
        self.safe = self.safe.max(self.meter.interval);
    }

    /// Whether so many percent of the trial's pace were used.
    fn is_used(&self, now: u64, percent: u64) -> bool {
        let took = now.saturating_sub(self.trial.since);
        let used = self.meter.interval.saturating_mul(u64::from(self.trial.lends));
        used.saturating_mul(100) >= took.saturating_mul(percent)
    }

    /// A pace that was used, and not refused for long enough, is safe: on to the next.
    fn end_trial(&mut self, now: u64) {
        let (lends, patience) = match self.known {
            Known::Floor if self.is_dear() => (Self::CLIMBING_TRIAL, self.cost / 8),
            _ if !self.is_dear() && self.headroom() > 100 => (Self::SHORT_TRIAL, self.cost.saturating_mul(Self::PATIENCE)),
            _ => (Self::TRIAL, self.cost.saturating_mul(Self::PATIENCE)),
        };
        if self.trial.lends < lends || now.saturating_sub(self.trial.since) < patience {
            return;
        }
        if self.is_used(now, 95) {
            self.raise();
        }
        if self.trial.idle && self.trial.tight {
            self.try_credit();
        }
        self.trial = Trial::from(now);
    }

    /// How much faster the refused pace was than this, in thousandths; 1000 where none was.
    fn headroom(&self) -> u64 {
        match self.safe.max(self.meter.interval).saturating_mul(1000).checked_div(self.risky) {
            Some(ratio) => ratio.saturating_sub(1000),
            None => 1000,
        }
    }

    fn raise(&mut self) {
        let interval = self.meter.interval;
        self.safe = interval;
        let most = match (self.is_dear(), self.known) {
            (true, Known::Ceiling) => 40,
            (true, _) => 120,
            (false, _) => 500,
        };
        let headroom = self.headroom();
        let step = if headroom > 10 {
            self.growth = 0;
            headroom / 2
        } else {
            self.growth = self.growth.saturating_add(1);
            env("STEP", 5) << (self.growth - 1).min(5)
        };
        self.meter.interval = faster(interval, step.min(most));
    }

    fn try_credit(&mut self) {
        match &mut self.wary.0 {
            0 => self.meter.credit += 1 + self.meter.credit * env("CG", 100) as u32 / 100,
            trials => *trials -= 1,
        }
    }
}

impl Recent {
    fn note(&mut self, now: u64, granted: u32) {
        let gap = now.saturating_sub(self.last);
        let over = u64::from(granted.clamp(2, self.span));
        self.mean = if self.mean == 0 { gap } else { self.mean - self.mean / over + gap / over };
    }
}

fn env(name: &str, or: u64) -> u64 { extern crate std; std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(or) }
fn span(lends: u32) -> u32 {
    (lends / 2).clamp(8, 4096)
}

/// The pace to go back to from one that was refused at a high cost.
fn stepped_back(interval: u64) -> u64 {
    slower(interval, 30)
}

/// A pace so many thousandths slower.
fn slower(interval: u64, thousandths: u64) -> u64 {
    interval.saturating_add(scaled(interval, thousandths, 1000))
}

/// A pace so many thousandths faster: at least a nanosecond between two lends.
fn faster(interval: u64, thousandths: u64) -> u64 {
    scaled(interval, 1000, 1000 + thousandths).max(1)
}

fn scaled(interval: u64, by: u64, of: u64) -> u64 {
    u64::try_from(u128::from(interval) * u128::from(by) / u128::from(of)).unwrap_or(u64::MAX)
}

const fn nanos(time: Duration) -> u64 {
    let nanos = time.as_nanos();
    #[expect(clippy::cast_possible_truncation, reason = "compared before")]
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}
