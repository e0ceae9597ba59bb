use std::collections::VecDeque;
use std::time::Duration;

use super::{Model, Rate, Renewal};

/// What an upstream keeps about one whom it limits. Moments are lengths since the simulation's start, and each is
/// no earlier than the one before.
#[derive(Clone, Debug)]
pub struct Limiter {
    model: Model,
    /// By how much a fixed window begins before the simulation does.
    phase: Duration,
    /// When the bucket is full again, had it one grant more than it has (GCRA's theoretical arrival time).
    full_at: Duration,
    /// The moments of the grants that still count, the oldest first; of a fixed window those of the present one.
    grants: VecDeque<Duration>,
    blocked_until: Duration,
}

/// What a limiter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call counts, and is answered.
    Granted,
    /// The call is refused.
    Refused,
}

impl Limiter {
    /// A limiter that has granted nothing yet. `phase` is how far its fixed window has come.
    pub fn new(model: Model, phase: Duration) -> Self {
        Self { model, phase, full_at: Duration::ZERO, grants: VecDeque::new(), blocked_until: Duration::ZERO }
    }

    /// From now on another limit of the same kind holds. What was granted still counts.
    pub fn change(&mut self, model: Model, now: Duration) {
        if let (Model::Bucket { rate: old, .. }, Model::Bucket { rate: new, .. }) = (self.model, model) {
            let owed = self.full_at.saturating_sub(now).as_secs_f64() / old.interval().as_secs_f64();
            self.full_at = now + new.interval().mul_f64(owed);
        }
        self.model = model;
    }

    /// A call arrives.
    pub fn ask(&mut self, now: Duration) -> Verdict {
        let free = self.next_grant(now) <= now;
        match self.model {
            Model::Bucket { rate, .. } if free => self.full_at = self.full_at.max(now) + rate.interval(),
            _ if free => self.grants.push_back(now),
            Model::Block { block, renewal, .. }
                if now >= self.blocked_until || renewal == Renewal::Extended =>
            {
                self.blocked_until = now + block;
            }
            _ => {}
        }
        if free { Verdict::Granted } else { Verdict::Refused }
    }

    /// The first moment from `now` on at which a call would be granted, if none comes before it.
    pub fn next_grant(&mut self, now: Duration) -> Duration {
        self.forget(now);
        let counted = self.grants.len();
        match self.model {
            Model::Bucket { rate, burst } => {
                let credit = rate.interval().saturating_mul(burst.saturating_sub(1));
                now.max(self.full_at.saturating_sub(credit))
            }
            Model::Window { rate } if counted >= rate.count as usize => self.window_end(rate, now),
            Model::Sliding { rate } => now.max(self.room_at(rate)),
            Model::Block { rate, .. } => now.max(self.room_at(rate)).max(self.blocked_until),
            Model::Window { .. } => now,
        }
    }

    /// The moment from which grants are lost while nobody asks: a bucket runs over, a window ends with some left. In the
    /// past where that is so already.
    pub fn loses_from(&mut self, now: Duration) -> Duration {
        self.forget(now);
        match self.model {
            Model::Bucket { .. } => self.full_at,
            Model::Window { rate } => self.window_end(rate, now),
            Model::Sliding { rate } | Model::Block { rate, .. } => self.room_at(rate),
        }
    }

    /// How many calls would be granted now, one after another.
    pub fn left(&mut self, now: Duration) -> u32 {
        if self.next_grant(now) > now {
            return 0;
        }
        match self.model {
            Model::Bucket { rate, burst } => {
                let owed = self.full_at.saturating_sub(now).as_nanos().div_ceil(rate.interval().as_nanos());
                burst.saturating_sub(u32::try_from(owed).unwrap_or(u32::MAX))
            }
            Model::Window { rate } | Model::Sliding { rate } | Model::Block { rate, .. } => {
                rate.count.saturating_sub(u32::try_from(self.grants.len()).unwrap_or(u32::MAX))
            }
        }
    }

    /// The most that can ever be granted at once.
    pub fn most(&self) -> u32 {
        match self.model {
            Model::Bucket { burst, .. } => burst,
            Model::Window { rate } | Model::Sliding { rate } | Model::Block { rate, .. } => rate.count,
        }
    }

    fn forget(&mut self, now: Duration) {
        match self.model {
            Model::Bucket { .. } => {}
            Model::Window { rate } => {
                let began = self.window_end(rate, now).saturating_sub(rate.per);
                // All of a window or nothing: a window that begins before the simulation has no grant to forget.
                if self.grants.back().is_some_and(|last| *last < began) {
                    self.grants.clear();
                }
            }
            Model::Sliding { rate } | Model::Block { rate, .. } => {
                while self.grants.front().is_some_and(|oldest| *oldest + rate.per <= now) {
                    self.grants.pop_front();
                }
            }
        }
    }

    fn window_end(&self, rate: Rate, now: Duration) -> Duration {
        let since_start = now + self.phase;
        let windows = since_start.as_nanos() / rate.per.as_nanos() + 1;
        let windows = u32::try_from(windows).unwrap_or(u32::MAX);
        rate.per.saturating_mul(windows).saturating_sub(self.phase)
    }

    /// When the sliding window has room.
    fn room_at(&self, rate: Rate) -> Duration {
        let excess = (self.grants.len() + 1).saturating_sub(rate.count as usize);
        // A limit that has become smaller has more than one grant to wait for.
        match excess.checked_sub(1).and_then(|index| self.grants.get(index)) {
            Some(grant) => *grant + rate.per,
            None => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;
