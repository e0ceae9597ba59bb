//! Properties over the whole domain. A panic anywhere in it fails them too.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use tidegate_backoff_core::{Backoff, CoolDown, Deadline, Exponential, Jitter, MAX_TOLD_REST, SplitMix64};

use crate::strategies::{duration, entropy, number};

fn jitter() -> impl Strategy<Value = Jitter> {
    select(&Jitter::ALL[..])
}

/// `min(base * 2^attempt, max)`, in the slow way.
fn naive(base: Duration, max: Duration, attempt: u32) -> Duration {
    let mut wait = base.min(max);
    for _ in 0..attempt.min(100) {
        wait = wait.saturating_mul(2).min(max);
    }
    wait
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn no_delay_is_above_the_maximum(
        base in duration(), max in duration(), jitter in jitter(),
        attempt in number(), previous in duration(), entropy in entropy(),
    ) {
        let backoff = Backoff::new(Exponential::new(base, max), jitter);
        let delay = backoff.delay(attempt, previous, entropy);
        prop_assert!(delay <= max, "{delay:?}");
        let least = match jitter {
            Jitter::None => naive(base, max, attempt),
            Jitter::Full => Duration::ZERO,
            Jitter::Equal => naive(base, max, attempt) / 2,
            Jitter::Decorrelated => base.min(max),
        };
        prop_assert!(delay >= least, "{delay:?} is below {least:?}");
        if jitter != Jitter::Decorrelated {
            prop_assert!(delay <= naive(base, max, attempt), "{delay:?} is above the ceiling");
        }
    }

    #[test]
    fn the_ceiling_is_the_doubled_base(base in duration(), max in duration(), attempt in number()) {
        prop_assert_eq!(Exponential::new(base, max).ceiling(attempt), naive(base, max, attempt));
    }

    #[test]
    fn without_jitter_waits_never_shrink(
        base in duration(), max in duration(), attempt in number(), further in number(),
    ) {
        let exact = Backoff::new(Exponential::new(base, max), Jitter::None);
        let delay = |attempt| exact.delay(attempt, Duration::ZERO, 0);
        prop_assert!(delay(attempt) <= delay(attempt.saturating_add(further)));
    }

    #[test]
    fn more_entropy_is_never_a_shorter_wait(
        base in duration(), max in duration(), jitter in jitter(),
        attempt in number(), previous in duration(), bits in (entropy(), entropy()),
    ) {
        // Monotone in the bits: with `uniform` bits the waits are uniform too.
        let backoff = Backoff::new(Exponential::new(base, max), jitter);
        let (less, more) = (bits.0.min(bits.1), bits.0.max(bits.1));
        prop_assert!(backoff.delay(attempt, previous, less) <= backoff.delay(attempt, previous, more));
    }

    #[test]
    fn a_told_delay_is_never_undercut(
        base in duration(), max in duration(), jitter in jitter(), told in duration(),
        attempt in number(), previous in duration(), entropy in entropy(),
    ) {
        let delay = Backoff::new(Exponential::new(base, max), jitter).delay_after(told, attempt, previous, entropy);
        prop_assert!(delay >= told, "{delay:?}");
        prop_assert!(delay <= max.max(told.saturating_add(base)), "{delay:?}");
    }

    #[test]
    fn a_sequence_of_delays_stays_within_the_maximum(
        base in duration(), max in duration(), jitter in jitter(), seed in any::<u64>(),
    ) {
        let delays = Backoff::new(Exponential::new(base, max), jitter).delays(SplitMix64::new(seed)).limit(100);
        let mut count = 0;
        for delay in delays {
            prop_assert!(delay <= max, "{delay:?}");
            count += 1;
        }
        prop_assert_eq!(count, 100);
    }

    #[test]
    fn a_rest_follows_its_rule(
        base in duration(), max in duration(), max_rest in duration(), reject_rest in duration(),
        max_retries in number(), failures in number(), rejections in number(),
    ) {
        let rest = CoolDown { base, max, max_rest, max_retries, reject_rest }.rest(failures, rejections);
        let cap = if failures > max_retries { max_rest } else { max };
        let paced = if failures == 0 { Duration::ZERO } else { naive(base, cap, failures - 1) };
        let barred = if rejections < 2 {
            Duration::ZERO
        } else {
            naive(reject_rest, max_rest.max(reject_rest), rejections - 2)
        };
        prop_assert_eq!(rest.duration, paced.max(barred));
        prop_assert_eq!(rest.unavailable, failures > max_retries || rejections >= 2);
    }

    #[test]
    fn one_more_failure_never_shortens_a_rest(
        base in duration(), caps in (duration(), duration()), reject_rest in duration(),
        max_retries in number(), failures in number(), rejections in number(),
    ) {
        let (max, max_rest) = (caps.0.min(caps.1), caps.0.max(caps.1));
        let cool_down = CoolDown { base, max, max_rest, max_retries, reject_rest };
        let now = cool_down.rest(failures, rejections);
        let (failures, rejections) = (failures.saturating_add(1), rejections.saturating_add(1));
        for next in [cool_down.rest(failures, rejections), cool_down.rest(failures, rejections - 1)] {
            prop_assert!(next.duration >= now.duration, "{next:?} after {now:?}");
            prop_assert!(next.unavailable >= now.unavailable, "{next:?} after {now:?}");
        }
    }

    #[test]
    fn a_told_rest_is_kept_up_to_thirty_days(failures in number(), told in duration()) {
        let rest = CoolDown::default().rest(failures, 0);
        let kept = rest.at_least(told);
        prop_assert_eq!(kept.duration, rest.duration.max(told.min(MAX_TOLD_REST)));
        prop_assert_eq!(kept.unavailable, rest.unavailable);
    }

    #[test]
    fn deadlines_agree_with_each_other(now in duration(), timeout in duration(), wait in duration()) {
        let deadline = Deadline::after(now, timeout);
        prop_assert_eq!(deadline.fits(now, wait), deadline.remaining(now).is_none_or(|left| wait < left));
        prop_assert_eq!(deadline.passed(now), deadline.moment().is_some_and(|moment| moment <= now));
        prop_assert!(deadline.cut(now, timeout).is_none_or(|left| left <= timeout));
        prop_assert!(Deadline::at(wait).earlier(deadline).moment().is_some_and(|moment| moment <= wait));
    }
}
