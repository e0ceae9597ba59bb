use tidegate_token_manager::{Ask, Exhausted, Limit, Outcome, PoolParams, Report, WhenExhausted};
use tokio::time::{Instant, advance};

use crate::support::{Request, id, millis, name, pool, rest, secs};

fn patient() -> PoolParams {
    PoolParams { max_wait: secs(3600), ..PoolParams::default() }
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_the_first_rest_to_end() {
    let pool = pool("a b", PoolParams::default());
    rest(&pool, 4);
    rest(&pool, 2);
    let start = Instant::now();
    let lease = pool.acquire(Ask::default()).await.unwrap();
    assert_eq!((name(&lease), start.elapsed()), ("b", secs(2)));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_sure_to_be_too_long_is_refused_at_once() {
    let now = Instant::now();
    let later = |wait| Ask { deadline: Some(now + wait), ..Ask::default() };
    let rows = [
        (Ask::default(), 5, true),
        (Ask::default(), 6, false),
        (Ask { max_wait: secs(3), ..Ask::default() }, 3, true),
        (Ask { max_wait: secs(3), ..Ask::default() }, 4, false),
        (Ask { max_wait: secs(60), ..Ask::default() }, 6, false),
        (later(secs(2)), 2, true),
        (later(secs(2)), 3, false),
        (later(secs(0)), 1, false),
    ];
    for (ask, rests, waits) in rows {
        let pool = pool("a", PoolParams::default());
        rest(&pool, rests);
        let start = Instant::now();
        let ask = Ask { deadline: ask.deadline.map(|deadline| start + (deadline - now)), ..ask };
        let answer = pool.acquire(ask).await;
        let row = format!("{ask:?} of a pool that rests {rests} s");
        if waits {
            assert!(answer.is_ok(), "{row}");
            assert_eq!(start.elapsed(), secs(rests), "{row}");
        } else {
            assert_eq!(
                answer.unwrap_err(),
                Exhausted { total: 1, retry_in: Some(secs(rests)), only: None },
                "{row}"
            );
            assert_eq!(start.elapsed(), secs(0), "{row}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_past_does_not_keep_a_ready_token_back() {
    let pool = pool("a", PoolParams::default());
    let ask = Ask { deadline: Some(Instant::now()), max_wait: secs(0), ..Ask::default() };
    assert!(pool.acquire(ask).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn nobody_knows_how_long_a_lease_lasts_so_a_request_waits_as_long_as_it_may() {
    let pool = pool("a", PoolParams { max_concurrency: 1, ..PoolParams::default() });
    let held = pool.try_acquire(&[]).unwrap();
    assert_eq!(pool.predicted_wait(), Some(secs(1)));
    let start = Instant::now();
    let refusal = pool.acquire(Ask::default()).await.unwrap_err();
    assert_eq!((start.elapsed(), refusal.retry_after_seconds()), (secs(5), Some(1)));
    let mut request = Request::waiting(&pool);
    drop(held);
    assert_eq!(name(&request.granted()), "a");
}

#[tokio::test(start_paused = true)]
async fn with_fail_nobody_waits() {
    let pool = pool("a", PoolParams { when_exhausted: WhenExhausted::Fail, ..PoolParams::default() });
    rest(&pool, 2);
    let start = Instant::now();
    let refusal = pool.acquire(Ask::default()).await.unwrap_err();
    assert_eq!((start.elapsed(), refusal.retry_in), (secs(0), Some(secs(2))));
}

#[tokio::test(start_paused = true)]
async fn with_soonest_a_first_request_never_waits_and_one_that_has_tried_all_does() {
    let pool = pool("a b", PoolParams { when_exhausted: WhenExhausted::Soonest, ..PoolParams::default() });
    rest(&pool, 4);
    rest(&pool, 2);
    let start = Instant::now();
    let lease = pool.acquire(Ask::default()).await.unwrap();
    assert_eq!((name(&lease), start.elapsed()), ("b", secs(0)));
    drop(lease);
    let tried = [id("a"), id("b")];
    let lease = pool.acquire(Ask { tried: &tried, ..Ask::default() }).await.unwrap();
    assert_eq!((name(&lease), start.elapsed()), ("b", secs(2)));
}

#[tokio::test(start_paused = true)]
async fn a_switch_takes_an_untried_token_or_waits_for_a_tried_one() {
    let pool = pool("a b", PoolParams::default());
    rest(&pool, 2);
    let tried = [id("a")];
    let start = Instant::now();
    let mut second = pool.acquire(Ask { tried: &tried, ..Ask::default() }).await.unwrap();
    assert_eq!((name(&second), start.elapsed()), ("b", secs(0)));
    second.settle(&Report { told: Some(secs(9)), ..Report::new(Outcome::Limited) });
    let tried = [id("a"), id("b")];
    let third = pool.acquire(Ask { tried: &tried, ..Ask::default() }).await.unwrap();
    assert_eq!((name(&third), start.elapsed()), ("a", secs(2)));
}

#[tokio::test(start_paused = true)]
async fn a_returning_token_serves_one_probe_then_two_then_ever_more() {
    let pool = pool("a", patient());
    rest(&pool, 2);
    let mut requests: Vec<_> = (0..30).map(|_| Request::waiting(&pool)).collect();
    advance(secs(2)).await;
    let mut served = Vec::new();
    let mut out = Vec::new();
    while !requests.is_empty() || !out.is_empty() {
        out.drain(..).for_each(|mut lease: tidegate_token_manager::Lease| {
            lease.settle(&Report::new(Outcome::Success));
        });
        requests.retain_mut(|request| match request.poll() {
            Some(lease) => {
                out.push(lease.unwrap());
                false
            }
            None => true,
        });
        served.push(out.len());
    }
    assert_eq!(served, [1, 2, 4, 8, 15, 0], "nobody is left waiting");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_fails_lets_those_wait_on_who_can() {
    let pool = pool("a", patient());
    rest(&pool, 1);
    let mut first = Request::waiting(&pool);
    let mut short = Request::waiting_with(&pool, secs(4), Vec::new());
    let mut long = Request::waiting_with(&pool, secs(60), Vec::new());
    advance(secs(1)).await;
    first.granted().settle(&Report { told: Some(secs(10)), ..Report::new(Outcome::Limited) });
    assert_eq!(short.refused().retry_in, Some(secs(10)), "at once, not at the end of its wait");
    assert!(long.poll().is_none());
    advance(secs(10)).await;
    assert_eq!(name(&long.granted()), "a");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_tells_nothing_goes_to_the_next() {
    let pool = pool("a", patient());
    rest(&pool, 1);
    let (mut first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
    advance(secs(1)).await;
    drop(first.granted());
    let mut probe = second.granted();
    let mut third = Request::waiting(&pool);
    probe.settle(&Report::new(Outcome::Unaffected));
    assert_eq!(name(&third.granted()), "a");
}

#[tokio::test(start_paused = true)]
async fn the_queue_ahead_and_the_limit_are_foreseen() {
    let pool = pool("a", PoolParams { limit: Some(Limit::window(2, secs(10))), ..patient() });
    drop(pool.try_acquire(&[]).unwrap());
    advance(secs(4)).await;
    drop(pool.try_acquire(&[]).unwrap());
    let mut served = Vec::new();
    for expected in [6, 10, 16, 20] {
        assert_eq!(pool.predicted_wait(), Some(secs(expected)));
        let short = Ask { max_wait: secs(expected) - millis(1), ..Ask::default() };
        assert_eq!(pool.acquire(short).await.unwrap_err().retry_in, Some(secs(expected)));
        served.push(Request::waiting_with(&pool, secs(expected), Vec::new()));
    }
    for (request, wait) in served.iter_mut().zip([6, 4, 6, 4]) {
        advance(secs(wait)).await;
        drop(request.granted());
    }
}

#[tokio::test(start_paused = true)]
async fn the_queue_is_bounded() {
    let pool = pool("a", PoolParams { max_waiting: 2, ..patient() });
    rest(&pool, 3);
    let (mut first, _second) = (Request::waiting(&pool), Request::waiting(&pool));
    assert_eq!(pool.waiting(), 2);
    let start = Instant::now();
    let refusal = pool.acquire(Ask::default()).await.unwrap_err();
    assert_eq!((start.elapsed(), refusal.retry_in), (secs(0), Some(secs(3))));
    advance(secs(3)).await;
    drop(first.granted());
}

#[tokio::test(start_paused = true)]
async fn a_rest_that_begins_while_requests_wait_wakes_them_at_its_end() {
    let pool = pool("a", PoolParams { max_concurrency: 1, ..patient() });
    let mut held = pool.try_acquire(&[]).unwrap();
    let mut request = Request::waiting(&pool);
    held.settle(&Report { told: Some(secs(2)), ..Report::new(Outcome::Limited) });
    drop(held);
    assert_eq!(request.wakes(), 1, "to set its timer");
    assert!(request.poll().is_none());
    advance(secs(2)).await;
    assert_eq!(name(&request.granted()), "a");
}

#[tokio::test(start_paused = true)]
async fn an_empty_pool_and_a_barred_one_refuse_at_once_without_a_prediction() {
    for names in ["", "a b"] {
        let pool = pool(names, patient());
        pool.snapshot().iter().for_each(|status| pool.disable(status.id).unwrap());
        let start = Instant::now();
        let refusal = pool.acquire(Ask::default()).await.unwrap_err();
        assert_eq!((start.elapsed(), refusal.retry_in), (secs(0), None), "{names:?}");
        assert_eq!(pool.predicted_wait(), None);
        assert_eq!(refusal.total, names.split_whitespace().count());
    }
}

#[tokio::test(start_paused = true)]
async fn waits_of_centuries_are_waits() {
    let pool = pool(
        "a",
        PoolParams { max_wait: std::time::Duration::MAX, max_concurrency: 1, ..PoolParams::default() },
    );
    let held = pool.try_acquire(&[]).unwrap();
    let mut request = Request::waiting_with(&pool, std::time::Duration::MAX, Vec::new());
    drop(held);
    drop(request.granted());
}

#[tokio::test(start_paused = true)]
async fn behind_leases_that_last_too_long_nobody_waits_in_vain() {
    let pool = pool("a", PoolParams { max_concurrency: 1, ..PoolParams::default() });
    let lease = pool.acquire(Ask::default()).await.unwrap();
    advance(secs(4)).await;
    drop(lease);
    let _running = pool.acquire(Ask::default()).await.unwrap();
    let _first = Request::waiting(&pool);
    let _second = Request::waiting(&pool);
    let refused = pool.acquire(Ask::default()).await.unwrap_err();
    assert_eq!(refused.retry_in, Some(secs(8)), "two of 4 s are ahead, and 5 s are allowed");
}
