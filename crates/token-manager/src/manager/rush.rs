use std::time::Duration;

use tokio::time::Instant;

/// Whether those who wait came all at once after a quiet time, as the calls of one page do: such a queue goes
/// as it came. One that stands does not.
#[derive(Debug, Default)]
pub(super) struct Rush {
    /// When somebody last found no token, or waited.
    pressed: Option<Instant>,
    began: Option<Instant>,
    /// Since when there was always somebody who waited.
    stands: Option<Instant>,
}

impl Rush {
    /// Who comes later than this after the first is no longer of the same rush.
    const LENGTH: Duration = Duration::from_secs(1);

    /// Somebody finds no token. `first` is whether nobody waits yet. Returns whether he is of a rush: the first such in
    /// so long, or soon after that one.
    pub(super) fn joins(&mut self, first: First, quiet: Duration, now: Instant) -> bool {
        if first == First::Yes {
            let was_quiet = self.pressed.is_none_or(|at| now.saturating_duration_since(at) >= quiet);
            self.began = was_quiet.then_some(now);
            self.stands = Some(now);
        }
        self.pressed = Some(now);
        self.began.is_some_and(|began| now.saturating_duration_since(began) <= Self::LENGTH)
    }

    /// How long the queue has stood for one who has just joined.
    pub(super) fn stood(&self, now: Instant) -> Duration {
        self.stands.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Somebody waits.
    pub(super) fn goes_on(&mut self, now: Instant) {
        self.pressed = Some(now);
    }
}

/// Whether nobody waited before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    Yes,
    No,
}
