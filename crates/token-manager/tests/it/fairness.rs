use tidegate_token_manager::{Ask, Limit, Outcome, PoolParams, Report};
use tokio::time::advance;

use crate::support::{Request, pool, rest, secs};

fn one_at_a_time() -> PoolParams {
    PoolParams { max_wait: secs(3600), max_concurrency: 1, ..PoolParams::default() }
}

#[tokio::test(start_paused = true)]
async fn first_come_first_served() {
    let pool = pool("a", one_at_a_time());
    let mut held = pool.try_acquire(&[]).unwrap();
    let mut requests: Vec<_> = (0..20).map(|_| Request::waiting(&pool)).collect();
    while !requests.is_empty() {
        drop(held);
        held = requests.remove(0).granted();
        assert!(requests.iter_mut().all(|request| request.poll().is_none()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_newcomer_does_not_overtake_those_who_wait() {
    let pool = pool("a", one_at_a_time());
    rest(&pool, 1);
    let mut first = Request::waiting(&pool);
    // The token's time has come, but the first in the queue has not been polled yet.
    advance(secs(1)).await;
    assert!(!pool.has_ready(&[]), "it is the first one's");
    assert!(pool.try_acquire(&[]).is_err());
    let mut newcomer = Request::waiting(&pool);
    let lease = first.granted();
    assert!(newcomer.poll().is_none());
    drop(lease);
    drop(newcomer.granted());
}

#[tokio::test(start_paused = true)]
async fn only_those_are_woken_for_whom_there_is_something() {
    let pool = pool("a", PoolParams { limit: Some(Limit::window(1, secs(10))), ..one_at_a_time() });
    drop(pool.try_acquire(&[]).unwrap());
    let mut requests: Vec<_> = (0..50).map(|_| Request::waiting(&pool)).collect();
    for round in 0..5 {
        assert_eq!(requests.iter().map(Request::wakes).sum::<usize>(), 0, "before the time of round {round}");
        advance(secs(10)).await;
        let lease = requests.remove(0).granted();
        assert_eq!(requests[0].wakes(), 1, "the new first one sets its timer");
        assert!(requests[0].poll().is_none());
        drop(lease);
        assert_eq!(requests.iter().map(Request::wakes).sum::<usize>(), 0, "nobody else has anything to do");
    }
}

#[tokio::test(start_paused = true)]
async fn events_that_free_nothing_wake_nobody() {
    let pool = pool("a b", one_at_a_time());
    let (a, b) = (pool.try_acquire(&[]).unwrap(), pool.try_acquire(&[]).unwrap());
    let mut request = Request::waiting(&pool);
    pool.snapshot();
    pool.predicted_wait();
    pool.reset_all();
    pool.disable(b.id()).unwrap();
    pool.enable(b.id()).unwrap();
    pool.set_params(pool.params());
    let mut a = a;
    a.settle(&Report::new(Outcome::Success));
    assert_eq!(request.wakes(), 0);
    drop(b);
    drop(request.granted());
}

#[tokio::test(start_paused = true)]
async fn each_waits_as_long_as_it_may_and_no_longer() {
    let pool = pool("a", one_at_a_time());
    let held = pool.try_acquire(&[]).unwrap();
    let mut requests: Vec<_> =
        [3, 1, 2].map(|wait| Request::waiting_with(&pool, secs(wait), Vec::new())).into();
    for gone in [1, 2, 0] {
        advance(secs(1)).await;
        requests[gone].refused();
        assert_eq!(requests.iter().map(Request::wakes).sum::<usize>(), 0, "{gone} has gone");
    }
    assert_eq!(pool.waiting(), 0);
    drop(held);
    assert!(pool.acquire(Ask::default()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn clients_that_wait_take_turns() {
    let pool = pool("a", one_at_a_time());
    let mut held = pool.try_acquire(&[]).unwrap();
    let clients = ["crowd", "crowd", "crowd", "other", "crowd", "other", "third"];
    let mut requests: Vec<_> =
        clients.map(|client| Some((client, Request::waiting_as(&pool, client)))).into();
    let mut order = Vec::new();
    for _ in clients {
        drop(held);
        let next = requests
            .iter_mut()
            .position(|request| request.as_mut().is_some_and(|(_, request)| request.wakes() > 0));
        let (client, mut request) = requests[next.expect("one is woken")].take().unwrap();
        order.push((next.unwrap(), client));
        held = request.poll().unwrap().unwrap();
    }
    let expected =
        [(0, "crowd"), (3, "other"), (6, "third"), (1, "crowd"), (5, "other"), (2, "crowd"), (4, "crowd")];
    assert_eq!(order, expected);
}

#[tokio::test(start_paused = true)]
async fn one_of_a_quiet_client_waits_one_turn_behind_a_thousand_of_another() {
    let limit = Limit::window(1, secs(10));
    let pool = pool("a", PoolParams { limit: Some(limit), max_wait: secs(60), ..PoolParams::default() });
    drop(pool.try_acquire(&[]).unwrap());
    let ask = |client| Ask { client: Some(client), ..Ask::default() };
    let mut crowd: Vec<_> = (0..6).map(|_| Request::waiting_as(&pool, "crowd")).collect();
    // Six of the crowd are served at 10, 20, ... 60 s; a seventh cannot be within its 60 s.
    let refused = pool.acquire(ask("crowd")).await.unwrap_err();
    assert_eq!(refused.retry_in, Some(secs(70)));
    let mut single = Request::waiting_as(&pool, "single");
    advance(secs(10)).await;
    drop(crowd[0].granted());
    advance(secs(10)).await;
    assert_eq!(crowd[1].wakes(), 0);
    drop(single.granted());
}
