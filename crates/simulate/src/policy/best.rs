use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::sleep_until;

use super::{Policy, outcome};
use crate::measure::Outcome;
use crate::world::{Arrival, Asked, Limiter, Upstream, Verdict};

/// The best that is possible: it has the upstream's books before it and books each grant the moment that it is asked,
/// first come first served, with the token that would lose a grant first. Who would have to wait longer than `max_wait` is refused at once.
///
/// Its calls arrive the moment they are sent. It knows nothing of events on the way: with those it is no bound.
#[derive(Clone, Debug)]
pub struct Best {
    upstream: Upstream,
    booked: Arc<Mutex<Vec<Booked>>>,
    max_wait: Duration,
}

#[derive(Debug)]
struct Booked {
    limiter: Limiter,
    /// The moment of the last booking.
    until: Duration,
}

impl Best {
    /// With the books of `upstream`.
    pub fn new(upstream: Upstream, max_wait: Duration) -> Self {
        let booked = upstream.limiters().into_iter().map(|limiter| Booked { limiter, until: Duration::ZERO });
        Self { booked: Arc::new(Mutex::new(booked.collect())), upstream, max_wait }
    }

    /// The first grant that is not booked, booked now: its limit's number and its moment.
    fn book(&self, latest: Duration) -> Option<(usize, Duration)> {
        let now = self.upstream.now();
        let mut booked = self.booked.lock().unwrap_or_else(PoisonError::into_inner);
        let free = booked.iter_mut().map(|it| {
            let from = it.until.max(now);
            // A timer is a millisecond late at most.
            (ceil_to_millisecond(it.limiter.next_grant(from)), it.limiter.loses_from(from))
        });
        // Of those that are free at once the one that would lose a grant first.
        let (at, (moment, _)) = free.enumerate().min_by_key(|(_, key)| *key)?;
        if moment > latest {
            return None;
        }
        booked[at].until = moment;
        (booked[at].limiter.ask(moment) == Verdict::Granted).then_some((at, moment))
    }
}

impl Policy for Best {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let latest = self.upstream.now() + self.max_wait;
        loop {
            let Some((token, moment)) = self.book(latest) else { return Outcome::Refused };
            sleep_until(self.upstream.instant(moment)).await;
            let status = self.upstream.call_that_arrives_after(0.0, token, Asked(arrival.at)).await.status;
            if outcome(status) == Outcome::Served {
                return Outcome::Served;
            }
        }
    }
}

fn ceil_to_millisecond(moment: Duration) -> Duration {
    let milliseconds = moment.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}
