use std::time::Duration;

use http::StatusCode;
use tokio::time::sleep;

use super::rest::Rests;
use super::{Ground, Policy, is_good, outcome};
use crate::measure::Outcome;
use crate::world::{Arrival, Asked, Upstream, World};

/// A token's rest after a failure, in both versions.
const BASE_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_BACKOFF_TIME: Duration = Duration::from_secs(32);
/// The waits between the tries with one token, in version 2.
const API_BASE_TIMEOUT: Duration = Duration::from_millis(500);
const API_MAX_BACKOFF_TIME: Duration = Duration::from_secs(8);
const TOKENS: u32 = 3;
const TRIES: u32 = 4;

/// PixivFE v2: a request is tried up to four times with a token, with growing waits between, and with up to three
/// tokens. Whatever is no 200 is a failure; a token whose tries have all failed rests.
#[derive(Clone, Debug)]
pub struct PixivFe2 {
    ground: Ground,
    rests: Rests,
}

/// PixivFE v3: one try; whatever is no 200 has the token rest.
#[derive(Clone, Debug)]
pub struct PixivFe3 {
    ground: Ground,
    rests: Rests,
}

impl PixivFe2 {
    /// With the world's tokens.
    pub fn new(world: &World, upstream: Upstream) -> Self {
        Self { rests: Rests::new(world.tokens), ground: Ground { upstream, tokens: world.tokens } }
    }
}

impl PixivFe3 {
    /// With the world's tokens.
    pub fn new(world: &World, upstream: Upstream) -> Self {
        Self { rests: Rests::new(world.tokens), ground: Ground { upstream, tokens: world.tokens } }
    }
}

impl Policy for PixivFe2 {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let Ground { upstream, tokens } = &self.ground;
        let mut last = StatusCode::SERVICE_UNAVAILABLE;
        for _ in 0..TOKENS.min(u32::try_from(*tokens).unwrap_or(TOKENS)) {
            let token = self.rests.next_or_soonest(upstream.now());
            for attempt in 0..TRIES {
                last = upstream.call(token, Asked(arrival.at)).await.status;
                if is_good(last) {
                    self.rests.is_well(token);
                    return Outcome::Served;
                }
                if attempt + 1 < TRIES {
                    sleep((API_BASE_TIMEOUT * 2_u32.pow(attempt)).min(API_MAX_BACKOFF_TIME)).await;
                }
            }
            self.rests.rest_longer(token, upstream, BASE_TIMEOUT, MAX_BACKOFF_TIME);
        }
        outcome(last)
    }
}

impl Policy for PixivFe3 {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let upstream = &self.ground.upstream;
        let token = self.rests.next_or_soonest(upstream.now());
        let status = upstream.call(token, Asked(arrival.at)).await.status;
        if is_good(status) {
            self.rests.is_well(token);
        } else {
            self.rests.rest_longer(token, upstream, BASE_TIMEOUT, MAX_BACKOFF_TIME);
        }
        outcome(status)
    }
}
