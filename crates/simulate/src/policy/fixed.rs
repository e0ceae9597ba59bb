use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;

use super::{Policy, outcome};
use crate::measure::Outcome;
use crate::world::{Arrival, Asked, Upstream, World};

const COOL_DOWN: Duration = Duration::from_secs(5);
const TRIES: usize = 3;

/// A refused token rests for five seconds, and the request goes to the next at once, three times at most. Where all
/// rest it fails.
#[derive(Clone, Debug)]
pub struct Fixed {
    upstream: Upstream,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    turn: usize,
    rests_until: Vec<Duration>,
}

impl Fixed {
    /// With the world's tokens.
    pub fn new(world: &World, upstream: Upstream) -> Self {
        let state = State { turn: 0, rests_until: vec![Duration::ZERO; world.tokens] };
        Self { upstream, state: Arc::new(Mutex::new(state)) }
    }

    /// The next token that does not rest.
    fn take(&self) -> Option<usize> {
        let now = self.upstream.now();
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let count = state.rests_until.len();
        let mut turns = (0..count).map(|step| (state.turn + step) % count);
        let found = turns.find(|token| state.rests_until[*token] <= now)?;
        state.turn = found + 1;
        Some(found)
    }

    fn rest(&self, token: usize) {
        let until = self.upstream.now() + COOL_DOWN;
        self.state.lock().unwrap_or_else(PoisonError::into_inner).rests_until[token] = until;
    }
}

impl Policy for Fixed {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let mut last = StatusCode::TOO_MANY_REQUESTS;
        for _ in 0..TRIES {
            let Some(token) = self.take() else { break };
            last = self.upstream.call(token, Asked(arrival.at)).await.status;
            match outcome(last) {
                Outcome::Served => break,
                Outcome::Refused => self.rest(token),
                Outcome::Failed => {}
            }
        }
        outcome(last)
    }
}
