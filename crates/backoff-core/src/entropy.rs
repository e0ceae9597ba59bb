/// Where random bits come from: a generator, or any closure that returns 64 of them.
///
/// ```
/// use tidegate_backoff_core::{Entropy, SplitMix64};
///
/// let mut fixed = || 42;
/// assert_eq!(fixed.next_u64(), 42);
/// assert_ne!(SplitMix64::new(1).next_u64(), SplitMix64::new(2).next_u64());
/// ```
pub trait Entropy {
    /// 64 random bits.
    fn next_u64(&mut self) -> u64;
}

impl<F: FnMut() -> u64> Entropy for F {
    fn next_u64(&mut self) -> u64 {
        self()
    }
}

/// A small seeded generator (splitmix64; Steele, Lea, Flood 2014): good enough to spread waits, no secret.
///
/// Not `Clone`: two copies of one state give two callers the same waits. Seed each from the caller's own randomness.
#[derive(Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A generator that starts from `seed`; any seed is as good as another.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// One step: bits that depend on `seed` but do not look like it.
    pub(crate) const fn mix(seed: u64) -> u64 {
        let mut z = seed.wrapping_add(Self::GOLDEN);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Entropy for SplitMix64 {
    fn next_u64(&mut self) -> u64 {
        let bits = Self::mix(self.state);
        self.state = self.state.wrapping_add(Self::GOLDEN);
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_published_sequence() {
        // The first values of the reference implementation for seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        for expected in [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423] {
            assert_eq!(random.next_u64(), expected);
        }
    }
}
