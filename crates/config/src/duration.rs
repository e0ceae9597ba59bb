//! Durations as Go writes them: `500ms`, `1m30s`, `1h`, `0`.

use std::time::Duration;

/// Why a text is no duration for a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// There is nothing.
    #[error("is empty")]
    Empty,
    /// A number, at the end or before another one, has no unit.
    #[error("has no unit")]
    NoUnit,
    /// Something that is no unit follows a number.
    #[error("has a unit that does not exist: {0:?}")]
    UnknownUnit(String),
    /// It does not begin with a number, or has a second sign or point.
    #[error("is not a duration")]
    Malformed,
    /// It is longer than 2^63 - 1 ns, some 292 years.
    #[error("is longer than 292 years")]
    TooLong,
    /// It is a duration, but below zero.
    #[error("is negative")]
    Negative,
}

/// Go's limit in nanoseconds: what stands below zero may be one more than what stands above.
const LIMIT: u64 = 1 << 63;

/// Parses a duration exactly as Go's `time.ParseDuration` does, but that a negative one is refused.
///
/// Units are `ns`, `us` (also with either micro sign), `ms`, `s`, `m`, `h`; several may follow each other, each with a
/// fraction; `0` needs none. What is finer than a nanosecond is cut off.
///
/// # Errors
///
/// What is wrong with the text, without repeating it.
///
/// ```
/// use std::time::Duration;
/// use tidegate_config::{DurationError, parse_duration};
///
/// assert_eq!(parse_duration("1m30s"), Ok(Duration::from_secs(90)));
/// assert_eq!(parse_duration("1000"), Err(DurationError::NoUnit));
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    match rest {
        "0" => return Ok(Duration::ZERO),
        "" if text.is_empty() => return Err(DurationError::Empty),
        "" => return Err(DurationError::Malformed),
        _ => {}
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (nanos, after) = leading_term(rest)?;
        total = total.checked_add(nanos).filter(|total| *total <= LIMIT).ok_or(DurationError::TooLong)?;
        rest = after;
    }
    match total {
        0 => Ok(Duration::ZERO),
        _ if negative => Err(DurationError::Negative),
        LIMIT => Err(DurationError::TooLong),
        nanos => Ok(Duration::from_nanos(nanos)),
    }
}

/// A number and its unit, in nanoseconds, and what follows.
fn leading_term(text: &str) -> Result<(u64, &str), DurationError> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (whole, mut rest) = (&text[..digits], &text[digits..]);
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        (fraction, rest) = (&after[..digits], &after[digits..]);
    }
    if whole.is_empty() && fraction.is_empty() {
        return Err(DurationError::Malformed);
    }
    let whole = leading_int(whole)?;
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let unit: u64 = match &rest[..end] {
        "" => return Err(DurationError::NoUnit),
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        other => return Err(DurationError::UnknownUnit(other.to_owned())),
    };
    let nanos = whole.checked_mul(unit).filter(|nanos| *nanos <= LIMIT).ok_or(DurationError::TooLong)?;
    let nanos = nanos.checked_add(fraction_of(fraction, unit)).ok_or(DurationError::TooLong)?;
    if nanos > LIMIT { Err(DurationError::TooLong) } else { Ok((nanos, &rest[end..])) }
}

fn leading_int(digits: &str) -> Result<u64, DurationError> {
    digits
        .bytes()
        .try_fold(0_u64, |n, digit| n.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .filter(|n| *n <= LIMIT)
        .ok_or(DurationError::TooLong)
}

/// The fraction's part of `unit`. It goes through a float because Go's does: the golden values hold its rounding.
/// Digits past what 63 bits hold are left out, as there.
fn fraction_of(digits: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1_f64);
    for digit in digits.bytes() {
        if value > (LIMIT - 1) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > LIMIT {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "cutting off is what is wanted, and the result is below `unit`"
    )]
    let nanos = (value as f64 * (unit as f64 / scale)) as u64;
    nanos
}

/// Writes a duration so that [`parse_duration`] gives it back: `500ms`, `1m30s`, `1h`, `0s`.
///
/// ```
/// # use std::time::Duration;
/// use tidegate_config::show_duration;
///
/// assert_eq!(show_duration(Duration::from_millis(90_500)), "1m30.5s");
/// ```
pub fn show_duration(duration: Duration) -> String {
    let nanos = duration.subsec_nanos();
    if duration.as_secs() == 0 {
        return match nanos {
            0 => "0s".to_owned(),
            1..=999 => format!("{nanos}ns"),
            1_000..=999_999 => decimal(u64::from(nanos / 1_000), nanos % 1_000, 3, "us"),
            _ => decimal(u64::from(nanos / 1_000_000), nanos % 1_000_000, 6, "ms"),
        };
    }
    let (hours, minutes, seconds) =
        (duration.as_secs() / 3600, duration.as_secs() / 60 % 60, duration.as_secs() % 60);
    let mut shown = String::new();
    if hours > 0 {
        shown += &format!("{hours}h");
    }
    if minutes > 0 {
        shown += &format!("{minutes}m");
    }
    if seconds > 0 || nanos > 0 {
        shown += &decimal(seconds, nanos, 9, "s");
    }
    shown
}

fn decimal(whole: u64, fraction: u32, places: usize, unit: &str) -> String {
    match fraction {
        0 => format!("{whole}{unit}"),
        _ => format!("{whole}.{}{unit}", format!("{fraction:0places$}").trim_end_matches('0')),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(nanos in 0..=i64::MAX.unsigned_abs()) {
            // The float that Go's fractions go through is exact for the digits that one term shows.
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse_duration(&show_duration(duration)), Ok(duration));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[-+0-9.nuµsmh e]{0,24}|.{0,12}") {
            let _ = parse_duration(&text);
        }
    }
}
