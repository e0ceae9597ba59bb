//! Whether a response says that the token's quota is used up.

use std::time::{Duration, SystemTime};

use http::HeaderMap;

/// How long until a quota that is told to be empty comes back; `None` if none is told empty.
pub fn quota_empty(_headers: &HeaderMap, _now: SystemTime) -> Option<Duration> {
    None
}
