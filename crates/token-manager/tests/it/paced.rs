//! Who waits for a pool that knows how fast it may be used.

use std::collections::VecDeque;
use std::time::Duration;

use tidegate_token_manager::{Ask, Lease, Limit, Outcome, PoolParams, Report, TokenManager};
use tokio::time::{Instant, advance, sleep};

use crate::support::{Request, id, millis, pool, secs};

fn params() -> PoolParams {
    PoolParams { max_wait: secs(40), ..PoolParams::default() }
}

async fn call(pool: &TokenManager, scope: Option<&'static str>, token: &str, outcome: Outcome) {
    let ask = Ask { only: Some(id(token)), scope, ..Ask::default() };
    pool.acquire(ask).await.expect("it is lent in time").settle(&Report::new(outcome));
}

/// Teaches the token a pace of about this interval, and leaves none of it.
async fn teach(pool: &TokenManager, scope: Option<&'static str>, token: &str, interval: Duration) {
    for _ in 0..3 {
        for _ in 0..100 {
            advance(interval).await;
            call(pool, scope, token, Outcome::Success).await;
        }
        call(pool, scope, token, Outcome::Limited).await;
        call(pool, scope, token, Outcome::Success).await;
    }
    let left = Ask { only: Some(id(token)), scope, max_wait: secs(0), ..Ask::default() };
    while pool.acquire(left).await.is_ok() {}
}

#[tokio::test(start_paused = true)]
async fn who_would_wait_beyond_the_patience_is_told_at_once() {
    let pool = pool("a", params());
    teach(&pool, None, "a", secs(5)).await;
    let interval = pool.predicted_wait().unwrap();
    assert!(interval > secs(4) && interval < secs(6), "{interval:?}");
    // Seven twentieths of 40 s are 14: the first two are served by then.
    let waits = [interval, interval * 2];
    let mut served: Vec<_> = waits.iter().map(|_| Request::waiting(&pool)).collect();
    let start = Instant::now();
    let refusal = pool.acquire(Ask::default()).await.unwrap_err();
    assert_eq!(start.elapsed(), secs(0));
    assert!(refusal.retry_in.unwrap() > secs(14), "{refusal:?}");
    for (request, wait) in served.iter_mut().zip(waits) {
        advance((start + wait).saturating_duration_since(Instant::now()) + millis(1)).await;
        drop(request.granted());
    }
}

#[tokio::test(start_paused = true)]
async fn a_rush_after_a_quiet_time_waits_as_long_as_it_may() {
    let pool = pool("a", params());
    teach(&pool, None, "a", secs(5)).await;
    advance(secs(60)).await;
    while pool.try_acquire(&[]).is_ok() {}
    let (start, interval) = (Instant::now(), pool.predicted_wait().unwrap());
    // Patience would allow two. These are served at 5, 10, ... 30 s.
    let mut rush: Vec<_> = (0..6).map(|_| Request::waiting(&pool)).collect();
    advance(millis(1_001)).await;
    assert!(pool.acquire(Ask::default()).await.is_err(), "who comes later is of no rush");
    for (place, request) in rush.iter_mut().enumerate() {
        let served = start + interval * u32::try_from(place + 1).unwrap() + millis(1);
        advance(served.saturating_duration_since(Instant::now())).await;
        drop(request.granted());
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_for_a_known_limit_grows_as_long_as_it_may_until_it_has_stood_for_long() {
    let pool = pool("a", PoolParams { limit: Some(Limit::window(1, secs(5))), ..params() });
    drop(pool.try_acquire(&[]).unwrap());
    let mut waiting: VecDeque<_> = (0..7).map(|_| Request::waiting(&pool)).collect();
    // Each turn a little later: a call counts from its answer, or a hundredth of the window longer.
    for _ in 0..94 {
        advance(millis(5_060)).await;
        drop(waiting.pop_front().unwrap().granted());
        waiting.push_back(Request::waiting(&pool));
    }
    advance(millis(5_060)).await;
    drop(waiting.pop_front().unwrap().granted());
    let start = Instant::now();
    assert!(pool.acquire(Ask::default()).await.is_err(), "more than seven twentieths of 40 s");
    assert_eq!(start.elapsed(), secs(0));
}

#[tokio::test(start_paused = true)]
async fn who_returns_from_a_refused_token_waits_as_long_as_he_may_and_goes_first() {
    let pool = pool("a", params());
    teach(&pool, None, "a", secs(5)).await;
    let interval = pool.predicted_wait().unwrap();
    let start = Instant::now();
    let mut waiting = [Request::waiting(&pool), Request::waiting(&pool)];
    assert!(pool.acquire(Ask::default()).await.is_err(), "patience allows two");
    let mut back = [0, 1].map(|_| Request::waiting_with(&pool, secs(3600), vec![id("a")]));
    for (turn, request) in back.iter_mut().chain(&mut waiting).enumerate() {
        let served = start + interval * u32::try_from(turn + 1).unwrap() + millis(1);
        advance(served.saturating_duration_since(Instant::now())).await;
        drop(request.granted());
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_less_patient_for_a_rest_alone() {
    let pool = pool("a", params());
    let report = Report { told: Some(secs(30)), ..Report::new(Outcome::Limited) };
    pool.try_acquire(&[]).unwrap().settle(&report);
    let mut request = Request::waiting(&pool);
    advance(secs(30)).await;
    drop(request.granted());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waits_already_waits_no_longer_for_a_busy_pool_than_a_new_one() {
    let pool = pool("a", params());
    teach(&pool, None, "a", secs(3)).await;
    let ask = |client| Ask { client: Some(client), ..Ask::default() };
    // Four turns of 3 s are 12 of 14 s.
    let _first = [Request::waiting_as(&pool, "crowd"), Request::waiting_as(&pool, "crowd")];
    let _other = Request::waiting_as(&pool, "other");
    assert!(pool.acquire(ask("crowd")).await.is_err(), "others will go on to ask");
    let _new = Request::waiting_as(&pool, "new");
}

#[tokio::test(start_paused = true)]
async fn a_request_for_one_token_waits_for_that_ones_pace() {
    let pool = pool("a b", params());
    teach(&pool, None, "a", secs(5)).await;
    let mut request = Request::waiting_for(&pool, "a");
    assert_eq!(pool.try_acquire(&[id("a")]).map(|lease| lease.id()), Ok(id("b")), "b has no pace");
    advance(secs(6)).await;
    assert_eq!(request.granted().id(), id("a"));
}

#[tokio::test(start_paused = true)]
async fn a_pace_is_its_scopes_alone() {
    let pool = pool("a", params());
    teach(&pool, Some("search"), "a", secs(5)).await;
    assert!(pool.try_acquire_in(Some("search"), &[]).is_err());
    for _ in 0..100 {
        assert!(pool.try_acquire_in(Some("core"), &[]).is_ok());
    }
    advance(secs(6)).await;
    assert!(pool.try_acquire_in(Some("search"), &[]).is_ok());
}

/// An upstream that grants each token a call in so long.
async fn upstream_of_three(pool: TokenManager, seed: u64) -> (u32, u32) {
    let upstream = std::sync::Arc::new(std::sync::Mutex::new([Instant::now(); 3]));
    let grants = move |lease: &Lease| {
        let token = ["a", "b", "c"].iter().position(|name| id(name) == lease.id()).unwrap();
        let free_at = &mut upstream.lock().unwrap()[token];
        let granted = *free_at <= Instant::now() + secs(5);
        if granted {
            *free_at = (*free_at).max(Instant::now()) + secs(1);
        }
        granted
    };
    let grants = std::sync::Arc::new(grants);
    let tasks: Vec<_> = (0..1000)
        .map(|task| {
            let (pool, grants) = (pool.clone(), std::sync::Arc::clone(&grants));
            let mut random = fastrand::Rng::with_seed(seed * 10_000 + task);
            tokio::spawn(async move {
                sleep(millis(random.u64(0..300_000))).await;
                let (start, max_wait) = (Instant::now(), millis(random.u64(0..9_000)));
                let only = random.choice([None, None, None, Some("a")]).flatten().map(id);
                let client = random.choice(["one", "two", "three"]);
                let answer = pool.acquire(Ask { max_wait, only, client, ..Ask::default() }).await;
                // Timers count whole milliseconds, rounded up.
                assert!(start.elapsed() <= max_wait + millis(1), "{:?} of {max_wait:?}", start.elapsed());
                let Ok(mut lease) = answer else { return (0, 0) };
                let outcome = if grants(&lease) { Outcome::Success } else { Outcome::Limited };
                sleep(millis(random.u64(0..800))).await;
                lease.settle(&Report::new(outcome));
                (u32::from(outcome == Outcome::Success), u32::from(outcome == Outcome::Limited))
            })
        })
        .collect();
    let (mut granted, mut refused) = (0, 0);
    for task in tasks {
        let (more_granted, more_refused) = task.await.unwrap();
        (granted, refused) = (granted + more_granted, refused + more_refused);
    }
    (granted, refused)
}

#[tokio::test(start_paused = true)]
async fn every_waiter_of_a_paced_pool_ends() {
    for seed in 0..10 {
        let pool = pool("a b c", PoolParams { max_wait: secs(8), ..PoolParams::default() });
        let (granted, refused) = upstream_of_three(pool.clone(), seed).await;
        assert_eq!(pool.waiting(), 0);
        assert!(pool.snapshot().iter().all(|status| status.in_flight == 0));
        // 918 can be granted in five minutes.
        assert!(granted > 500 && refused < 200, "{granted} granted and {refused} refused of seed {seed}");
    }
}
