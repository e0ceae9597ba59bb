//! A hook for those who count or log what happens to requests.

use std::fmt;
use std::time::Duration;

use crate::journey::{Attempt, Cause};

/// Is told what happens to each request, as it happens: for metrics and logs of one's own.
///
/// Called on the request's own task, so it must be quick and must not wait. The same can be had afterwards, from
/// [`Attempts`](crate::Attempts), and as `tracing` events at `DEBUG` (target `tidegate_api_client`).
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use tidegate_api_client::{Attempt, Observer};
///
/// #[derive(Debug, Default)]
/// struct Calls(AtomicU32);
///
/// impl Observer for Calls {
///     fn attempt_ended(&self, _: &Attempt) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
/// ```
pub trait Observer: fmt::Debug + Send + Sync {
    /// An attempt has an answer, or has failed. One whose caller went away is not told.
    fn attempt_ended(&self, attempt: &Attempt) {
        let _ = attempt;
    }

    /// The request will be sent again, after `wait` (a switch to another token does not wait).
    fn sending_again(&self, cause: Cause, wait: Duration) {
        let _ = (cause, wait);
    }
}
