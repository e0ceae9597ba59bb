//! Draws that are the same on every machine: the C library's logarithm is not.

use std::f64::consts::TAU;
use std::time::Duration;

/// A length whose logarithm is normal: mostly near the median, now and then far above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    /// Half are below.
    pub median: Duration,
    /// How far the logarithms spread: two thirds are within `e^±sigma` of the median. Zero: all are the median.
    pub sigma: f64,
}

impl LogNormal {
    /// One length.
    pub fn draw(self, random: &mut fastrand::Rng) -> Duration {
        self.median.mul_f64(libm::exp(self.sigma * normal(random)))
    }

    /// The mean of all.
    pub fn mean(self) -> Duration {
        self.median.mul_f64(libm::exp(self.sigma * self.sigma / 2.0))
    }
}

/// A wait for what happens once in `mean` and remembers nothing.
pub fn exponential(mean: Duration, random: &mut fastrand::Rng) -> Duration {
    mean.mul_f64(-libm::log(above_zero(random)))
}

/// Box and Muller's.
fn normal(random: &mut fastrand::Rng) -> f64 {
    libm::sqrt(-2.0 * libm::log(above_zero(random))) * libm::cos(TAU * random.f64())
}

fn above_zero(random: &mut fastrand::Rng) -> f64 {
    1.0 - random.f64()
}
