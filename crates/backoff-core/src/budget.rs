mod deposits;

use core::time::Duration;

use self::deposits::Deposits;

/// One retry in the unit of every account here. A rate of `n` a second is then exactly `n` units a nanosecond.
const RETRY: u64 = 1_000_000_000;

/// How many retries a request pays for, in parts per million. 200 000 is one retry for five requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Ratio(u32);

impl Ratio {
    /// So many millionths of a retry for each request; above a million, more than one.
    pub const fn from_millionths(millionths: u32) -> Self {
        Self(millionths)
    }

    /// The parts per million.
    pub const fn millionths(self) -> u32 {
        self.0
    }
}

/// Keeps retries to what an upstream can bear: a share of the requests, and a few a second besides.
///
/// Each request deposits its ratio, which is good for the next ten seconds and not longer. Each retry withdraws 1,
/// from the oldest deposits first and then from a reserve. The reserve is full at the start, is refilled by
/// `min_per_second` and never holds more than one second's worth. So in an outage of T seconds the retries are at most
///
/// > ratio x (requests from 10 s before its start) + `min_per_second` x (T + 1).
///
/// A bucket that never empties in calm hours would pay for a storm out of the traffic of the day before; hence the
/// ten seconds.
///
/// `now` is the length since any fixed origin. One that lies before an earlier one counts as no time passed: a clock
/// that goes to and fro neither refills the reserve twice nor brings a deposit back.
///
/// ```
/// use core::time::Duration;
/// use tidegate_backoff_core::{Budget, Ratio};
///
/// let now = Duration::ZERO;
/// let mut budget = Budget::new(Ratio::from_millionths(200_000), 0);
/// for _request in 0..5 {
///     budget.deposit(now);
/// }
/// assert!(budget.try_withdraw(now));
/// assert!(!budget.try_withdraw(now));
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    ratio: Ratio,
    min_per_second: u32,
    /// The latest `now` of any call.
    clock: Duration,
    reserve: u64,
    deposits: Deposits,
}

impl Budget {
    /// How long a deposit is good for.
    pub const WINDOW: Duration = Duration::from_secs(10);

    /// A budget with no deposits and a full reserve.
    pub const fn new(ratio: Ratio, min_per_second: u32) -> Self {
        let mut budget =
            Self { ratio, min_per_second, clock: Duration::ZERO, reserve: 0, deposits: Deposits::new() };
        budget.reserve = budget.reserve_at_most();
        budget
    }

    /// What each request deposits.
    pub const fn ratio(&self) -> Ratio {
        self.ratio
    }

    /// What the reserve grants each second.
    pub const fn min_per_second(&self) -> u32 {
        self.min_per_second
    }

    /// A request begins.
    pub fn deposit(&mut self, now: Duration) {
        let now = self.advance(now);
        self.deposits.add(now, u64::from(self.ratio.0) * (RETRY / 1_000_000));
    }

    /// Takes one retry out; `false`, and nothing is taken, where less than one is there.
    #[must_use = "a retry that was not granted must not be made"]
    pub fn try_withdraw(&mut self, now: Duration) -> bool {
        let now = self.advance(now);
        self.deposits.expire(now);
        if self.deposits.total() + self.reserve < RETRY {
            return false;
        }
        let owed = self.deposits.take(RETRY);
        self.reserve -= owed;
        true
    }

    /// The whole retries that would be granted at `now`.
    pub fn balance(&self, now: Duration) -> u64 {
        self.units(now) / RETRY
    }

    /// The retries that would be granted at `now`, in millionths, rounded down.
    pub fn balance_millionths(&self, now: Duration) -> u64 {
        self.units(now) / (RETRY / 1_000_000)
    }

    /// Takes other parameters, as a reload brings them. Deposits keep their worth; a reserve above its new size is cut.
    pub fn set(&mut self, ratio: Ratio, min_per_second: u32, now: Duration) {
        self.advance(now);
        self.ratio = ratio;
        self.min_per_second = min_per_second;
        self.reserve = self.reserve.min(self.reserve_at_most());
    }

    fn units(&self, now: Duration) -> u64 {
        let now = now.max(self.clock);
        self.deposits.total_at(now) + self.reserve_at(now)
    }

    /// Moves the clock, never backwards, and refills the reserve.
    fn advance(&mut self, now: Duration) -> Duration {
        let now = now.max(self.clock);
        self.reserve = self.reserve_at(now);
        self.clock = now;
        now
    }

    fn reserve_at(&self, now: Duration) -> u64 {
        let passed = now.saturating_sub(self.clock);
        if passed >= Duration::from_secs(1) {
            return self.reserve_at_most();
        }
        // Both factors have 32 bits: the product fits, and a sum of two such too.
        let earned = u64::from(passed.subsec_nanos()) * u64::from(self.min_per_second);
        self.reserve_at_most().min(self.reserve + earned)
    }

    /// One second's worth: below 2^62.
    const fn reserve_at_most(&self) -> u64 {
        self.min_per_second as u64 * RETRY
    }
}

#[cfg(test)]
mod tests;
