//! A caller may go away at any point, and what it held goes back.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame};
use http_body_util::BodyExt;
use tidegate_api_client::{
    Body, BoxError, Credential, EntryParams, Error, Pool, ReplayMemory, RetryParams, Scoping, Signature,
    Stack, StackParams, held, stack,
};
use tidegate_backoff_core::{Backoff, Exponential, Jitter};
use tidegate_token_manager::{IdKey, PoolParams, TokenManager, TokenSpec};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tower::util::BoxCloneService;
use tower::{ServiceExt, service_fn};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Two pieces, each of which takes a while; then it ends or breaks.
struct Slow {
    pieces: usize,
    breaks: bool,
    sleep: Pin<Box<Sleep>>,
}

fn slow(pieces: usize, breaks: bool) -> Body {
    Body::new(Slow { pieces, breaks, sleep: Box::pin(sleep(MS(10))) })
}

impl HttpBody for Slow {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        std::task::ready!(self.sleep.as_mut().poll(cx));
        let next = Instant::now() + MS(10);
        self.sleep.as_mut().reset(next);
        Poll::Ready(match (self.pieces, self.breaks) {
            (0, false) => None,
            (0, true) => {
                self.breaks = false;
                Some(Err("broken off".into()))
            }
            _ => {
                self.pieces -= 1;
                Some(Ok(Frame::data("piece".into())))
            }
        })
    }
}

/// Counts the upstream calls that run.
struct Running(Arc<AtomicUsize>);

impl Running {
    fn one(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

type Upstream = BoxCloneService<Request<Body>, Response<Body>, Error>;

struct Rig {
    stack: Stack<Upstream>,
    manager: TokenManager,
    memory: ReplayMemory,
    running: Arc<AtomicUsize>,
}

/// 503 with a slow body, then 429 for the first token, then 200 with a slow body; each after 20 ms and the upload.
fn rig() -> Rig {
    let specs = vec![TokenSpec::new("a"), TokenSpec::new("b")];
    let params = PoolParams { max_concurrency: 1, ..PoolParams::default() };
    let manager = TokenManager::new("default", params, specs, IdKey::from_bytes(b"key"));
    let memory = ReplayMemory::default();
    let running = Arc::new(AtomicUsize::new(0));
    let (calls, count) = (Arc::new(AtomicUsize::new(0)), running.clone());
    let upstream = service_fn(move |request: Request<Body>| {
        let (calls, guard) = (calls.clone(), Running::one(&count));
        async move {
            request.into_body().collect().await.map_err(Error::RequestBody)?;
            sleep(MS(20)).await;
            let status = [503, 429, 200][calls.fetch_add(1, Ordering::SeqCst).min(2)];
            let body = if status == 429 { Body::empty() } else { slow(3, false) };
            Ok(Response::builder().status(status).body(held(body, guard)).unwrap())
        }
    });
    let schedule = Exponential::new(MS(50), MS(50));
    let params = StackParams {
        entry: EntryParams { replay_memory: memory.clone(), ..EntryParams::default() },
        retry: RetryParams { backoff: Backoff::new(schedule, Jitter::None), ..RetryParams::default() },
        pool: Some(Pool {
            manager: manager.clone(),
            signature: Signature::new(Credential::Bearer),
            scoping: Scoping::None,
        }),
        ..StackParams::default()
    };
    Rig { stack: stack(BoxCloneService::new(upstream), params), manager, memory, running }
}

impl Rig {
    async fn put(&self) -> Result<Bytes, BoxError> {
        let request = Request::put("http://upstream.test/").body(slow(2, false)).unwrap();
        let response = self.stack.clone().oneshot(request).await?;
        Ok(response.into_body().bytes().await?)
    }

    fn assert_at_rest(&self, when: &str) {
        let in_flight: u32 = self.manager.snapshot().iter().map(|token| token.in_flight).sum();
        assert_eq!((in_flight, self.manager.waiting()), (0, 0), "leases and waiters, dropped {when}");
        assert_eq!(self.memory.used(), 0, "held bytes, dropped {when}");
        assert_eq!(self.running.load(Ordering::SeqCst), 0, "upstream calls, dropped {when}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_may_be_dropped_at_any_millisecond() {
    let whole = rig();
    let began = Instant::now();
    assert_eq!(whole.put().await.unwrap(), "piecepiecepiece");
    let length = u64::try_from(began.elapsed().as_millis()).unwrap();
    whole.assert_at_rest("never");
    assert!(length > 150, "the story has its attempts and waits: {length} ms");

    for after in 0..=length {
        let rig = rig();
        let dropped = timeout(MS(after), rig.put()).await;
        rig.assert_at_rest(&format!("after {after} ms"));
        if dropped.is_err() {
            let next = rig.put().await.unwrap_or_else(|error| panic!("after {after} ms: {error}"));
            assert_eq!(next, "piecepiecepiece", "the next, after {after} ms");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_token_may_go_away() {
    let rig = rig();
    let both = [rig.manager.try_acquire(&[]).unwrap(), rig.manager.try_acquire(&[]).unwrap()];
    assert!(timeout(MS(30), rig.put()).await.is_err());
    assert_eq!(rig.manager.waiting(), 0);
    drop(both);
    rig.assert_at_rest("while it waited for a token");
    assert!(rig.put().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_lease_and_a_permit_last_until_the_body_has_ended_failed_or_been_dropped() {
    for end in ["ended", "failed", "dropped"] {
        let specs = vec![TokenSpec::new("a")];
        let manager = TokenManager::new("default", PoolParams::default(), specs, IdKey::from_bytes(b"key"));
        let permits = Arc::new(tokio::sync::Semaphore::new(1));
        let upstream = {
            let permits = permits.clone();
            service_fn(move |_: Request<Body>| {
                let permit = permits.clone().try_acquire_owned().unwrap();
                let body = held(slow(2, end == "failed"), permit);
                async move { Ok::<_, Error>(Response::new(body)) }
            })
        };
        let pool = Pool {
            manager: manager.clone(),
            signature: Signature::new(Credential::Bearer),
            scoping: Scoping::None,
        };
        let stack = stack(upstream, StackParams { pool: Some(pool), ..StackParams::default() });
        let response = stack.oneshot(Request::get("/").body(Body::empty()).unwrap()).await.unwrap();
        let used = || (manager.snapshot()[0].in_flight, permits.available_permits());

        let mut body = response.into_body();
        assert_eq!(used(), (1, 0), "{end}: at the head");
        body.frame().await.unwrap().unwrap();
        assert_eq!(used(), (1, 0), "{end}: in the middle");
        match end {
            "ended" => while body.frame().await.transpose().unwrap().is_some() {},
            "failed" => while body.frame().await.unwrap().is_ok() {},
            _ => drop(body),
        }
        assert_eq!(used(), (0, 1), "{end}");
    }
}
