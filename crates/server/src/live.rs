//! What people watch: the latest requests, and figures by the second, kept in memory and bounded.
//!
//! [`Live`] is written once a request and read by the operators' page. What must last, or be exact, stands in the
//! metrics and in the access log; nothing here grows with time or with traffic.

mod history;
mod quantiles;
mod recent;
mod seconds;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::StatusCode;
use tidegate_api_client::{Attempts, Fault};
use tidegate_token_manager::TokenId;
use tokio::time::Instant;

use history::Histories;
pub(crate) use history::{SLOT, Slot};
use recent::Recent;
#[cfg(test)]
pub(crate) use recent::tests::seen as test_seen;
pub(crate) use recent::{Asked, Seen};
use seconds::Seconds;
pub(crate) use seconds::{Figures, Second};

/// The figures of one process; they begin with it.
#[derive(Debug)]
pub(crate) struct Live {
    origin: Instant,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    recent: Recent,
    seconds: Seconds,
    histories: Histories,
}

/// How a request ended for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// It got an answer that the gateway and the upstream stand by; a 404 is one.
    Served,
    /// 429 or 5xx: it has to come again.
    Failed,
    /// It went away before there was an answer, which says nothing of the gateway.
    Left,
}

impl Service {
    /// By the status that the caller got; none where it had gone.
    pub(crate) fn of(status: Option<StatusCode>) -> Self {
        match status {
            None => Self::Left,
            Some(StatusCode::TOO_MANY_REQUESTS) => Self::Failed,
            Some(status) if status.is_server_error() => Self::Failed,
            Some(_) => Self::Served,
        }
    }
}

impl Live {
    pub(crate) fn new() -> Self {
        Self { origin: Instant::now(), books: Mutex::default() }
    }

    /// Writes down a request whose head is answered, or whose caller has gone.
    pub(crate) fn record(&self, seen: Seen, now: Instant) {
        let second = self.second(now);
        let mut books = self.books();
        books.seconds.count(second, Service::of(seen.status), seen.attempts.count(), seen.took);
        for (token, luck) in fortunes(&seen.attempts) {
            books.histories.count(token, second, luck);
        }
        books.recent.push(seen);
    }

    /// Whole seconds since the start, which number the seconds here.
    pub(crate) fn second(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.origin).as_secs()
    }

    /// The complete seconds before `now`'s, from `from` on as far as they are kept, oldest first.
    pub(crate) fn seconds(&self, from: u64, now: Instant) -> Vec<Second> {
        self.books().seconds.between(from, self.second(now))
    }

    /// The figures of the last ten complete seconds together.
    pub(crate) fn figures(&self, now: Instant) -> Figures {
        self.books().seconds.figures(self.second(now))
    }

    /// The latest requests whose number is at least `from`, oldest first.
    pub(crate) fn requests(&self, from: u64) -> Vec<(u64, Seen)> {
        self.books().recent.since(from)
    }

    /// What became of a token's attempts in the last minutes, oldest first; slots without any are left out.
    pub(crate) fn history(&self, token: TokenId, now: Instant) -> Vec<Slot> {
        self.books().histories.of(token, self.second(now))
    }

    /// Forgets the histories of tokens that no pool has any more.
    pub(crate) fn keep(&self, is_known: impl Fn(TokenId) -> bool) {
        self.books().histories.keep(is_known);
    }

    // What is done under the lock is counting: after a panic there the counts are sound enough to show.
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a token's attempt went well for the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Luck {
    Success,
    Refusal,
}

/// Of each pooled attempt, where it says something of its token.
fn fortunes(attempts: &Attempts) -> impl Iterator<Item = (TokenId, Luck)> {
    attempts.iter().filter_map(|attempt| {
        let luck = match attempt.fault? {
            Fault::None | Fault::Request => Luck::Success,
            Fault::TokenLimited | Fault::TokenRejected | Fault::Forbidden => Luck::Refusal,
            _ => return None,
        };
        Some((attempt.token?, luck))
    })
}

/// In milliseconds, as the pages show times.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_to_come_again_has_failed() {
        for (status, want) in [
            (Some(200), Service::Served),
            (Some(304), Service::Served),
            (Some(404), Service::Served),
            (Some(429), Service::Failed),
            (Some(500), Service::Failed),
            (Some(503), Service::Failed),
            (None, Service::Left),
        ] {
            let status = status.map(|status| StatusCode::from_u16(status).unwrap());
            assert_eq!(Service::of(status), want, "{status:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_kept_is_bounded() {
        let live = Live::new();
        for n in 0..100_000u32 {
            tokio::time::advance(Duration::from_millis(50)).await;
            live.record(test_seen(&format!("/{n}")), Instant::now());
        }
        let now = Instant::now();
        assert_eq!(live.second(now), 5000);
        let requests = live.requests(0);
        assert_eq!((requests.len(), requests[0].0, requests[49].0), (50, 99_950, 99_999));
        let seconds = live.seconds(0, now);
        assert_eq!((seconds.len(), seconds[0].number, seconds[119].number), (120, 4880, 4999));
        assert!(seconds.iter().all(|second| second.requests == 20), "{seconds:?}");
        assert_eq!(live.figures(now).requests, 200);
    }
}
