use std::time::Duration;

use http::StatusCode;

use super::rest::Rests;
use super::{Ground, Policy, outcome};
use crate::measure::Outcome;
use crate::world::{Arrival, Asked, Upstream, World};

const COOL_DOWN: Duration = Duration::from_secs(5);
const TRIES: usize = 3;

/// A refused token rests for five seconds, and the request goes to the next at once, three times at most. Where all
/// rest it fails.
#[derive(Clone, Debug)]
pub struct Fixed {
    ground: Ground,
    rests: Rests,
}

impl Fixed {
    /// With the world's tokens.
    pub fn new(world: &World, upstream: Upstream) -> Self {
        Self { rests: Rests::new(world.tokens), ground: Ground { upstream, tokens: world.tokens } }
    }
}

impl Policy for Fixed {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let upstream = &self.ground.upstream;
        let mut last = StatusCode::TOO_MANY_REQUESTS;
        for _ in 0..TRIES {
            let Some(token) = self.rests.next(upstream.now()) else { break };
            last = upstream.call(token, Asked(arrival.at)).await.status;
            match last {
                StatusCode::TOO_MANY_REQUESTS | StatusCode::UNAUTHORIZED => {
                    self.rests.rest_until(token, upstream.now() + COOL_DOWN);
                }
                status if status.is_server_error() => {}
                _ => break,
            }
        }
        outcome(last)
    }
}
