use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::Serialize;
use tidegate_token_manager::{ScopeStatus, TokenStatus};
use tokio::time::Instant;

/// A token as `/tokens` shows it.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct TokenView {
    pub(super) id: String,
    pub(super) pool: String,
    pub(super) name: Option<String>,
    pub(super) state: &'static str,
    pub(super) failures: u32,
    pub(super) until: Option<String>,
    pub(super) retry_in_ms: u64,
    pub(super) in_flight: u32,
    pub(super) reason: Option<&'static str>,
    pub(super) last_status: Option<u16>,
    pub(super) requests: u64,
    pub(super) successes: u64,
    pub(super) rate_limited: u64,
    pub(super) rejected: u64,
    pub(super) last_used: Option<String>,
    /// The time between two uses at its learned pace, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pace_ms: Option<u64>,
    /// The scopes in which it is not ready, where the pool tells scopes apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) scopes: Vec<ScopeView>,
}

/// Where a token stands in a scope of its own limits.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct ScopeView {
    pub(super) scope: String,
    pub(super) state: &'static str,
    pub(super) until: Option<String>,
    pub(super) retry_in_ms: u64,
    pub(super) reason: Option<&'static str>,
}

/// The present moment, by the clock that measures and by the one that people read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) instant: Instant,
    pub(super) wall: SystemTime,
}

impl Now {
    pub(super) fn read() -> Self {
        Self { instant: Instant::now(), wall: tidegate_token_manager::wall::now() }
    }

    /// RFC 3339 in UTC, to the millisecond; `None` for a moment that has no such date.
    pub(super) fn show(&self, moment: Instant) -> Option<String> {
        let wall = match moment.checked_duration_since(self.instant) {
            Some(ahead) => self.wall.checked_add(ahead),
            None => self.wall.checked_sub(self.instant.saturating_duration_since(moment)),
        };
        Some(format!("{:.3}", Timestamp::try_from(wall?).ok()?))
    }
}

impl TokenView {
    pub(super) fn new(pool: &str, status: TokenStatus, now: Now) -> Self {
        Self {
            id: status.id.to_string(),
            pool: pool.to_owned(),
            name: status.name,
            state: status.state.as_str(),
            failures: status.failures,
            until: status.until.and_then(|until| now.show(until)),
            retry_in_ms: whole_millis(status.retry_in),
            in_flight: status.in_flight,
            reason: status.reason.map(tidegate_token_manager::Reason::as_str),
            last_status: status.last_status,
            requests: status.requests,
            successes: status.successes,
            rate_limited: status.rate_limited,
            rejected: status.rejected,
            last_used: status.last_used.and_then(|used| now.show(used)),
            pace_ms: status.pace.map(whole_millis),
            scopes: status.scopes.into_iter().map(|scope| ScopeView::new(scope, now)).collect(),
        }
    }
}

impl ScopeView {
    fn new(status: ScopeStatus, now: Now) -> Self {
        Self {
            scope: status.scope,
            state: status.state.as_str(),
            until: status.until.and_then(|until| now.show(until)),
            retry_in_ms: whole_millis(status.retry_in),
            reason: status.reason.map(tidegate_token_manager::Reason::as_str),
        }
    }
}

/// Rounded up: at 0 the token is to be had.
pub(super) fn whole_millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn moments_are_shown_as_dates_to_the_millisecond() {
        tokio::time::advance(Duration::from_secs(1000)).await;
        let wall = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_119_200);
        let now = Now { instant: Instant::now(), wall };
        for (moment, want) in [
            (now.instant, "2026-12-01T10:00:00.000Z"),
            (now.instant + Duration::from_nanos(1_870_999_999), "2026-12-01T10:00:01.870Z"),
            (now.instant - Duration::from_millis(250), "2026-12-01T09:59:59.750Z"),
            (now.instant + Duration::from_secs(30 * 86_400), "2026-12-31T10:00:00.000Z"),
        ] {
            assert_eq!(now.show(moment).as_deref(), Some(want));
        }
    }

    #[test]
    fn a_wait_is_rounded_up() {
        for (nanos, millis) in [(0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2), (1_869_000_001, 1870)] {
            assert_eq!(whole_millis(Duration::from_nanos(nanos)), millis);
        }
        assert_eq!(whole_millis(Duration::MAX), u64::MAX);
    }
}
