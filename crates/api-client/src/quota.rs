//! Whether a response says that the token's quota is used up.

use std::cell::LazyCell;
use std::time::{Duration, SystemTime};

use http::HeaderMap;

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
            },
        );
        // A quota that is full again by now rests nobody.
        quota.rest = quota.rest.filter(|rest| !rest.is_zero());
        quota
    }
}
