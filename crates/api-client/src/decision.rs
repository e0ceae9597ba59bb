//! What follows a failed attempt, decided in one pure function.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use tidegate_backoff_core::{Backoff, Jitter};
use tokio::time::Instant;

use crate::journey::Progress;
use crate::overrides::Repeat;
use crate::verdict::{Fault, Verdict};

/// The limits within which a request may be sent again. As a request extension: those of this request, in place of the
/// policy's.
///
/// ```
/// use tidegate_api_client::RetryParams;
///
/// let patient = RetryParams { max_retries: 8, ..RetryParams::default() };
/// assert_eq!(patient.max_switches, 5);
/// ```
#[derive(Clone, Debug)]
pub struct RetryParams {
    /// The waits between retries (level one of the two back-offs).
    pub backoff: Backoff,
    /// Retries after faults of the upstream, at most.
    pub max_retries: u32,
    /// Switches to another token, at most.
    pub max_switches: u32,
    /// A told delay (`Retry-After`) that is longer is not waited for: the caller is answered now.
    pub max_retry_after: Duration,
    /// Whether a request that is not idempotent may be repeated as if it were.
    pub unsafe_repeats: UnsafeRepeats,
}

/// Whether requests that are not idempotent (RFC 9110, section 9.2.2) are repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnsafeRepeats {
    /// Only when the upstream surely did not act on the attempt, or the request carries an `Idempotency-Key`.
    #[default]
    Forbidden,
    /// Always; for upstreams that are known to bear it.
    Allowed,
}

impl Default for RetryParams {
    /// PixivFE's settings: three retries after 500 ms, 1 s, 2 s, at most 8 s apart, with full jitter.
    fn default() -> Self {
        let schedule =
            tidegate_backoff_core::Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
        Self {
            backoff: Backoff::new(schedule, Jitter::Full),
            max_retries: 3,
            max_switches: 5,
            max_retry_after: Duration::from_secs(30),
            unsafe_repeats: UnsafeRepeats::Forbidden,
        }
    }
}

/// What is done about a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The caller gets what the attempt got.
    Return,
    /// The same again after `wait`.
    Retry { wait: Duration },
    /// The same at once with another token; `may_wait` when none is ready now.
    Switch { may_wait: bool },
}

/// What is known when an attempt has ended.
pub(crate) struct Situation<'a> {
    pub(crate) verdict: Verdict,
    pub(crate) status: Option<StatusCode>,
    pub(crate) surely_unsent: bool,
    pub(crate) method: &'a Method,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body_is_held: bool,
    pub(crate) repeat: Option<Repeat>,
    /// No other token may sign it.
    pub(crate) is_pinned: bool,
    pub(crate) progress: Progress,
    pub(crate) now: Instant,
    pub(crate) deadline: Option<Instant>,
    pub(crate) entropy: u64,
}

impl RetryParams {
    /// Decides; `withdraw` asks the retry budget, last of all and only when everything else allows it.
    pub(crate) fn decide(&self, at: &Situation<'_>, withdraw: impl FnOnce() -> bool) -> Decision {
        let may_be_sent_again = at.body_is_held && at.repeat != Some(Repeat::Never);
        if !may_be_sent_again || at.deadline.is_some_and(|deadline| at.now >= deadline) {
            return Decision::Return;
        }
        match at.verdict.fault {
            Fault::TokenLimited | Fault::TokenRejected => self.switch(at, true, withdraw),
            Fault::Forbidden if at.progress.switches == 0 => self.switch(at, false, withdraw),
            Fault::Upstream => self.retry(at, withdraw),
            Fault::Forbidden | Fault::None | Fault::Request | Fault::Configuration | Fault::Caller => {
                Decision::Return
            }
        }
    }

    /// A first switch is free: it goes to a token that stands idle. A 403 does not prove that the upstream
    /// left a request undone, so it moves safe methods only.
    fn switch(&self, at: &Situation<'_>, may_wait: bool, withdraw: impl FnOnce() -> bool) -> Decision {
        let movable = !at.is_pinned && (at.status != Some(StatusCode::FORBIDDEN) || at.method.is_safe());
        let switches = at.progress.switches;
        if movable && switches < self.max_switches && (switches == 0 || withdraw()) {
            Decision::Switch { may_wait }
        } else {
            Decision::Return
        }
    }

    fn retry(&self, at: &Situation<'_>, withdraw: impl FnOnce() -> bool) -> Decision {
        if at.progress.retries >= self.max_retries || !self.repeating_is_safe(at) {
            return Decision::Return;
        }
        let Some(wait) = self.wait(at) else { return Decision::Return };
        let ends_in_time = match at.deadline {
            Some(deadline) => at.now.checked_add(wait).is_some_and(|end| end < deadline),
            None => true,
        };
        if ends_in_time && withdraw() { Decision::Retry { wait } } else { Decision::Return }
    }

    fn repeating_is_safe(&self, at: &Situation<'_>) -> bool {
        let surely_undone = at.surely_unsent || at.status == Some(StatusCode::TOO_MANY_REQUESTS);
        let harmless = match at.repeat {
            Some(repeat) => repeat == Repeat::Harmless,
            None => {
                at.method.is_idempotent()
                    || at.headers.contains_key("idempotency-key")
                    || self.unsafe_repeats == UnsafeRepeats::Allowed
            }
        };
        surely_undone || harmless
    }

    /// The wait before the next retry, for which a told delay is a floor; `None` when the upstream asks for more
    /// than `max_retry_after`. The reset of an empty quota is a floor too, but one that is further away is the
    /// token's alone: it rests, and another may serve the retry.
    fn wait(&self, at: &Situation<'_>) -> Option<Duration> {
        let (attempt, previous) = (at.progress.retries, at.progress.backoff);
        let quota = at.verdict.quota.filter(|reset| *reset <= self.max_retry_after);
        match at.verdict.told.max(quota) {
            Some(told) if told > self.max_retry_after => None,
            Some(told) => Some(self.backoff.delay_after(told, attempt, previous, at.entropy)),
            None => Some(self.backoff.delay(attempt, previous, at.entropy)),
        }
    }
}

#[cfg(test)]
mod tests;
