//! Durations as whole nanoseconds. [`Duration::MAX`] has 94 bits of them, hence `u128`.

use core::time::Duration;

const PER_SECOND: u128 = 1_000_000_000;

/// The length of so many nanoseconds; [`Duration::MAX`] above it.
#[inline]
pub(crate) const fn to_duration(nanos: u128) -> Duration {
    // 64 bits are 584 years. A 128-bit division costs ten times the 64-bit one.
    if nanos >> 64 == 0 { Duration::from_nanos(low(nanos)) } else { wide(nanos) }
}

#[cold]
const fn wide(nanos: u128) -> Duration {
    let seconds = nanos / PER_SECOND;
    if seconds >> 64 != 0 {
        return Duration::MAX;
    }
    Duration::new(low(seconds), (nanos % PER_SECOND) as u32)
}

#[inline]
const fn low(wide: u128) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "the low word is what is asked for")]
    {
        wide as u64
    }
}

/// `value * 2^exponent`, or `cap` where that is less or the product has no room.
///
/// A `value` of 0 stays 0.
#[inline]
pub(crate) const fn doubled(value: u128, exponent: u32, cap: u128) -> u128 {
    if let (Some(value), Some(cap)) = (short(value), short(cap)) {
        return doubled_short(value, exponent, cap) as u128;
    }
    // Compared before it is shifted, so that nothing overflows: `value * 2^e <= cap` just where `value <= cap / 2^e`.
    match exponent {
        0..128 if value <= cap >> exponent => value << exponent,
        _ if value == 0 => 0,
        _ => cap,
    }
}

/// [`doubled`] in 64 bits, where both have no more.
#[inline]
pub(crate) const fn doubled_short(value: u64, exponent: u32, cap: u64) -> u64 {
    match exponent {
        0..64 if value <= cap >> exponent => value << exponent,
        _ if value == 0 => 0,
        _ => cap,
    }
}

/// So many nanoseconds in 64 bits, if they are no more than 584 years.
#[inline]
pub(crate) const fn short(nanos: u128) -> Option<u64> {
    if nanos >> 64 == 0 { Some(low(nanos)) } else { None }
}

/// [`uniform`] in 64 bits. `(most + 1) * entropy` as `most * entropy + entropy`, which has room.
#[inline]
pub(crate) const fn uniform_short(most: u64, entropy: u64) -> u64 {
    low((most as u128 * entropy as u128 + entropy as u128) >> 64)
}

/// Maps 64 random bits to `0..=most`, each value as likely as the next to within 1 in 2^64.
///
/// `floor((most + 1) * entropy / 2^64)`: a multiplication keeps every nanosecond reachable where `most` has up to
/// 64 bits, and needs no division. `most` is below 2^94, so that `most + 1` does not overflow.
#[inline]
pub(crate) const fn uniform(most: u128, entropy: u64) -> u128 {
    let count = most + 1;
    let (high, low) = (count >> 64, low(count) as u128);
    let entropy = entropy as u128;
    if high == 0 {
        return (low * entropy) >> 64;
    }
    // (high * 2^64 + low) * entropy / 2^64, split so that no product leaves 128 bits.
    high * entropy + ((low * entropy) >> 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_survives_the_way_there_and_back() {
        for duration in [
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_nanos(999_999_999),
            Duration::from_nanos(u64::MAX),
            Duration::from_nanos(u64::MAX) + Duration::from_nanos(1),
            Duration::MAX - Duration::from_nanos(1),
            Duration::MAX,
        ] {
            assert_eq!(to_duration(duration.as_nanos()), duration, "{duration:?}");
        }
        assert_eq!(to_duration(Duration::MAX.as_nanos() + 1), Duration::MAX);
        assert_eq!(to_duration(u128::MAX), Duration::MAX);
    }

    #[test]
    fn doubling_saturates_at_the_cap() {
        for (value, exponent, cap, expected) in [
            (0, 0, 7, 0),
            (0, u32::MAX, u128::MAX, 0),
            (1, 0, 7, 1),
            (1, 2, 7, 4),
            (1, 3, 7, 7),
            (1, 127, u128::MAX, 1 << 127),
            (1, 128, u128::MAX, u128::MAX),
            (3, 127, u128::MAX, u128::MAX),
            (3, u32::MAX, 9, 9),
            (5, 1, 0, 0),
        ] {
            assert_eq!(doubled(value, exponent, cap), expected, "{value} * 2^{exponent}, at most {cap}");
        }
    }

    #[test]
    fn a_draw_reaches_both_ends_and_nothing_beyond() {
        let longest = Duration::MAX.as_nanos();
        for most in [0, 1, 2, 9, u128::from(u64::MAX) - 1, u128::from(u64::MAX), 1 << 64, longest] {
            assert_eq!(uniform(most, 0), 0, "{most}");
            let top = uniform(most, u64::MAX);
            assert!(top <= most, "{most}: {top}");
            // Above 64 bits the steps are as wide as 64 random bits make them.
            assert!(most - top <= most >> 64, "{most}: {top}");
            for entropy in [0, 1, 0x9e37_79b9_7f4a_7c15, u64::MAX - 1, u64::MAX] {
                if let Some(short) = short(most) {
                    assert_eq!(
                        u128::from(uniform_short(short, entropy)),
                        uniform(most, entropy),
                        "{most} {entropy}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_draw_is_uniform() {
        // 2^64 / 5 is not whole: the five parts differ by one value at most.
        let part = u64::MAX / 5;
        for value in 0..5_u64 {
            assert_eq!(uniform(4, part * value + 4), u128::from(value), "the start of part {value}");
            assert_eq!(uniform(4, part * (value + 1) - 1), u128::from(value), "the end of part {value}");
        }
    }
}
