//! What a lend costs, beside the naive way: `cargo xtask bench pool`.
//!
//! One round is what one attempt does with the pool: lend, settle with a success, end the lease. Allocations are
//! counted: a row that shows none made none. A sample is a thousand rounds: one that is shorter shows the clock, and for
//! a large pool whether its numbers are looked at in it or not.
#![expect(clippy::unwrap_used, reason = "a bench of its own making")]

mod naive;

use std::fmt;
use std::time::Duration;

use divan::{AllocProfiler, Bencher};
use naive::NaivePool;
use tidegate_token_manager::{IdKey, Outcome, PoolParams, Report, Strategy, TokenManager, TokenSpec};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// How many tokens, and how many of them can be lent.
#[derive(Clone, Copy)]
enum Case {
    AllReady(usize),
    HalfCooling(usize),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllReady(tokens) => write!(f, "{tokens}"),
            Self::HalfCooling(tokens) => write!(f, "{tokens}, half cooling"),
        }
    }
}

impl Case {
    fn tokens(self) -> usize {
        let (Self::AllReady(tokens) | Self::HalfCooling(tokens)) = self;
        tokens
    }

    fn cooling(self) -> usize {
        match self {
            Self::AllReady(_) => 0,
            Self::HalfCooling(tokens) => tokens / 2,
        }
    }
}

const SIZES: [Case; 7] = [
    Case::AllReady(1),
    Case::AllReady(10),
    Case::HalfCooling(10),
    Case::AllReady(1_000),
    Case::HalfCooling(1_000),
    Case::AllReady(100_000),
    Case::HalfCooling(100_000),
];
const LARGEST: [Case; 2] = [Case::AllReady(1_000_000), Case::HalfCooling(1_000_000)];

fn specs(tokens: usize) -> Vec<TokenSpec> {
    (0..tokens).map(|token| TokenSpec::new(format!("{token:08}_0123456789abcdefghijklmnopqrstu"))).collect()
}

/// A pool of which every other token rests, up to as many as the case wants.
fn pool(strategy: Strategy, case: Case) -> TokenManager {
    let params = PoolParams { strategy, ..PoolParams::default() };
    let pool = TokenManager::new("bench", params, specs(case.tokens()), IdKey::from_bytes(b"bench"));
    let mut left = case.cooling();
    while left > 0 {
        let mut lease = pool.try_acquire(&[]).unwrap();
        // A quota that is used up: refusals of many tokens at once would be the address's.
        let rest = Report { quota: Some(Duration::from_secs(86_400)), ..Report::new(Outcome::Unaffected) };
        lease.settle(&rest);
        drop(lease);
        left -= 1;
        drop(pool.try_acquire(&[]));
    }
    pool
}

fn rounds(bencher: Bencher<'_, '_>, strategy: Strategy, case: Case) {
    let pool = pool(strategy, case);
    bencher.bench(|| {
        let mut lease = pool.try_acquire(&[]).unwrap();
        lease.settle(&Report::new(Outcome::Success));
    });
}

#[divan::bench(args = SIZES.into_iter().chain(LARGEST), threads = [1, 2], sample_size = 1000)]
fn round_robin(bencher: Bencher<'_, '_>, case: Case) {
    rounds(bencher, Strategy::RoundRobin, case);
}

#[divan::bench(args = SIZES, threads = [1, 2], sample_size = 1000)]
fn random(bencher: Bencher<'_, '_>, case: Case) {
    rounds(bencher, Strategy::Random, case);
}

#[divan::bench(args = SIZES, threads = [1, 2], sample_size = 1000)]
fn least_recently_used(bencher: Bencher<'_, '_>, case: Case) {
    rounds(bencher, Strategy::LeastRecentlyUsed, case);
}

#[divan::bench(args = SIZES, threads = [1, 2], sample_size = 1000)]
fn least_loaded(bencher: Bencher<'_, '_>, case: Case) {
    rounds(bencher, Strategy::LeastLoaded, case);
}

/// PixivFE's way: gather all good tokens into a list at each request, then choose.
#[divan::bench(args = SIZES)]
fn naive_round_robin(bencher: Bencher<'_, '_>, case: Case) {
    let pool = NaivePool::new(case.tokens(), case.cooling());
    bencher.bench(|| {
        let token = pool.next().unwrap();
        pool.succeeded(token);
    });
}

/// PixivFE's least recently used: the same list, sorted.
#[divan::bench(args = SIZES)]
fn naive_least_recently_used(bencher: Bencher<'_, '_>, case: Case) {
    let pool = NaivePool::new(case.tokens(), case.cooling());
    bencher.bench(|| {
        let token = pool.least_recently_used().unwrap();
        pool.succeeded(token);
    });
}

/// What a pool holds: `max alloc` less what its specs hold, by the number of tokens.
#[divan::bench(args = [1_000, 100_000], sample_count = 3, sample_size = 1)]
fn memory(bencher: Bencher<'_, '_>, tokens: usize) {
    bencher.bench(|| pool(Strategy::RoundRobin, Case::AllReady(tokens)));
}
