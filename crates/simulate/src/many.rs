//! Many runs at once: a thread for each processor, and a runtime of its own for each run.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::measure::Measured;
use crate::run::{Case, run};

/// The mean of each case over these seeds, in the cases' order.
///
/// # Errors
///
/// When a run cannot be made.
pub fn run_all(cases: &[Case], seeds: &[u64]) -> io::Result<Vec<Measured>> {
    let jobs: Vec<(usize, u64)> =
        (0..cases.len()).flat_map(|case| seeds.iter().map(move |seed| (case, *seed))).collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(jobs.len()));
    let threads = thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((case, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let run = run(&cases[*case], *seed).map(|measured| (*case, *seed, measured));
                    done.lock().unwrap_or_else(PoisonError::into_inner).push(run);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut done = done.into_iter().collect::<io::Result<Vec<_>>>()?;
    // Threads end in any order, and the order of a sum shows in its last digits.
    done.sort_by_key(|(case, seed, _)| (*case, *seed));
    let mean = |case| {
        let runs: Vec<Measured> =
            done.iter().filter(|(of, ..)| *of == case).map(|(_, _, run)| run.clone()).collect();
        Measured::mean(&runs)
    };
    Ok((0..cases.len()).map(mean).collect())
}
