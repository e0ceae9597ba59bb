//! How long a response asks to be left alone.
//!
//! `Retry-After` is RFC 9110 section 10.2.3, `RateLimit` is draft-ietf-httpapi-ratelimit-headers, the rest are
//! customs. All of them come from outside: what cannot be read says nothing, and nothing here panics.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, StatusCode, header};

use self::window::Window;

mod ietf;
mod moment;
mod window;

pub(crate) use self::window::windows;

/// How long the response asks to be left alone, of its `Retry-After`, `Retry-After-Ms`, `X-RateLimit-Reset*` and
/// `RateLimit` fields; `None` if it does not ask.
///
/// `Retry-After` counts on every status from 300. When a quota is full again counts only on a refusal (429) that
/// has no `Retry-After`, and only for a quota that may be the reason: one that is used up, or that does not tell
/// what is left of it; and on a failure (5xx) a reset that stands alone. Good answers carry the same fields, and ask
/// for nothing with them.
///
/// Dates and epoch seconds are read against the response's own `Date`, so that a clock that is wrong on one side
/// does no harm; without one against `now`.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// let mut headers = http::HeaderMap::new();
/// headers.insert("date", "Sun, 06 Nov 1994 08:49:37 GMT".parse()?);
/// headers.insert("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT".parse()?);
/// let told = tidegate_api_client::told_delay(http::StatusCode::SERVICE_UNAVAILABLE, &headers, SystemTime::UNIX_EPOCH);
/// assert_eq!(told, Some(Duration::from_secs(30)));
/// # Ok::<(), http::header::InvalidHeaderValue>(())
/// ```
pub fn told_delay(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if status.as_u16() < 300 {
        return None;
    }
    let origin = origin(headers, now);
    match retry_after(headers, origin) {
        None if status == StatusCode::TOO_MANY_REQUESTS => reset_of_a_refusal(headers, origin),
        None if status.is_server_error() => reset_that_stands_alone(headers, origin),
        told => told,
    }
}

/// The moment that a response's dates are read against: its own `Date`, else `now`.
pub(crate) fn origin(headers: &HeaderMap, now: SystemTime) -> SystemTime {
    headers.get(header::DATE).and_then(|date| moment::http_date(date.as_bytes())).unwrap_or(now)
}

/// `Retry-After` and `Retry-After-Ms`, whatever the status.
pub(crate) fn retry_after(headers: &HeaderMap, origin: SystemTime) -> Option<Duration> {
    const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");
    let whole = longest(headers, &header::RETRY_AFTER, |value| {
        moment::seconds(value, origin).or_else(|| moment::until_http_date(value, origin))
    });
    let exact = longest(headers, &RETRY_AFTER_MS, |value| moment::milliseconds(value, origin));
    match (whole, exact) {
        // The same delay twice: the seconds are the milliseconds rounded up.
        (Some(whole), Some(exact)) if whole.saturating_sub(exact) < Duration::from_secs(1) => Some(exact),
        (whole, exact) => whole.max(exact),
    }
}

/// When the quota that a refusal is about is full again.
pub(crate) fn reset_of_a_refusal(headers: &HeaderMap, origin: SystemTime) -> Option<Duration> {
    let mut longest = None;
    windows(
        headers,
        || origin,
        |Window { empty, reset, .. }| {
            if empty != Some(false) {
                longest = longest.max(reset);
            }
        },
    );
    longest
}

/// A reset without a word of what is left: on a failure it can only say when to return.
fn reset_that_stands_alone(headers: &HeaderMap, origin: SystemTime) -> Option<Duration> {
    let mut longest = None;
    windows(
        headers,
        || origin,
        |Window { empty, reset, .. }| {
            if empty.is_none() {
                longest = longest.max(reset);
            }
        },
    );
    longest
}

/// The longest of a field's values: each line, and in a line each element, for joined lines.
fn longest(
    headers: &HeaderMap,
    name: &HeaderName,
    read: impl Fn(&[u8]) -> Option<Duration>,
) -> Option<Duration> {
    let lines = headers.get_all(name).iter().map(http::HeaderValue::as_bytes);
    // A date holds a comma itself, so that the whole line comes first.
    let of_line =
        |line: &[u8]| read(line).or_else(|| line.split(|&byte| byte == b',').filter_map(&read).max());
    lines.filter_map(of_line).max()
}

#[cfg(test)]
mod tests;
