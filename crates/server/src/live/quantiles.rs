use std::time::Duration;

/// Four buckets an octave: a quantile is at most 19 % above the true one.
const PER_OCTAVE: f64 = 4.0;
/// The lower end of the first bucket, in milliseconds.
const LOWEST: f64 = 0.1;
/// From 0.1 ms to 14 minutes, which is more than any request has.
const BUCKETS: usize = 92;

/// Counts of durations, from which quantiles can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Durations([u32; BUCKETS]);

impl Default for Durations {
    fn default() -> Self {
        Self([0; BUCKETS])
    }
}

impl Durations {
    pub(super) fn count(&mut self, duration: Duration) {
        let octaves = (duration.as_secs_f64() * 1e3 / LOWEST).log2();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
        let bucket = (octaves * PER_OCTAVE).clamp(0.0, (BUCKETS - 1) as f64) as usize;
        self.0[bucket] = self.0[bucket].saturating_add(1);
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            *own = own.saturating_add(*more);
        }
    }

    /// The duration in milliseconds that `share` of all (0 to 1) do not exceed: the upper end of its bucket. None
    /// where nothing was counted.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let total: u64 = self.0.iter().map(|count| u64::from(*count)).sum();
        if total == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a second has fewer than 2^53 requests")]
        let wanted = (total as f64 * share).max(1.0);
        let mut passed = 0.0;
        for (bucket, count) in self.0.iter().enumerate() {
            passed += f64::from(*count);
            if passed >= wanted {
                #[expect(clippy::cast_precision_loss, reason = "below 92")]
                let octaves = (bucket + 1) as f64 / PER_OCTAVE;
                return Some(LOWEST * octaves.exp2());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_never_below_the_true_one_and_at_most_a_bucket_above() {
        let mut durations = Durations::default();
        assert_eq!(durations.quantile(0.5), None);
        for millis in 1..=1000 {
            durations.count(Duration::from_millis(millis));
        }
        for (share, truth) in [(0.01, 10.0), (0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let told = durations.quantile(share).unwrap();
            assert!(told >= truth && told <= truth * 1.19, "{share}: {told}");
        }
    }

    #[test]
    fn what_is_outside_counts_at_the_ends() {
        for (duration, low, high) in
            [(Duration::ZERO, 0.1, 0.12), (Duration::from_nanos(1), 0.1, 0.12), (Duration::MAX, 8e5, 9e5)]
        {
            let mut durations = Durations::default();
            durations.count(duration);
            let told = durations.quantile(0.5).unwrap();
            assert!((low..high).contains(&told), "{duration:?}: {told}");
        }
    }

    #[test]
    fn counts_add_up() {
        let (mut one, mut other) = (Durations::default(), Durations::default());
        one.count(Duration::from_millis(1));
        other.count(Duration::from_millis(100));
        one.add(&other);
        assert!(one.quantile(0.5).unwrap() < 2.0 && one.quantile(0.99).unwrap() > 99.0);
    }
}
