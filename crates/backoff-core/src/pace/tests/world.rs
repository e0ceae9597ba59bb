//! One token under a naive limit, asked for by a caller who keeps to the pace.

use core::time::Duration;

use super::std::collections::VecDeque;
use crate::{CoolDown, Pace, SplitMix64};

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// What the upstream keeps count of.
#[derive(Clone, Debug)]
pub(super) enum Limit {
    None,
    /// None, but so many of a thousand calls are refused by chance.
    Chance(u64),
    /// A full bucket of `burst`, one call more each `interval`.
    Bucket {
        interval: Duration,
        burst: u32,
    },
    /// So many calls in any `per`.
    Sliding {
        count: usize,
        per: Duration,
    },
    /// The same, and a refusal blocks for `block`.
    Block {
        count: usize,
        per: Duration,
        block: Duration,
    },
}

#[derive(Debug)]
struct Upstream {
    limit: Limit,
    full_at: Duration,
    grants: VecDeque<Duration>,
    blocked_until: Duration,
    random: SplitMix64,
}

impl Upstream {
    fn new(limit: Limit) -> Self {
        Self {
            limit,
            full_at: Duration::ZERO,
            grants: VecDeque::new(),
            blocked_until: Duration::ZERO,
            random: SplitMix64::new(3),
        }
    }

    /// Another limit of the same kind holds from now on; what a bucket lacks to be full it still lacks.
    fn change(&mut self, limit: Limit, now: Duration) {
        if let (Limit::Bucket { interval: old, .. }, Limit::Bucket { interval: new, .. }) =
            (&self.limit, &limit)
        {
            let lacking = self.full_at.saturating_sub(now).div_duration_f64(*old);
            self.full_at = now + new.mul_f64(lacking);
        }
        self.limit = limit;
    }

    fn grants(&mut self, now: Duration) -> bool {
        match self.limit {
            Limit::None => true,
            Limit::Chance(refused) => draw(&mut self.random, 1000) >= refused,
            Limit::Bucket { interval, burst } => {
                let granted = self.full_at <= now + interval * (burst - 1);
                if granted {
                    self.full_at = self.full_at.max(now) + interval;
                }
                granted
            }
            Limit::Sliding { count, per } => self.slides(count, per, now),
            Limit::Block { count, per, block } => {
                let granted = self.blocked_until <= now && self.slides(count, per, now);
                if !granted && self.blocked_until <= now {
                    self.blocked_until = now + block;
                }
                granted
            }
        }
    }

    fn slides(&mut self, count: usize, per: Duration, now: Duration) -> bool {
        self.grants.retain(|at| *at + per > now);
        let granted = self.grants.len() < count;
        if granted {
            self.grants.push_back(now);
        }
        granted
    }
}

/// When calls are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Demand {
    /// As many as there may be.
    Endless,
    /// By chance, with this mean time between two.
    Chance(Duration),
    /// So many at once, each time so long after the last.
    Pages(u32, Duration),
}

/// What came of a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) asked: u32,
    pub(super) granted: u32,
    pub(super) refused: u32,
}

/// A caller with one token, who waits up to 20 s for his turn and rests after a refusal as the pool has a token
/// rest.
pub(super) struct Caller {
    pub(super) pace: Option<Pace>,
    upstream: Upstream,
    demand: Demand,
    random: SplitMix64,
    pub(super) now: Duration,
    /// When the next calls are wanted.
    next: Duration,
    /// Since when those wait who do.
    waiting: VecDeque<Duration>,
    rests_until: Duration,
    failures: u32,
    lends: u32,
    slept: Duration,
}

impl Caller {
    const PATIENCE: Duration = Duration::from_secs(20);

    pub(super) fn new(limit: Limit, demand: Demand) -> Self {
        Self {
            pace: None,
            upstream: Upstream::new(limit),
            demand,
            random: SplitMix64::new(7),
            now: SECOND,
            next: SECOND,
            waiting: VecDeque::new(),
            rests_until: Duration::ZERO,
            failures: 0,
            lends: 0,
            slept: Duration::ZERO,
        }
    }

    pub(super) fn change(&mut self, limit: Limit) {
        self.upstream.change(limit, self.now + self.slept);
    }

    /// Time passes for the upstream, and not for the caller.
    pub(super) fn sleep(&mut self, length: Duration) {
        self.slept += length;
    }

    pub(super) fn ask_for(&mut self, demand: Demand) {
        self.demand = demand;
        self.next = self.now;
    }

    /// Goes on for this long.
    pub(super) fn run(&mut self, length: Duration) -> Tally {
        let end = self.now + length;
        let mut tally = Tally::default();
        loop {
            self.waiting.retain(|since| *since + Self::PATIENCE >= self.now);
            let allowed = self.pace.as_ref().map_or(Duration::ZERO, Pace::allows_from);
            let lend = allowed.max(self.rests_until).max(self.now);
            let wanted = matches!(self.demand, Demand::Endless) || !self.waiting.is_empty();
            // A caller of chance may come before the next lend: then he joins those who wait.
            let comes = if matches!(self.demand, Demand::Endless) { Duration::MAX } else { self.next };
            let at = if wanted { lend.min(comes) } else { comes };
            if at >= end {
                self.now = end;
                return tally;
            }
            self.now = at;
            if comes <= at {
                tally.asked += self.come();
            } else {
                self.waiting.pop_front();
                self.call(&mut tally);
            }
        }
    }

    fn come(&mut self) -> u32 {
        let (count, wait) = match self.demand {
            Demand::Endless => (0, Duration::MAX),
            Demand::Chance(mean) => (1, exponential(&mut self.random, mean)),
            Demand::Pages(count, every) => (count, every),
        };
        (0..count).for_each(|_| self.waiting.push_back(self.now));
        self.next = self.now + wait;
        count
    }

    fn call(&mut self, tally: &mut Tally) {
        let now = self.now;
        self.lends += 1;
        if let Some(pace) = &mut self.pace {
            let _ = pace.lent(now);
        }
        if self.upstream.grants(now + self.slept) {
            tally.granted += 1;
            self.failures = 0;
            if let Some(pace) = &mut self.pace {
                let _ = pace.succeeded(now);
            }
        } else {
            tally.refused += 1;
            self.failures += 1;
            self.rests_until = now + CoolDown::default().rest(self.failures, 0).duration;
            let pace = self.pace.get_or_insert_with(|| Pace::new(self.lends, now, now));
            let _ = pace.refused(now);
            pace.rests_until(self.rests_until);
        }
    }
}

/// Below `bound`.
pub(super) fn draw(random: &mut SplitMix64, bound: u64) -> u64 {
    use crate::Entropy;
    random.next_u64() % bound
}

#[expect(clippy::cast_precision_loss, reason = "a million fits")]
fn exponential(random: &mut SplitMix64, mean: Duration) -> Duration {
    let drawn = (draw(random, 1_000_000) + 1) as f64 / 1e6;
    mean.mul_f64(-drawn.ln())
}
