//! What a round costs by the wall clock when threads contend: `cargo xtask bench contention`.
//!
//! Divan's threads begin together but make too few rounds in a sample to contend all the time; these make a
//! ten thousand each. Shown are nanoseconds of the wall clock for one round of any thread, the least of 300 runs: what a
//! busy machine adds is left out. The last rows say what this machine takes to read memory of a pool's size at random,
//! where each read names the next, and where none waits for another.
#![expect(clippy::print_stdout, reason = "a bench tells what it measured")]

use std::sync::Barrier;
use std::thread;

use tidegate_token_manager::{IdKey, Outcome, PoolParams, Report, Strategy, TokenManager, TokenSpec};
use tokio::time::Instant;

const ROUNDS: u32 = 10_000;
const RUNS: u32 = 300;

fn main() {
    println!("{:<22}{:>9}{:>14}{:>14}", "strategy", "tokens", "1 thread", "2 threads");
    for strategy in Strategy::ALL {
        for tokens in [1, 10, 1_000, 100_000] {
            let specs = (0..tokens).map(|token| TokenSpec::new(format!("{token:08}"))).collect();
            let params = PoolParams { strategy, ..PoolParams::default() };
            let pool = TokenManager::new("bench", params, specs, IdKey::from_bytes(b"bench"));
            let [one, two] = [1, 2].map(|threads| nanoseconds(&pool, threads));
            // Where no two threads ever ran together, there is nothing to tell.
            let two = if two.is_finite() { format!("{two:.0} ns") } else { "-".into() };
            println!("{:<22}{tokens:>9}{one:>11.0} ns{two:>14}", strategy.as_str());
        }
    }
    for tokens in [1_000, 100_000] {
        let mut lines = Lines::of_a_pool(tokens);
        println!("{:<22}{tokens:>9}{:>11.0} ns", "one read, dependent", least(|| lines.follow()));
        println!("{:<22}{tokens:>9}{:>11.1} ns", "one read of many", least(|| lines.gather()));
    }
}

fn least(run: impl FnMut() -> f64) -> f64 {
    std::iter::repeat_with(run).take(RUNS as usize).fold(f64::INFINITY, f64::min)
}

fn nanoseconds(pool: &TokenManager, threads: u32) -> f64 {
    least(|| run(pool, threads))
}

/// From the first thread's first round to the last one's last. Infinite for a run in which the threads did not work at
/// the same time nearly all the while: on a busy machine one often waits for a core until the other is done.
fn run(pool: &TokenManager, threads: u32) -> f64 {
    let barrier = Barrier::new(threads as usize);
    let times: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let work = || {
            barrier.wait();
            let began = Instant::now();
            (0..ROUNDS).for_each(|_| round(pool));
            (began, Instant::now())
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let (began, ended): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let span = |from: Option<&Instant>, to: Option<&Instant>| {
        from.zip(to).map_or(0.0, |(&from, &to)| to.saturating_duration_since(from).as_secs_f64())
    };
    let wall = span(began.iter().min(), ended.iter().max());
    let together = span(began.iter().max(), ended.iter().min());
    if together < 0.9 * wall { f64::INFINITY } else { wall * 1e9 / f64::from(ROUNDS * threads) }
}

fn round(pool: &TokenManager) {
    if let Ok(mut lease) = pool.try_acquire(&[]) {
        lease.settle(&Report::new(Outcome::Success));
    }
}

/// As much memory as a pool of so many tokens takes, by lines of a cache. Each names another, and all are one ring in
/// a random order.
struct Lines {
    lines: Vec<Line>,
    /// Where the latest run has come to: the next one goes on there, so that it meets nothing that was just read.
    at: usize,
}

#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line {
    next: usize,
}

impl Lines {
    const OF_A_TOKEN: usize = 3;

    fn of_a_pool(tokens: usize) -> Self {
        let mut order: Vec<usize> = (0..tokens * Self::OF_A_TOKEN).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut order);
        let mut lines = vec![Line { next: 0 }; order.len()];
        for (at, &line) in order.iter().enumerate() {
            lines[line].next = order[(at + 1) % order.len()];
        }
        Self { lines, at: 0 }
    }

    fn follow(&mut self) -> f64 {
        let began = Instant::now();
        self.at = (0..ROUNDS).fold(self.at, |at, _| self.lines[at].next);
        began.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
    }

    fn gather(&self) -> f64 {
        let mut random = fastrand::Rng::new();
        let began = Instant::now();
        let sum = (0..ROUNDS).fold(0, |sum, _| sum ^ self.lines[random.usize(..self.lines.len())].next);
        std::hint::black_box(sum);
        began.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
    }
}
