mod tokens;

use std::time::Duration;

use http::StatusCode;
use http::header::RETRY_AFTER;
use tokio::time::sleep;

use self::tokens::Tokens;
use super::{Policy, outcome};
use crate::measure::Outcome;
use crate::world::{Arrival, Asked, Reply, Upstream, World};

/// The waits between the tries with one token, in version 2: those of Go's retryablehttp.
const API_BASE_TIMEOUT: Duration = Duration::from_millis(500);
const API_MAX_BACKOFF_TIME: Duration = Duration::from_secs(8);
const TOKENS: u32 = 3;
const TRIES: u32 = 4;

/// PixivFE v2: a request is tried up to four times with a token, with growing waits between, while the answer is 429
/// or 5xx, and with up to three tokens. A token with which it came to anything but a 200 times out.
#[derive(Clone, Debug)]
pub struct PixivFe2 {
    upstream: Upstream,
    tokens: Tokens,
}

/// PixivFE v3: one try; a token that is answered anything but a 200 times out.
#[derive(Clone, Debug)]
pub struct PixivFe3 {
    upstream: Upstream,
    tokens: Tokens,
}

impl PixivFe2 {
    /// With the world's tokens.
    pub fn new(world: &World, upstream: Upstream) -> Self {
        Self { upstream, tokens: Tokens::new(world.tokens) }
    }

    async fn try_with(&self, token: usize, asked: Asked) -> StatusCode {
        let mut attempt = 0;
        loop {
            let reply = self.upstream.call(token, asked).await;
            attempt += 1;
            if attempt == TRIES || !is_tried_again(reply.status) {
                return reply.status;
            }
            sleep(wait_before(attempt, &reply)).await;
        }
    }
}

impl PixivFe3 {
    /// With the world's tokens.
    pub fn new(world: &World, upstream: Upstream) -> Self {
        Self { upstream, tokens: Tokens::new(world.tokens) }
    }
}

impl Policy for PixivFe2 {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let mut last = StatusCode::SERVICE_UNAVAILABLE;
        for _ in 0..TOKENS {
            let token = self.tokens.take(self.upstream.now());
            last = self.try_with(token, Asked(arrival.at)).await;
            if last == StatusCode::OK {
                self.tokens.is_good(token);
                break;
            }
            self.tokens.times_out(token, self.upstream.now());
        }
        outcome(last)
    }
}

impl Policy for PixivFe3 {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let token = self.tokens.take(self.upstream.now());
        let status = self.upstream.call(token, Asked(arrival.at)).await.status;
        if status == StatusCode::OK {
            self.tokens.is_good(token);
        } else {
            self.tokens.times_out(token, self.upstream.now());
        }
        outcome(status)
    }
}

fn is_tried_again(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

fn wait_before(attempt: u32, reply: &Reply) -> Duration {
    let told = reply.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    told.map_or((API_BASE_TIMEOUT * 2_u32.pow(attempt - 1)).min(API_MAX_BACKOFF_TIME), Duration::from_secs)
}
