use std::time::Duration;

use super::{World, exponential};

/// Who calls, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// One by one, each without regard to the others.
    Poisson {
        /// In parts of what the upstream grants.
        load: f64,
    },
    /// All at once, in regular bursts.
    Bursts {
        /// In parts of what the upstream grants.
        load: f64,
        /// From burst to burst.
        every: Duration,
    },
    /// Clients that each wait for an answer, think, and call again.
    Closed {
        /// How many.
        users: usize,
        /// How long they think, in the mean.
        think: Duration,
    },
}

/// A request that comes in from outside, whatever became of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Since the simulation's start.
    pub at: Duration,
    /// Whose it is.
    pub client: usize,
}

/// All arrivals of an open world, in their order.
#[derive(Debug)]
pub struct Arrivals {
    random: fastrand::Rng,
    traffic: Traffic,
    per_second: f64,
    clients: Clients,
    at: Duration,
    left_of_burst: u64,
    end: Duration,
}

impl Arrivals {
    /// The arrivals that this seed gives; none for a closed world.
    pub fn new(world: &World, seed: u64) -> Self {
        let (load, at) = match world.traffic {
            Traffic::Poisson { load } | Traffic::Bursts { load, .. } => (load, Duration::ZERO),
            Traffic::Closed { .. } => (0.0, Duration::MAX),
        };
        Self {
            random: fastrand::Rng::with_seed(seed),
            traffic: world.traffic,
            per_second: load * world.per_second(),
            clients: Clients::new(&world.clients),
            at,
            left_of_burst: 0,
            end: world.warm_up + world.measured,
        }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        if self.per_second <= 0.0 {
            return None;
        }
        match self.traffic {
            Traffic::Poisson { .. } => {
                let mean = Duration::from_secs_f64(1.0 / self.per_second);
                self.at += exponential(mean, &mut self.random);
            }
            Traffic::Bursts { every, .. } => {
                if self.left_of_burst == 0 {
                    self.at += every;
                    let size = (self.per_second * every.as_secs_f64()).round().max(1.0);
                    self.left_of_burst = whole(size);
                }
                self.left_of_burst -= 1;
            }
            Traffic::Closed { .. } => return None,
        }
        let client = self.clients.draw(&mut self.random);
        (self.at < self.end).then_some(Arrival { at: self.at, client })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is what is meant"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// Whose an arrival is.
#[derive(Debug)]
struct Clients {
    /// The sum of the parts up to each client.
    up_to: Vec<f64>,
}

impl Clients {
    fn new(parts: &[f64]) -> Self {
        let sums = parts.iter().scan(0.0, |sum, part| {
            *sum += part;
            Some(*sum)
        });
        Self { up_to: sums.collect() }
    }

    fn draw(&self, random: &mut fastrand::Rng) -> usize {
        let drawn = random.f64() * self.up_to.last().copied().unwrap_or_default();
        self.up_to.partition_point(|sum| *sum <= drawn)
    }
}

#[cfg(test)]
mod tests;
