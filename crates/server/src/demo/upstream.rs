//! The demo's upstream: an API that limits each of its callers.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{CONTENT_TYPE, COOKIE};
use http::{HeaderValue, Request, Response, StatusCode};
use tidegate_api_client::Body;
use tokio::time::Instant;
use tower::Service;

/// What each token is granted.
pub(super) const PER_SECOND: f64 = 4.0;
pub(super) const BURST: f64 = 8.0;
/// How long an answer takes.
const LATENCY: Duration = Duration::from_millis(20);

/// An API with a token bucket for each `PHPSESSID`; a clone is the same API.
#[derive(Clone, Default)]
pub(crate) struct LimitingApi(Arc<Mutex<Books>>);

#[derive(Default)]
struct Books {
    buckets: HashMap<String, (f64, Instant)>,
    tally: Tally,
}

/// What the API has answered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) served: u64,
    pub(crate) refused: u64,
}

impl LimitingApi {
    pub(crate) fn tally(&self) -> Tally {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).tally
    }

    /// Whether the caller with this token is served now.
    fn serves(&self, token: &str, now: Instant) -> bool {
        let mut books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (level, at) = books.buckets.entry(token.to_owned()).or_insert((BURST, now));
        let earned = now.saturating_duration_since(*at).as_secs_f64() * PER_SECOND;
        (*level, *at) = ((*level + earned).min(BURST), now);
        let served = *level >= 1.0;
        if served {
            *level -= 1.0;
            books.tally.served += 1;
        } else {
            books.tally.refused += 1;
        }
        served
    }
}

impl<B> Service<Request<B>> for LimitingApi {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let token = request.headers().get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let served = self.serves(token, Instant::now());
        let path = request.uri().path().replace(['"', '\\'], "");
        Box::pin(async move {
            tokio::time::sleep(LATENCY).await;
            let (status, body) = if served {
                (StatusCode::OK, format!("{{\"error\":false,\"body\":{{\"path\":\"{path}\"}}}}\n"))
            } else {
                (
                    StatusCode::TOO_MANY_REQUESTS,
                    "{\"error\":true,\"message\":\"too many requests\"}\n".to_owned(),
                )
            };
            let mut response = Response::new(Body::from(body));
            *response.status_mut() = status;
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_token_has_its_own_burst_and_rate() {
        let api = LimitingApi::default();
        let served = |token: &str| (0..30).filter(|_| api.serves(token, Instant::now())).count();
        assert_eq!((served("a"), served("a"), served("b")), (8, 0, 8));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(served("a"), 4);
        assert_eq!((api.tally().served, api.tally().refused), (20, 100));
    }
}
