use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use tidegate_api_client::Body;
use tokio::time::{Instant, sleep_until};
use tower::Service;

use super::{Counted, Event, Happening, Hints, Limiter, Verdict, World};
use crate::measure::Calls;

/// The field that a token stands in: its number.
pub const TOKEN_HEADER: &str = "x-token";

/// The simulated API; a clone is the same one.
#[derive(Clone, Debug)]
pub struct Upstream(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    world: World,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: fastrand::Rng,
    limiters: Vec<Limiter>,
    /// The limit's size that the limiters know, in parts of the world's.
    factor: f64,
    calls: Calls,
}

/// When a request came in: what a call is counted under.
#[derive(Clone, Copy, Debug)]
pub struct Asked(pub Duration);

/// What a call is answered.
#[derive(Clone, Debug)]
pub struct Reply {
    /// 200, 404, 401, 429 or 503.
    pub status: StatusCode,
    /// What the limiter tells, where the world's hints are on.
    pub headers: HeaderMap,
}

impl Upstream {
    /// An upstream that has granted nothing yet. Its time begins now.
    pub fn new(world: &World, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let limiters = (0..world.limits()).map(|_| {
            let phase = Duration::from_secs_f64(random.f64() * 3600.0);
            Limiter::new(world.model, phase)
        });
        let limiters = limiters.collect();
        let state = State { random, limiters, factor: 1.0, calls: Calls::new(world) };
        Self(Arc::new(Shared { world: world.clone(), start: Instant::now(), state: Mutex::new(state) }))
    }

    /// The time since its start.
    pub fn now(&self) -> Duration {
        self.0.start.elapsed()
    }

    /// The instant of a moment.
    pub fn instant(&self, at: Duration) -> Instant {
        self.0.start + at
    }

    /// What is known of its limiters, for one that may look into its books.
    pub fn limiters(&self) -> Vec<Limiter> {
        self.lock().limiters.clone()
    }

    /// The calls that it was sent.
    pub fn calls(&self) -> Calls {
        self.lock().calls.clone()
    }

    /// A call with the token of this number.
    pub async fn call(&self, token: usize, asked: Asked) -> Reply {
        self.call_that_arrives_after(self.0.world.arrives_after, token, asked).await
    }

    /// A call whose way to the limiter takes this part of its latency.
    pub async fn call_that_arrives_after(&self, part: f64, token: usize, asked: Asked) -> Reply {
        let sent = Instant::now();
        let latency = self.latency();
        if part > 0.0 {
            sleep_until(sent + latency.mul_f64(part)).await;
        }
        let reply = self.decide(token, asked);
        sleep_until(sent + latency).await;
        reply
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn latency(&self) -> Duration {
        let slower = self.happening().fold(1.0, |slower, event| match event.what {
            Happening::Slow { factor } => slower * factor,
            _ => slower,
        });
        self.0.world.latency.draw(&mut self.lock().random).mul_f64(slower)
    }

    /// What holds now.
    fn happening(&self) -> impl Iterator<Item = &Event> {
        let at = self.now().checked_sub(self.0.world.warm_up);
        self.0.world.events.iter().filter(move |event| at.is_some_and(|at| event.holds_at(at)))
    }

    fn decide(&self, token: usize, asked: Asked) -> Reply {
        let now = self.now();
        let state = &mut *self.lock();
        let mut factor = 1.0;
        let (mut out, mut revoked) = (false, false);
        for event in self.happening() {
            match event.what {
                Happening::Outage => out = true,
                Happening::Revoked { token: which } => revoked |= which == token,
                Happening::Limit { factor: by } => factor *= by,
                Happening::Slow { .. } => {}
            }
        }
        state.follow(factor, &self.0.world, now);
        let reply = if out {
            Reply::bare(StatusCode::SERVICE_UNAVAILABLE)
        } else if revoked {
            Reply::bare(StatusCode::UNAUTHORIZED)
        } else {
            state.limited(token, &self.0.world, now)
        };
        state.calls.count(reply.status, asked.0, now);
        reply
    }
}

impl State {
    fn follow(&mut self, factor: f64, world: &World, now: Duration) {
        if (factor - self.factor).abs() > f64::EPSILON {
            self.factor = factor;
            for limiter in &mut self.limiters {
                limiter.change(world.model.scaled(factor), now);
            }
        }
    }

    fn limited(&mut self, token: usize, world: &World, now: Duration) -> Reply {
        let limiter = match world.counted {
            Counted::Token => token,
            Counted::Address => 0,
        };
        let limiter = &mut self.limiters[limiter];
        let status = match limiter.ask(now) {
            Verdict::Refused => StatusCode::TOO_MANY_REQUESTS,
            Verdict::Granted => match self.random.f64() {
                draw if draw < world.errors => StatusCode::SERVICE_UNAVAILABLE,
                draw if draw < world.errors + world.not_found => StatusCode::NOT_FOUND,
                _ => StatusCode::OK,
            },
        };
        let mut reply = Reply::bare(status);
        if world.hints != Hints::None {
            hint(&mut reply, limiter, world.hints, now);
        }
        reply
    }
}

impl Reply {
    fn bare(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new() }
    }
}

fn hint(reply: &mut Reply, limiter: &mut Limiter, hints: Hints, now: Duration) {
    let next = limiter.next_grant(now).saturating_sub(now);
    if matches!(hints, Hints::RetryAfter | Hints::Both) && reply.status == StatusCode::TOO_MANY_REQUESTS {
        let seconds = next.as_millis().div_ceil(1000);
        reply.headers.insert(RETRY_AFTER, number(seconds.to_string()));
    }
    if matches!(hints, Hints::Quota | Hints::Both) {
        reply.headers.insert("x-ratelimit-limit", HeaderValue::from(limiter.most()));
        reply.headers.insert("x-ratelimit-remaining", HeaderValue::from(limiter.left(now)));
        let milliseconds = next.as_micros().div_ceil(1000);
        reply.headers.insert("x-ratelimit-reset", number(format!("{milliseconds}ms")));
    }
}

fn number(digits: String) -> HeaderValue {
    // Digits and letters are a field value.
    HeaderValue::try_from(digits).unwrap_or(HeaderValue::from_static("0"))
}

impl<B> Service<Request<B>> for Upstream {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let token = request.headers().get(TOKEN_HEADER).and_then(|value| value.to_str().ok()?.parse().ok());
        let asked = request.extensions().get().copied().unwrap_or(Asked(Duration::ZERO));
        let upstream = self.clone();
        Box::pin(async move {
            let reply = upstream.call(token.unwrap_or_default(), asked).await;
            let mut response = Response::new(Body::empty());
            *response.status_mut() = reply.status;
            *response.headers_mut() = reply.headers;
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests;
