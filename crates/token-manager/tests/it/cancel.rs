use tidegate_token_manager::{Limit, Outcome, PoolParams, Report, State};
use tokio::time::advance;

use crate::support::{Request, id, name, pool, rest, secs, specs, status};

fn one_at_a_time() -> PoolParams {
    PoolParams { max_wait: secs(3600), max_concurrency: 1, ..PoolParams::default() }
}

#[tokio::test(start_paused = true)]
async fn one_who_leaves_the_queue_is_not_served() {
    for leaver in 0..3 {
        let pool = pool("a", one_at_a_time());
        let mut held = pool.try_acquire(&[]).unwrap();
        let mut requests: Vec<_> = (0..3).map(|_| Request::waiting(&pool)).collect();
        drop(requests.remove(leaver));
        assert_eq!(pool.waiting(), 2);
        for request in &mut requests {
            drop(held);
            held = request.granted();
        }
        drop(held);
        assert_eq!(status(&pool, "a").in_flight, 0, "{leaver} has left");
    }
}

#[tokio::test(start_paused = true)]
async fn one_who_leaves_with_a_grant_passes_it_on() {
    let pool = pool("a", one_at_a_time());
    let held = pool.try_acquire(&[]).unwrap();
    let (first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
    drop(held);
    assert_eq!(first.wakes(), 1, "it was granted the token, but is not polled again");
    assert_eq!(second.wakes(), 0);
    drop(first);
    drop(second.granted());
    let status = status(&pool, "a");
    assert_eq!((status.in_flight, status.requests), (0, 2), "a grant that nobody took is no request");
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_nobody_took_does_not_use_up_a_limit() {
    let limit = Some(Limit::window(1, secs(10)));
    let pool = pool("a", PoolParams { limit, ..one_at_a_time() });
    drop(pool.try_acquire(&[]).unwrap());
    let (mut first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
    advance(secs(10)).await;
    // Any look at the pool serves those who wait; the first is not polled any more.
    pool.snapshot();
    assert!(first.wakes() > 0);
    drop(first);
    drop(second.granted());
    first = Request::waiting(&pool);
    assert_eq!(pool.predicted_wait(), Some(secs(20)));
    drop(first);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_nobody_took_is_given_back() {
    let pool = pool("a", one_at_a_time());
    rest(&pool, 1);
    let (first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
    advance(secs(1)).await;
    pool.snapshot();
    drop(first);
    second.granted().settle(&Report::new(Outcome::Success));
    assert_eq!(status(&pool, "a").state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn when_the_first_leaves_the_next_keeps_the_time() {
    let pool = pool("a", one_at_a_time());
    rest(&pool, 5);
    let (first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
    advance(secs(2)).await;
    drop(first);
    assert_eq!(second.wakes(), 1, "to set the timer that the first took with it");
    assert!(second.poll().is_none());
    advance(secs(3)).await;
    assert_eq!(name(&second.granted()), "a");
}

#[tokio::test(start_paused = true)]
async fn a_whole_queue_that_leaves_leaves_nothing() {
    let pool = pool("a", one_at_a_time());
    rest(&pool, 5);
    for _ in 0..3 {
        let requests: Vec<_> = (0..100).map(|_| Request::waiting(&pool)).collect();
        drop(requests);
    }
    assert_eq!(pool.waiting(), 0);
    advance(secs(5)).await;
    assert!(pool.try_acquire(&[]).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_reload_a_grant_and_a_leaver_at_once() {
    let pool = pool("a b", one_at_a_time());
    let (a, b) = (pool.try_acquire(&[]).unwrap(), pool.try_acquire(&[]).unwrap());
    let (first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
    drop(a);
    // The first was granted `a`, which then goes; the first leaves without having looked.
    pool.reload(specs("b"));
    drop(first);
    assert!(second.poll().is_none(), "what was granted is gone with the token");
    pool.reload(specs("c b"));
    assert_eq!(name(&second.granted()), "c");
    drop(b);
    assert_eq!(status(&pool, "b").in_flight, 0);
    pool.disable(id("c")).unwrap();
    assert_eq!(name(&pool.try_acquire(&[]).unwrap()), "b");
}

#[tokio::test(start_paused = true)]
async fn a_lease_dropped_by_a_panic_frees_its_token() {
    let pool = pool("a", one_at_a_time());
    let lease = pool.try_acquire(&[]).unwrap();
    let mut request = Request::waiting(&pool);
    let panicked = std::thread::spawn(move || {
        let _lease = lease;
        panic!("a request's own bug");
    });
    assert!(panicked.join().is_err());
    drop(request.granted());
}
