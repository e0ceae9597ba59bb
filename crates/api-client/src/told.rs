//! How long a response asks to be left alone.

use std::time::{Duration, SystemTime};

use http::HeaderMap;

/// The longest wait that a response's headers ask for; `None` if they ask for none.
pub fn told_delay(_headers: &HeaderMap, _now: SystemTime) -> Option<Duration> {
    None
}
