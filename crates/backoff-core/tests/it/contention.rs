//! Which jitter when: the figures of the crate's page, from the model of "Exponential Backoff And Jitter" (Brooker,
//! 2015; code: aws-samples/aws-arch-backoff-simulator).
//!
//! So many clients write one row under optimistic concurrency control: each reads its version, writes with it, and
//! backs off when another was first. A message takes N(10, 2) ms; base 5 ms, cap 2 s.

#![expect(clippy::cast_possible_truncation, reason = "nanoseconds of some minutes")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use tidegate_backoff_core::{Backoff, Entropy, Exponential, Jitter, SplitMix64};

const CLIENTS: usize = 190;
const RUNS: u64 = 20;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Message {
    Read,
    ReadAnswer(u64),
    Write(u64),
}

/// The model counts attempts from 1: its first wait is up to twice the base.
#[derive(Clone, Copy, Default)]
struct Client {
    attempt: u32,
    previous: Duration,
}

impl Client {
    fn wait(&mut self, backoff: &Backoff, random: &mut SplitMix64) -> Duration {
        self.attempt += 1;
        self.previous = backoff.delay(self.attempt, self.previous, random.next_u64());
        self.previous
    }
}

struct Outcome {
    /// Writes that reached the server.
    calls: u64,
    /// When the last client was done.
    seconds: f64,
}

/// One message's way, in nanoseconds: Box-Muller.
fn latency(random: &mut SplitMix64) -> u64 {
    let uniform = |bits: u64| (bits >> 11) as f64 / (1_u64 << 53) as f64;
    let (radius, angle) = (1.0 - uniform(random.next_u64()), uniform(random.next_u64()));
    let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
    ((10.0 + 2.0 * normal).abs() * 1e6) as u64
}

fn run(jitter: Option<Jitter>, seed: u64) -> Outcome {
    let random = &mut SplitMix64::new(seed);
    let schedule = Exponential::new(Duration::from_millis(5), Duration::from_secs(2));
    let backoff = jitter.map(|jitter| Backoff::new(schedule, jitter));
    let mut clients = [Client::default(); CLIENTS];
    // The number keeps the order of what comes in the same nanosecond.
    let (mut queue, mut number) = (BinaryHeap::new(), 0_u64);
    let mut send = |queue: &mut BinaryHeap<_>, at: u64, client: usize, message: Message| {
        number += 1;
        queue.push(Reverse((at, number, client, message)));
    };
    for client in 0..CLIENTS {
        send(&mut queue, latency(random), client, Message::Read);
    }
    let (mut version, mut calls, mut last) = (0, 0, 0);
    while let Some(Reverse((now, _, client, message))) = queue.pop() {
        match message {
            Message::Read => {
                send(&mut queue, now + latency(random), client, Message::ReadAnswer(version));
            }
            Message::ReadAnswer(seen) => {
                send(&mut queue, now + latency(random), client, Message::Write(seen));
            }
            Message::Write(seen) => {
                calls += 1;
                let answered = now + latency(random);
                if seen == version {
                    version += 1;
                    last = last.max(answered);
                } else {
                    let wait =
                        backoff.map_or(Duration::ZERO, |backoff| clients[client].wait(&backoff, random));
                    let wait = wait.as_nanos() as u64;
                    send(&mut queue, answered + wait + latency(random), client, Message::Read);
                }
            }
        }
    }
    Outcome { calls, seconds: last as f64 / 1e9 }
}

fn mean(jitter: Option<Jitter>) -> Outcome {
    let runs: Vec<_> = (0..RUNS).map(|seed| run(jitter, seed)).collect();
    Outcome {
        calls: runs.iter().map(|run| run.calls).sum::<u64>() / RUNS,
        seconds: runs.iter().map(|run| run.seconds).sum::<f64>() / RUNS as f64,
    }
}

#[test]
fn the_figures_of_the_page_hold() {
    for (jitter, calls, seconds) in [
        (None, 8_030.0, 3.5),
        (Some(Jitter::None), 5_150.0, 102.0),
        (Some(Jitter::Full), 1_770.0, 7.4),
        (Some(Jitter::Equal), 1_760.0, 9.7),
        (Some(Jitter::Decorrelated), 2_440.0, 6.7),
    ] {
        let found = mean(jitter);
        println!("{jitter:?}: {} calls, {:.1} s", found.calls, found.seconds);
        let off = |found: f64, told: f64| (found / told - 1.0).abs();
        assert!(off(found.calls as f64, calls) < 0.03, "{jitter:?}: {} calls, told {calls}", found.calls);
        assert!(off(found.seconds, seconds) < 0.05, "{jitter:?}: {} s, told {seconds}", found.seconds);
    }
}
