//! With learned paces no naive model says which token is lent; what must hold all the same is checked at every
//! step.

use proptest::prelude::*;
use tidegate_backoff_core::Pace;

use super::*;
use crate::Remaining;
use crate::pool::{Kind, Standing};

struct Walk {
    pool: Pool,
    now: Instant,
    out: Vec<(Loan, Told)>,
    random: fastrand::Rng,
}

impl Walk {
    fn new(params: PoolParams, tokens: &[(usize, u32)], seed: u64) -> Self {
        let now = Instant::now();
        let mut pool = Pool::new(params, std::sync::Arc::default(), now);
        pool.reload(specs(&spec_text(tokens)), now);
        Self { pool, now, out: Vec::new(), random: fastrand::Rng::with_seed(seed) }
    }

    /// The tokens are used, and refused, three times: enough to have a pace.
    fn teach(&mut self) -> Result<(), TestCaseError> {
        for call in 0..63 * self.pool.len() {
            self.now += Duration::from_millis(400);
            let outcome = if call / self.pool.len() % 21 == 20 { Outcome::Limited } else { Outcome::Success };
            let token = self.pool.records[call % self.pool.len()].entry.id();
            let Some(loan) = self.pool.lend_for(Some(token), &[], 0, self.now) else { continue };
            self.pool.settle(&loan, &Report::new(outcome), self.now);
            loan.entry.leave();
            self.pool.left(&loan, Told::Outcome, self.now);
            self.check()?;
        }
        Ok(())
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Lend { tried, any } => self.lend(&tried, any)?,
            Step::Settle { lease, outcome, told, quota } => {
                let open: Vec<usize> =
                    (0..self.out.len()).filter(|&at| self.out[at].1 == Told::Nothing).collect();
                if !open.is_empty() {
                    let millis = |millis: Option<u64>| millis.map(Duration::from_millis);
                    let told_left = self.random.bool().then(|| self.remaining(millis(quota)));
                    let (loan, is_told) = &mut self.out[open[lease.index(open.len())]];
                    let report = Report {
                        told: millis(told),
                        quota: millis(quota),
                        remaining: told_left,
                        ..Report::new(outcome)
                    };
                    self.pool.settle(loan, &report, self.now);
                    *is_told = Told::Outcome;
                }
            }
            Step::End { lease } if !self.out.is_empty() => {
                let (loan, told) = self.out.swap_remove(lease.index(self.out.len()));
                loan.entry.leave();
                self.pool.left(&loan, told, self.now);
            }
            Step::TakeBack => {
                if self.out.last().is_some_and(|(_, told)| *told == Told::Nothing) {
                    let (loan, _) = self.out.pop().unwrap();
                    self.pool.take_back(&loan, self.now);
                }
            }
            Step::Pass { millis } => self.now += Duration::from_millis(millis),
            Step::PassToNextWake => self.now = self.pool.next_wake().unwrap_or(self.now).max(self.now),
            // Resets forget what was learned: rare, or nothing ever is.
            Step::Reset(token) if self.random.u8(0..8) == 0 => {
                let _ = self.pool.reset(id(NAMES[token]), self.now);
            }
            Step::Disable(token) => {
                let _ = self.pool.disable(id(NAMES[token]), self.now);
            }
            Step::Enable(token) => {
                let _ = self.pool.enable(id(NAMES[token]), self.now);
            }
            Step::Reload(tokens) => self.pool.reload(specs(&spec_text(&tokens)), self.now),
            Step::Limits { count, concurrency } => {
                let limit = count.map(|count| self.limit(count));
                let params = PoolParams { limit, max_concurrency: concurrency, ..*self.pool.params() };
                self.pool.set_params(params, self.now);
            }
            Step::End { .. } | Step::Charge { .. } | Step::Reset(_) | Step::ResetAll => {}
        }
        Ok(())
    }

    /// What an answer tells, nonsense included.
    fn remaining(&mut self, reset: Option<Duration>) -> Remaining {
        let calls = [0, 1, 2, 3, u32::MAX][self.random.usize(0..5)];
        let century = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        let reset = if self.random.u8(0..8) == 0 { century } else { reset.unwrap_or_default() };
        Remaining { calls, reset }
    }

    /// One that may be met, or one at the edge of what a limit can be.
    fn limit(&mut self, count: u32) -> Limit {
        let random = &mut self.random;
        let per = [Duration::from_nanos(1), Duration::from_secs(5), Duration::from_secs(365 * 24 * 60 * 60)];
        let per = per[random.usize(0..per.len())];
        let many = [count, 257, u32::MAX][random.usize(0..3)];
        match random.u8(0..4) {
            0 => Limit::window(many, per),
            1 => Limit::bucket(many, per, [0, 1, 7, u32::MAX][random.usize(0..4)]),
            _ => limit(count),
        }
    }

    fn lend(&mut self, tried: &[usize], any: bool) -> Result<(), TestCaseError> {
        let ids: Vec<_> = tried.iter().map(|&token| id(NAMES[token])).collect();
        self.pool.advance(self.now);
        let paces: Vec<Option<Pace>> =
            self.pool.records.iter().map(|record| record.pace().cloned()).collect();
        let entropy = self.random.u64(..);
        let loan = match any {
            true => self.pool.lend_any(&ids, entropy, self.now),
            false => self.pool.lend_untried(&ids, entropy, self.now),
        };
        let Some(loan) = loan else { return Ok(()) };
        let index = self.pool.place(loan.entry.id()).unwrap();
        if let Some(pace) = &paces[index] {
            let allowed = pace.allows_from();
            prop_assert!(allowed <= self.pool.latest.as_duration(), "before its pace allows it: {:?}", pace);
        }
        if loan.is_probe() {
            let probes = self.out.iter().filter(|(out, told)| {
                out.is_probe()
                    && *told == Told::Nothing
                    && out.entry.id() == loan.entry.id()
                    && out.generation() == loan.generation()
            });
            prop_assert_eq!(probes.count(), 0, "one probe at a time");
        }
        self.out.push((loan, Told::Nothing));
        Ok(())
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let now = self.pool.advance(self.now);
        let mut kinds = [0; 4];
        for index in 0..self.pool.len() {
            let bounds = self.pool.bounds(index);
            let record = &self.pool.records[index];
            let standing = record.standing(&bounds, now);
            prop_assert_eq!(record.known, standing.kind(), "{:?}", record);
            kinds[standing.kind() as usize] += 1;
            let wake = match standing {
                Standing::From(at) => Some(at),
                Standing::Held(at) => at,
                Standing::Lendable | Standing::Barred => None,
            };
            prop_assert_eq!(self.pool.wakes.of(index), wake, "nobody would wake for it, or in vain");
            let out = self.out.iter().filter(|(loan, _)| loan.entry.id() == record.entry.id()).count();
            prop_assert_eq!(record.entry.in_flight() as usize, out);
        }
        let tally = &self.pool.tally;
        prop_assert_eq!(
            [tally.lendable, tally.timed, tally.held],
            [Kind::Lendable, Kind::Timed, Kind::Held].map(|kind| kinds[kind as usize])
        );
        let paced = self
            .pool
            .records
            .iter()
            .filter(|record| record.pace().is_some_and(|pace| pace.interval().is_some()));
        prop_assert_eq!(self.pool.paced, paced.count());
        let forecasts: Vec<_> = [0, 1, 7].map(|ahead| self.pool.forecast(ahead, self.now)).into();
        for pair in forecasts.windows(2) {
            if let [Forecast::At(sooner), Forecast::At(later)] = pair {
                prop_assert!(sooner <= later, "{:?}", forecasts);
            }
        }
        Ok(())
    }

    /// Whatever has happened, the end of all leases and time bring every token back that no operator bars.
    fn end(mut self) -> Result<(), TestCaseError> {
        for (loan, told) in std::mem::take(&mut self.out) {
            loan.entry.leave();
            self.pool.left(&loan, told, self.now);
        }
        self.now += Duration::from_secs(400 * 24 * 60 * 60);
        let barred = self.pool.state_counts(self.now).disabled;
        let mut lent = Vec::new();
        for _ in barred..self.pool.len() {
            let loan = self.pool.lend_untried(&lent, 0, self.now);
            prop_assert!(loan.is_some(), "a token has not come back: {:?}", self.pool.records);
            if let Some(loan) = &loan {
                self.pool.settle(loan, &Report::new(Outcome::Success), self.now);
            }
            lent.extend(loan.map(|loan| loan.entry.id()));
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn what_must_hold_holds_where_paces_are_learned(
        params in params(),
        tokens in tokens(false),
        steps in prop::collection::vec(step(false), 1..120),
        seed: u64,
    ) {
        let params = PoolParams { pacing: Pacing::Learned, ..params };
        let mut walk = Walk::new(params, &tokens, seed);
        walk.teach()?;
        prop_assert!(walk.pool.is_paced() || tokens.is_empty() || params.limit.is_some(), "{:?}", params);
        for step in steps {
            walk.take(step)?;
            walk.check()?;
        }
        walk.end()?;
    }
}
