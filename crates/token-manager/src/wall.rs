//! The wall clock.

use std::time::SystemTime;

/// The wall clock's time, for HTTP dates, epochs and what people are shown. Every wait is measured by
/// [`tokio::time::Instant`].
///
/// This is the one place of the workspace that reads it, so that nothing that decides can depend on it
/// unseen.
#[expect(clippy::disallowed_methods, reason = "this is the one reader of the wall clock")]
pub fn now() -> SystemTime {
    SystemTime::now()
}
