use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// What one connection is doing, as far as its timeouts care. Shared by its socket, its requests and its driver.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
    /// The requests of all connections, for the count of those that a stop cuts.
    total: Arc<AtomicUsize>,
    reset: AtomicBool,
}

#[derive(Debug)]
struct State {
    in_flight: usize,
    seen_request: bool,
    multiplexed: bool,
    /// The answer to the latest request did not wait for its whole body.
    body_unread: bool,
    lingering: bool,
    /// When it was accepted, or its last request ended.
    idle_since: Instant,
    /// When the first byte came since then.
    head_since: Option<Instant>,
}

/// When a connection ends if nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// A request is under way: its own timeouts hold.
    Busy,
    /// Nothing more is expected of the peer; it may be told goodbye.
    Idle(Instant),
    /// A request head is late; the peer is not worth an answer.
    Head(Instant),
    Never,
}

impl Activity {
    pub(super) fn new(accepted: Instant, total: Arc<AtomicUsize>) -> Self {
        let state = State {
            in_flight: 0,
            seen_request: false,
            multiplexed: false,
            body_unread: false,
            lingering: false,
            idle_since: accepted,
            head_since: None,
        };
        Self { state: Mutex::new(state), total, reset: AtomicBool::new(false) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes came from the peer.
    pub(super) fn received(&self) {
        let mut state = self.state();
        if state.in_flight == 0 && state.head_since.is_none() {
            state.head_since = Some(Instant::now());
        }
    }

    /// A whole head came; the request lasts until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>, version: http::Version) -> InFlight {
        self.total.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state();
        state.in_flight += 1;
        state.seen_request = true;
        state.multiplexed = version == http::Version::HTTP_2;
        state.head_since = None;
        state.body_unread = false;
        InFlight(Arc::clone(self))
    }

    /// When the connection ends by `head_timeout` or `idle_timeout` (0 is off).
    pub(super) fn limit(&self, head_timeout: Duration, idle_timeout: Duration) -> Limit {
        let state = self.state();
        let within = |from: Instant, timeout: Duration, limit: fn(Instant) -> Limit| {
            if timeout.is_zero() {
                Limit::Never
            } else {
                from.checked_add(timeout).map_or(Limit::Never, limit)
            }
        };
        match state.head_since {
            _ if state.in_flight > 0 || state.lingering => Limit::Busy,
            _ if !state.seen_request => within(state.idle_since, head_timeout, Limit::Head),
            // On HTTP/2 bytes are as often a ping or a window update as the start of a head.
            Some(first_byte) if !state.multiplexed => within(first_byte, head_timeout, Limit::Head),
            _ => within(state.idle_since, idle_timeout, Limit::Idle),
        }
    }

    /// Nobody will read the rest of a request body.
    pub(super) fn leave_body(&self) {
        self.state().body_unread = true;
    }

    /// Whether the connection has to linger at its end, for a peer that is still sending: see [`Linger`].
    ///
    /// [`Linger`]: super::linger::Linger
    pub(super) fn begin_linger(&self) -> bool {
        let mut state = self.state();
        state.lingering = state.body_unread && !state.multiplexed;
        state.lingering
    }

    /// The connection must end by a reset: nothing else tells this peer that its body is not whole.
    pub(super) fn end_by_reset(&self) {
        self.reset.store(true, Ordering::Release);
    }

    pub(super) fn ends_by_reset(&self) -> bool {
        self.reset.load(Ordering::Acquire)
    }
}

/// One request under way.
#[derive(Debug)]
pub(super) struct InFlight(Arc<Activity>);

impl InFlight {
    pub(super) fn activity(&self) -> &Activity {
        &self.0
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.total.fetch_sub(1, Ordering::Relaxed);
        let mut state = self.0.state();
        state.in_flight -= 1;
        state.idle_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Version;

    const HEAD: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(75);

    #[tokio::test(start_paused = true)]
    async fn a_limit_follows_what_the_peer_does() {
        let total = Arc::new(AtomicUsize::new(0));
        let start = Instant::now();
        let activity = Arc::new(Activity::new(start, Arc::clone(&total)));
        let pass = |seconds| tokio::time::advance(Duration::from_secs(seconds));

        pass(3).await;
        activity.received();
        assert_eq!(
            activity.limit(HEAD, IDLE),
            Limit::Head(start + HEAD),
            "the first head counts from the accept"
        );
        let request = activity.begin(Version::HTTP_11);
        assert_eq!((activity.limit(HEAD, IDLE), total.load(Ordering::Relaxed)), (Limit::Busy, 1));
        activity.received();
        pass(20).await;
        drop(request);
        let ended = Instant::now();
        assert_eq!(
            (activity.limit(HEAD, IDLE), total.load(Ordering::Relaxed)),
            (Limit::Idle(ended + IDLE), 0)
        );
        pass(5).await;
        activity.received();
        let first_byte = Instant::now();
        pass(5).await;
        activity.received();
        assert_eq!(
            activity.limit(HEAD, IDLE),
            Limit::Head(first_byte + HEAD),
            "a trickle does not prolong it"
        );
        assert_eq!(activity.limit(Duration::ZERO, IDLE), Limit::Never, "0 is off");
    }

    #[tokio::test(start_paused = true)]
    async fn frames_without_a_request_do_not_keep_http2_open() {
        let activity = Arc::new(Activity::new(Instant::now(), Arc::default()));
        drop(activity.begin(Version::HTTP_2));
        let ended = Instant::now();
        tokio::time::advance(IDLE / 2).await;
        activity.received();
        assert_eq!(activity.limit(HEAD, IDLE), Limit::Idle(ended + IDLE));
    }
}
