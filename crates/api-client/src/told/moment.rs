//! Readings of one value: a number, a Go-like duration, a date.

use std::time::{Duration, SystemTime};

/// From here a number of seconds is an epoch second: it is more than 31 years as a delay, which nobody means, and
/// September 2001 as an epoch, which has been passed for good.
const EPOCH_FROM: u64 = 1_000_000_000;
/// The end of the year 9999 in epoch seconds: no date is later, so that a greater number is none.
const EPOCH_END: u64 = 253_402_300_800;

/// A delay in seconds, with a fraction or without, or an epoch second (or millisecond) against `origin`.
pub(super) fn seconds(value: &[u8], origin: SystemTime) -> Option<Duration> {
    as_delay(number(value.trim_ascii())?, origin)
}

/// A delay in milliseconds, with a fraction or without.
pub(super) fn milliseconds(value: &[u8], origin: SystemTime) -> Option<Duration> {
    as_delay(number(value.trim_ascii())? / 1000, origin)
}

/// How long from `origin` to an HTTP-date in any of its three forms; nothing if it has passed.
pub(super) fn until_http_date(value: &[u8], origin: SystemTime) -> Option<Duration> {
    Some(http_date(value)?.duration_since(origin).unwrap_or_default())
}

/// An HTTP-date in any of its three forms (RFC 9110, section 5.6.7).
pub(super) fn http_date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value.trim_ascii()).ok()?).ok()
}

/// The value of a reset field: seconds, an epoch, `6m0s`, or a date (HTTP's or RFC 3339's).
pub(super) fn reset(value: &[u8], origin: SystemTime) -> Option<Duration> {
    seconds(value, origin)
        .or_else(|| go_duration(value.trim_ascii()))
        .or_else(|| until_http_date(value, origin))
        .or_else(|| Some(rfc3339(value.trim_ascii())?.duration_since(origin).unwrap_or_default()))
}

/// Whether the value is the number zero. `None` if it is no number.
pub(super) fn is_zero(value: &[u8]) -> Option<bool> {
    number(value.trim_ascii()).map(|nanos| nanos == 0)
}

/// The whole number that the value is, or that is below it.
pub(super) fn whole(value: &[u8]) -> Option<u32> {
    number(value.trim_ascii()).map(|nanos| u32::try_from(nanos / 1_000_000_000).unwrap_or(u32::MAX))
}

/// `digits` or `digits.digits`, in billionths; what does not fit is the greatest there is. No sign, no exponent.
fn number(text: &[u8]) -> Option<u128> {
    let (number, rest) = leading_number(text)?;
    rest.is_empty().then_some(number)
}

fn leading_number(text: &[u8]) -> Option<(u128, &[u8])> {
    const BILLION: u128 = 1_000_000_000;
    let (whole, mut rest) = digits(text);
    if whole.is_empty() {
        return None;
    }
    let add = |sum: u128, digit: &u8| sum.saturating_mul(10).saturating_add(u128::from(digit - b'0'));
    let mut billionths = whole.iter().fold(0, add).saturating_mul(BILLION);
    if let Some(after_point) = rest.strip_prefix(b".") {
        let (fraction, after) = digits(after_point);
        if fraction.is_empty() {
            return None;
        }
        // Digits beyond the ninth are less than a nanosecond.
        let places = fraction.iter().chain(std::iter::repeat(&b'0')).take(9);
        billionths = billionths.saturating_add(places.fold(0, add));
        rest = after;
    }
    Some((billionths, rest))
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

/// What a number of seconds means as a delay. A number that is neither a delay nor an epoch says nothing: it is
/// what comes of a -1 or an overflow on the other side, and must not bench a token for ages.
fn as_delay(nanos: u128, origin: SystemTime) -> Option<Duration> {
    let duration = from_nanos(nanos)?;
    let since_epoch = match duration.as_secs() {
        0..EPOCH_FROM => return Some(duration),
        EPOCH_FROM..EPOCH_END => duration,
        secs if (EPOCH_FROM * 1000..EPOCH_END * 1000).contains(&secs) => duration / 1000,
        _ => return None,
    };
    let origin = origin.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(since_epoch.saturating_sub(origin))
}

fn from_nanos(nanos: u128) -> Option<Duration> {
    let secs = u64::try_from(nanos / 1_000_000_000).ok()?;
    let subsec = u32::try_from(nanos % 1_000_000_000).ok()?;
    Some(Duration::new(secs, subsec))
}

/// `6m0s`, `1h2m3.5s`, `20ms`: a number and a unit, as often as one likes.
fn go_duration(mut text: &[u8]) -> Option<Duration> {
    /// The longest first where one begins another.
    const UNITS: [(&[u8], u128); 8] = [
        (b"ms", 1_000_000),
        (b"us", 1_000),
        ("µs".as_bytes(), 1_000),
        (b"ns", 1),
        (b"d", 86_400_000_000_000),
        (b"h", 3_600_000_000_000),
        (b"m", 60_000_000_000),
        (b"s", 1_000_000_000),
    ];
    let mut nanos = 0_u128;
    if text.is_empty() {
        return None;
    }
    while !text.is_empty() {
        let (billionths, rest) = leading_number(text)?;
        let (unit, scale) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
        nanos = nanos.saturating_add(billionths.saturating_mul(*scale) / 1_000_000_000);
        text = &rest[unit.len()..];
    }
    from_nanos(nanos).filter(|delay| delay.as_secs() < EPOCH_FROM)
}

/// `2026-12-01T10:00:00Z`, with a fraction or an offset too (RFC 3339).
fn rfc3339(text: &[u8]) -> Option<SystemTime> {
    let (date_time, mut rest) = text.split_at_checked(19)?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b't' | b' ', h1, h2, b':', n1, n2, b':', s1, s2] =
        date_time
    else {
        return None;
    };
    let year = two(*y1, *y2)? * 100 + two(*y3, *y4)?;
    let (month, day) = (two(*m1, *m2)?, two(*d1, *d2)?);
    let (hour, minute, second) = (two(*h1, *h2)?, two(*n1, *n2)?, two(*s1, *s2)?);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        rest = digits(fraction).1;
    }
    let east = match rest {
        b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let offset = two(*h1, *h2)? * 3600 + two(*m1, *m2)? * 60;
            if *sign == b'+' { offset } else { -offset }
        }
        _ => return None,
    };
    let seconds = days_from_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - east;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn two(tens: u8, ones: u8) -> Option<i64> {
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
}

/// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that a leap day ends one.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468
}
