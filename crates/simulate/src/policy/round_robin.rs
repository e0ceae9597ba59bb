use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;

use super::{Policy, outcome};
use crate::measure::Outcome;
use crate::world::{Arrival, Asked, Upstream, World};

const TRIES: usize = 3;

/// Each call has the next token, whatever became of those before; three tries, at once.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    upstream: Upstream,
    tokens: usize,
    turn: Arc<AtomicUsize>,
}

impl RoundRobin {
    /// With the world's tokens.
    pub fn new(world: &World, upstream: Upstream) -> Self {
        Self { upstream, tokens: world.tokens, turn: Arc::default() }
    }
}

impl Policy for RoundRobin {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let mut last = StatusCode::TOO_MANY_REQUESTS;
        for _ in 0..TRIES {
            let token = self.turn.fetch_add(1, Ordering::Relaxed) % self.tokens;
            last = self.upstream.call(token, Asked(arrival.at)).await.status;
            if outcome(last) == Outcome::Served {
                break;
            }
        }
        outcome(last)
    }
}
