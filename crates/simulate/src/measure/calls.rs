use std::time::Duration;

use http::StatusCode;

use crate::world::{Happening, World};

/// The calls that an upstream was sent, counted under the moment at which the request behind them came in.
#[derive(Clone, Debug)]
pub struct Calls {
    from: Duration,
    until: Duration,
    outage: Option<(Duration, Duration)>,
    /// Of requests that came in while it was measured.
    pub all: u64,
    /// Those of them that the limit refused.
    pub refused: u64,
    /// Those that arrived during the first outage, whatever request they are of.
    pub in_outage: u64,
}

impl Calls {
    /// Nothing yet.
    pub fn new(world: &World) -> Self {
        let outage = world.events.iter().find(|event| event.what == Happening::Outage);
        let until = world.warm_up + world.measured;
        Self {
            from: world.warm_up,
            until,
            outage: outage.map(|event| {
                (world.warm_up + event.from, world.warm_up.saturating_add(event.until()).min(until))
            }),
            all: 0,
            refused: 0,
            in_outage: 0,
        }
    }

    /// One call that is answered so.
    pub fn count(&mut self, status: StatusCode, asked: Duration, now: Duration) {
        if self.from <= asked && asked < self.until {
            self.all += 1;
            self.refused += u64::from(status == StatusCode::TOO_MANY_REQUESTS);
        }
        if self.outage.is_some_and(|(from, until)| from <= now && now < until) {
            self.in_outage += 1;
        }
    }

    /// The first outage, since the simulation's start.
    pub fn outage(&self) -> Option<(Duration, Duration)> {
        self.outage
    }
}
