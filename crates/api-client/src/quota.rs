//! Whether a response says that the token's quota is used up.

use std::cell::LazyCell;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use tidegate_token_manager::Remaining;

use crate::told;

/// How long until a quota that is told to be used up is full again: the longest of them; `None` if none is, or
/// none says when.
///
/// Such a token is rested before the upstream has to refuse it. Read are `X-RateLimit-Remaining` with
/// `X-RateLimit-Reset` and their many spellings (`-Requests`, `-Tokens`), and `RateLimit`
/// (draft-ietf-httpapi-ratelimit-headers). Epochs and dates are read against the response's `Date`, else `now`.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// let mut headers = http::HeaderMap::new();
/// headers.insert("ratelimit", r#""burst";r=0;t=2, "day";r=40;t=3600"#.parse()?);
/// assert_eq!(tidegate_api_client::quota_empty(&headers, SystemTime::UNIX_EPOCH), Some(Duration::from_secs(2)));
/// # Ok::<(), http::header::InvalidHeaderValue>(())
/// ```
pub fn quota_empty(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    Quota::read(headers, now).rest
}

/// What a response's quotas come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quota {
    /// Some quota is told to be used up, whether or not it is told for how long.
    pub(crate) is_empty: bool,
    /// For how long.
    pub(crate) rest: Option<Duration>,
    /// Of the quotas that say when they are full again, the one of which the least is left.
    pub(crate) remaining: Option<Remaining>,
}

impl Quota {
    pub(crate) fn read(headers: &HeaderMap, now: SystemTime) -> Self {
        let mut quota = Self::default();
        let origin = LazyCell::new(|| told::origin(headers, now));
        told::windows(
            headers,
            || *origin,
            |window| {
                if window.empty == Some(true) {
                    quota.is_empty = true;
                    quota.rest = quota.rest.max(window.reset);
                }
                if let (Some(calls), Some(reset)) = (window.left, window.reset) {
                    // One that is full again by now has something left.
                    let is_told = calls > 0 || !reset.is_zero();
                    if is_told && quota.remaining.is_none_or(|least| calls < least.calls) {
                        quota.remaining = Some(Remaining { calls, reset });
                    }
                }
            },
        );
        // A quota that is full again by now rests nobody.
        quota.rest = quota.rest.filter(|rest| !rest.is_zero());
        quota
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn read(fields: &[(&'static str, &'static str)]) -> Option<(u32, u64)> {
        let fields = fields
            .iter()
            .map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let quota = Quota::read(&fields.collect(), SystemTime::UNIX_EPOCH);
        quota.remaining.map(|Remaining { calls, reset }| (calls, reset.as_secs()))
    }

    #[test]
    fn the_least_that_is_left_is_read_where_its_reset_is_told() {
        let remaining = "x-ratelimit-remaining";
        let reset = "x-ratelimit-reset";
        for (fields, want) in [
            (&[(remaining, "41"), (reset, "60")][..], Some((41, 60))),
            (&[(remaining, "41"), (reset, "0ms")], Some((41, 0))),
            (&[(remaining, "0"), (reset, "2")], Some((0, 2))),
            (&[(remaining, "0"), (reset, "0")], None),
            (&[(remaining, "41")], None),
            (&[(remaining, "many"), (reset, "60")], None),
            (&[(remaining, "41.9"), (reset, "60")], Some((41, 60))),
            (&[(remaining, "99999999999"), (reset, "60")], Some((u32::MAX, 60))),
            (&[("ratelimit", r#""burst";r=7;t=2, "day";r=40;t=3600"#)], Some((7, 2))),
            (&[("ratelimit", "limit=100, remaining=5, reset=50")], Some((5, 50))),
            (
                &[
                    ("x-ratelimit-remaining-requests", "20"),
                    ("x-ratelimit-reset-requests", "1s"),
                    ("x-ratelimit-remaining-tokens", "3"),
                    ("x-ratelimit-reset-tokens", "6m0s"),
                ],
                Some((3, 360)),
            ),
            (&[], None),
        ] {
            assert_eq!(read(fields), want, "{fields:?}");
        }
    }
}
