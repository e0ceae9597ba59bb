//! The pool against a naive model: plain lists, scanned whole at every step, with every rule written out once
//! more.

mod model;
mod paced;

use std::time::Duration;

use model::{Came, Expected, Model};
use proptest::prelude::*;
use tokio::time::Instant;

use super::tests::{id, specs};
use super::{Forecast, Loan, Pool, Told};
use crate::{Limit, Outcome, Pacing, PoolParams, Report, Strategy as Choice, WhenExhausted};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[derive(Clone, Debug)]
enum Step {
    Lend { tried: Vec<usize>, any: bool },
    Settle { lease: prop::sample::Index, outcome: Outcome, told: Option<u64>, quota: Option<u64> },
    End { lease: prop::sample::Index },
    TakeBack,
    Charge { stamp: prop::sample::Index },
    Pass { millis: u64 },
    PassToNextWake,
    Reset(usize),
    ResetAll,
    Disable(usize),
    Enable(usize),
    Reload(Vec<(usize, u32)>),
    Limits { count: Option<u32>, concurrency: u32 },
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Success),
        4 => Just(Outcome::Limited),
        2 => Just(Outcome::Rejected),
        2 => Just(Outcome::Unaffected),
    ]
}

fn step(weighted: bool) -> impl Strategy<Value = Step> {
    let token = 0..NAMES.len();
    let rest =
        || prop::option::weighted(0.25, prop::sample::select(vec![0, 500, 3_000, 40_000, 3_000_000_000]));
    let weight = if weighted { 1..4_u32 } else { 1..2 };
    prop_oneof![
        12 => (prop::collection::vec(token.clone(), 0..3), prop::bool::weighted(0.8))
            .prop_map(|(tried, any)| Step::Lend { tried, any }),
        10 => (any::<prop::sample::Index>(), outcome(), rest(), rest())
            .prop_map(|(lease, outcome, told, quota)| Step::Settle { lease, outcome, told, quota }),
        8 => any::<prop::sample::Index>().prop_map(|lease| Step::End { lease }),
        1 => Just(Step::TakeBack),
        1 => any::<prop::sample::Index>().prop_map(|stamp| Step::Charge { stamp }),
        4 => prop::sample::select(vec![1, 10, 499, 1_000, 2_500, 60_000, 400_000]).prop_map(|millis| Step::Pass { millis }),
        4 => Just(Step::PassToNextWake),
        1 => token.clone().prop_map(Step::Reset),
        1 => Just(Step::ResetAll),
        1 => token.clone().prop_map(Step::Disable),
        2 => token.clone().prop_map(Step::Enable),
        1 => prop::collection::vec((token, weight), 0..7).prop_map(Step::Reload),
        1 => (prop::option::of(1..6_u32), 0..4_u32).prop_map(|(count, concurrency)| Step::Limits { count, concurrency }),
    ]
}

fn params() -> impl Strategy<Value = PoolParams> {
    let limit = prop::option::of(1..6_u32).prop_map(|count| count.map(limit));
    (
        prop::sample::select(Choice::ALL.to_vec()),
        prop::sample::select(WhenExhausted::ALL.to_vec()),
        limit,
        0..4_u32,
    )
        .prop_map(|(strategy, when_exhausted, limit, max_concurrency)| PoolParams {
            strategy,
            when_exhausted,
            limit,
            max_concurrency,
            pacing: Pacing::Off,
            ..PoolParams::default()
        })
}

fn limit(count: u32) -> Limit {
    Limit::window(count, Duration::from_secs(5))
}

fn spec_text(tokens: &[(usize, u32)]) -> String {
    tokens.iter().map(|&(token, weight)| format!("{}*{weight} ", NAMES[token])).collect()
}

/// The pool and the model side by side, with the leases that are out.
struct Pair {
    pool: Pool,
    model: Model,
    now: Instant,
    out: Vec<Out>,
    stamps: Vec<(usize, super::Generation, u64)>,
    random: fastrand::Rng,
}

struct Out {
    loan: Loan,
    lease: model::Lease,
    told: Told,
}

impl Pair {
    fn new(params: PoolParams, tokens: &[(usize, u32)], seed: u64) -> Self {
        let now = Instant::now();
        let mut pool = Pool::new(params, std::sync::Arc::default(), now);
        pool.reload(specs(&spec_text(tokens)), now);
        let model = Model::new(params, tokens);
        Self { pool, model, now, out: Vec::new(), stamps: Vec::new(), random: fastrand::Rng::with_seed(seed) }
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Lend { tried, any } => self.lend(&tried, any)?,
            Step::Settle { lease, outcome, told, quota } => {
                let open: Vec<usize> =
                    (0..self.out.len()).filter(|&at| self.out[at].told == Told::Nothing).collect();
                if open.is_empty() {
                    return Ok(());
                }
                let out = &mut self.out[open[lease.index(open.len())]];
                let millis = |millis: Option<u64>| millis.map(Duration::from_millis);
                let report = Report { told: millis(told), quota: millis(quota), ..Report::new(outcome) };
                out.loan.entry.note(&report);
                self.pool.settle(&out.loan, &report, self.now);
                self.model.settle(&out.lease, &report);
                out.told = Told::Outcome;
            }
            Step::End { lease } => {
                if !self.out.is_empty() {
                    let out = self.out.swap_remove(lease.index(self.out.len()));
                    out.loan.entry.leave();
                    self.pool.left(&out.loan, out.told, self.now);
                    self.model.end(&out.lease, out.told);
                }
            }
            Step::TakeBack => {
                if self.out.last().is_some_and(|out| out.told == Told::Nothing) {
                    let out = self.out.pop().unwrap();
                    self.pool.take_back(&out.loan, self.now);
                    self.model.take_back(&out.lease);
                }
            }
            Step::Charge { stamp } => {
                if !self.stamps.is_empty() {
                    let (token, generation, era) = self.stamps[stamp.index(self.stamps.len())];
                    self.pool.charge(id(NAMES[token]), generation, 403, self.now);
                    self.model.charge(token, era);
                }
            }
            Step::Pass { millis } => self.pass(millis),
            Step::PassToNextWake => {
                if let Expected::At(at) = self.model.expected_of_those_who_wait_for_time() {
                    self.pass(at - self.model.now);
                }
            }
            Step::Reset(token) => {
                prop_assert_eq!(self.pool.reset(id(NAMES[token]), self.now).is_ok(), self.model.reset(token));
            }
            Step::ResetAll => {
                self.pool.reset_all(self.now);
                self.model.reset_gate();
                (0..NAMES.len()).for_each(|token| {
                    self.model.reset(token);
                });
            }
            Step::Disable(token) => {
                prop_assert_eq!(
                    self.pool.disable(id(NAMES[token]), self.now).is_ok(),
                    self.model.disable(token)
                );
            }
            Step::Enable(token) => {
                prop_assert_eq!(
                    self.pool.enable(id(NAMES[token]), self.now).is_ok(),
                    self.model.enable(token)
                );
            }
            Step::Reload(tokens) => {
                self.pool.reload(specs(&spec_text(&tokens)), self.now);
                self.model.reload(&tokens);
            }
            Step::Limits { count, concurrency } => {
                let params = PoolParams {
                    limit: count.map(limit),
                    max_concurrency: concurrency,
                    ..*self.pool.params()
                };
                self.pool.set_params(params, self.now);
                self.model.set_params(params);
            }
        }
        Ok(())
    }

    fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.model.now += millis;
    }

    fn lend(&mut self, tried: &[usize], any: bool) -> Result<(), TestCaseError> {
        let ids: Vec<_> = tried.iter().map(|&token| id(NAMES[token])).collect();
        let entropy = self.random.u64(..);
        let loan = match any {
            true => self.pool.lend_any(&ids, entropy, self.now),
            false => self.pool.lend_untried(&ids, entropy, self.now),
        };
        let candidates = self.model.candidates(tried, any);
        let Some(loan) = loan else {
            prop_assert!(candidates.is_empty(), "nothing lent where {candidates:?} could be");
            return Ok(());
        };
        let token = NAMES.iter().position(|name| *name == loan.entry.value.expose()).unwrap();
        prop_assert!(candidates.contains(&token), "lent {token} where {candidates:?} could be");
        let lease = self.model.lend(token);
        self.stamps.push((token, loan.generation(), lease.era));
        self.out.push(Out { loan, lease, told: Told::Nothing });
        Ok(())
    }

    fn compare(&mut self) -> Result<(), TestCaseError> {
        let statuses = self.pool.snapshot(self.now);
        prop_assert_eq!(statuses.len(), self.model.tokens.len());
        let mut counts = crate::StateCounts::default();
        for (status, token) in statuses.iter().zip(&self.model.tokens) {
            counts.count(status.state);
            let until = status.until.map(|until| until - self.now);
            prop_assert_eq!(status.id, id(NAMES[token.name]));
            prop_assert_eq!(status.state, self.model.state(token), "{:?}", token);
            prop_assert_eq!(until, self.model.rest_left(token), "{:?}", token);
            prop_assert_eq!(status.retry_in, until.unwrap_or_default());
            prop_assert_eq!(status.failures, token.failures);
            prop_assert_eq!(status.in_flight, token.in_flight);
            prop_assert_eq!(status.reason, self.model.reason(token));
            prop_assert_eq!(status.cooldowns, token.cooldowns);
            prop_assert_eq!(
                [status.requests, status.successes, status.rate_limited, status.rejected],
                token.counts
            );
        }
        prop_assert_eq!(self.pool.state_counts(self.now), counts);
        for tried in [&[][..], &[0], &[1, 2, 1]] {
            let ids: Vec<_> = tried.iter().map(|&token| id(NAMES[token])).collect();
            prop_assert_eq!(self.pool.has_ready(&ids, self.now), self.model.has_ready(tried));
        }
        for ahead in [0, 1, 7] {
            let came = match self.pool.forecast(ahead, self.now) {
                Forecast::At(at) => {
                    Expected::At(self.model.now + u64::try_from((at - self.now).as_millis()).unwrap())
                }
                Forecast::Unknown => Expected::Unknown,
                Forecast::Never => Expected::Never,
            };
            let expected = self.model.expected(ahead);
            // How long leases last is reckoned from those before, which the model does not measure.
            if ahead == 0 || expected != Expected::Unknown || matches!(came, Expected::Never) {
                prop_assert_eq!(came, expected, "with {} ahead", ahead);
            }
        }
        prop_assert_eq!(self.pool.retired.len(), self.model.retired.len());
        Ok(())
    }
}

fn run(
    params: PoolParams,
    tokens: &[(usize, u32)],
    steps: Vec<Step>,
    seed: u64,
) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(params, tokens, seed);
    for step in steps {
        pair.take(step)?;
        pair.compare()?;
    }
    // Whatever has happened, the end of all leases and time bring every token back that no operator bars.
    for out in std::mem::take(&mut pair.out) {
        out.loan.entry.leave();
        pair.pool.left(&out.loan, out.told, pair.now);
        pair.model.end(&out.lease, out.told);
    }
    pair.pass(31 * 24 * 60 * 60 * 1000);
    pair.compare()?;
    let barred = pair.model.tokens.iter().filter(|token| token.disabled).count();
    let mut lent = Came::default();
    for _ in barred..pair.model.tokens.len() {
        let loan = pair.pool.lend_untried(&lent.ids, 0, pair.now);
        prop_assert!(loan.is_some(), "a token has not come back");
        // A success opens the gate to the others, if it was shut.
        if let Some(loan) = &loan {
            pair.pool.settle(loan, &Report::new(Outcome::Success), pair.now);
        }
        lent.ids.extend(loan.map(|loan| loan.entry.id()));
    }
    Ok(())
}

fn tokens(weighted: bool) -> impl Strategy<Value = Vec<(usize, u32)>> {
    let weight = if weighted { 1..4_u32 } else { 1..2 };
    prop::collection::vec(weight, 0..=NAMES.len())
        .prop_map(|weights| weights.into_iter().enumerate().collect())
}

proptest! {
    #[test]
    fn the_pool_does_what_the_naive_model_does(
        params in params(),
        tokens in tokens(false),
        steps in prop::collection::vec(step(false), 1..80),
        seed: u64,
    ) {
        run(params, &tokens, steps, seed)?;
    }

    #[test]
    fn the_pool_does_what_the_naive_model_does_with_weights(
        params in params(),
        tokens in tokens(true),
        steps in prop::collection::vec(step(true), 1..80),
        seed: u64,
    ) {
        run(params, &tokens, steps, seed)?;
    }
}
