use tidegate_token_manager::{
    Ask, Limit, OnlyToken, Outcome, PoolParams, Report, State, TokenSpec, WhenExhausted,
};
use tokio::time::{advance, timeout};

use crate::support::{Request, id, name, pool, rest, secs, specs, status};

fn one_at_a_time() -> PoolParams {
    PoolParams { max_wait: secs(3600), max_concurrency: 1, ..PoolParams::default() }
}

fn only(token: &str) -> Ask<'static> {
    Ask { only: Some(id(token)), ..Ask::default() }
}

#[tokio::test(start_paused = true)]
async fn the_token_is_lent_and_no_other_tried_or_not() {
    let pool = pool("a b c", PoolParams::default());
    for _ in 0..5 {
        let tried = [id("b")];
        let lease = pool.acquire(Ask { tried: &tried, ..only("b") }).await.unwrap();
        assert_eq!(name(&lease), "b");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rest_is_waited_for_though_others_are_ready() {
    let pool = pool("a b", PoolParams { max_wait: secs(10), ..PoolParams::default() });
    rest(&pool, 4);
    let mut waits = Request::waiting_for(&pool, "a");
    assert_eq!(name(&pool.try_acquire(&[]).unwrap()), "b", "who takes any takes another");
    advance(secs(4)).await;
    let mut lease = waits.granted();
    assert_eq!(name(&lease), "a");
    lease.settle(&Report::new(Outcome::Success));
    assert_eq!(status(&pool, "a").state, State::Ready, "it was the probe");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_come_in_time_is_refused_at_once_with_its_own_time_and_state() {
    let params = PoolParams { max_wait: secs(5), ..PoolParams::default() };
    let rows = [
        ("cooling", Some(secs(60)), Some(State::Cooling)),
        ("disabled", None, Some(State::Disabled)),
        ("worn out", Some(secs(300)), Some(State::Unavailable)),
        ("unknown", None, None),
    ];
    for (row, retry_in, state) in rows {
        let pool = pool("a b", params);
        match row {
            "cooling" => rest(&pool, 60),
            "disabled" => pool.disable(id("a")).unwrap(),
            "worn out" => {
                for _ in 0..2 {
                    pool.acquire(only("a")).await.unwrap().settle(&Report::new(Outcome::Rejected));
                    advance(secs(1)).await;
                }
            }
            _ => pool.reload(specs("b")),
        }
        let before = tokio::time::Instant::now();
        let refusal = pool.acquire(only("a")).await.unwrap_err();
        assert_eq!(before.elapsed(), secs(0), "{row}");
        assert_eq!(refusal.only, Some(OnlyToken { id: id("a"), state }), "{row}");
        // One second of the long rest has passed.
        let retry_in = if row == "worn out" { retry_in.map(|rest| rest - secs(1)) } else { retry_in };
        assert_eq!(refusal.retry_in, retry_in, "{row}");
        assert!(pool.try_acquire(&[]).is_ok(), "{row}: the others are there");
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_one_token_keeps_nobody_from_another() {
    let pool = pool("a b", one_at_a_time());
    let (a, b) = (pool.try_acquire(&[]).unwrap(), pool.try_acquire(&[]).unwrap());
    let mut first: Vec<_> = (0..10).map(|_| Request::waiting_for(&pool, "a")).collect();
    let mut any = Request::waiting(&pool);
    let mut other = Request::waiting_for(&pool, "b");
    drop(b);
    let b = any.granted();
    assert_eq!(name(&b), "b");
    drop(b);
    assert_eq!(name(&other.granted()), "b");
    assert!(first.iter_mut().all(|request| request.wakes() == 0), "nothing has happened to theirs");
    assert_eq!(pool.waiting(), 10);
    let mut held = a;
    for request in &mut first {
        drop(held);
        held = request.granted();
        assert_eq!(name(&held), "a");
    }
}

#[tokio::test(start_paused = true)]
async fn one_token_is_lent_by_turns_to_those_who_want_it_and_those_who_take_any() {
    let pool = pool("a", one_at_a_time());
    let mut held = pool.try_acquire(&[]).unwrap();
    let mut pinned: Vec<_> = (0..4).map(|_| Request::waiting_for(&pool, "a")).collect();
    let mut any: Vec<_> = (0..4).map(|_| Request::waiting(&pool)).collect();
    let mut order = String::new();
    for _ in 0..8 {
        drop(held);
        let woken = |requests: &mut Vec<Request>| {
            requests.iter().position(|request| request.wakes() > 0).map(|at| requests.remove(at))
        };
        let (kind, mut request) = match woken(&mut pinned) {
            Some(request) => ('p', request),
            None => ('a', woken(&mut any).expect("one is woken")),
        };
        order.push(kind);
        held = request.poll().unwrap().unwrap();
    }
    assert_eq!(order, "apapapap");
}

#[tokio::test(start_paused = true)]
async fn who_pins_does_not_jump_the_queue_by_pinning_again_and_again() {
    let pool = pool("a", one_at_a_time());
    let mut held = pool.try_acquire(&[]).unwrap();
    let mut any: Vec<_> = (0..3).map(|_| Request::waiting(&pool)).collect();
    let mut order = String::new();
    while !any.is_empty() {
        let mut pinned = Request::waiting_for(&pool, "a");
        drop(held);
        if pinned.wakes() > 0 {
            order.push('p');
            held = pinned.poll().unwrap().unwrap();
        } else {
            order.push('a');
            held = any.remove(0).granted();
        }
    }
    assert_eq!(order, "aaa", "each newcomer is behind those who waited");
}

#[tokio::test(start_paused = true)]
async fn those_who_want_one_token_take_turns_by_client_too() {
    let pool = pool("a", one_at_a_time());
    let mut held = pool.try_acquire(&[]).unwrap();
    let ask = |client| Request::ask(&pool, Ask { client: Some(client), ..only("a") });
    let mut requests = [ask("crowd"), ask("crowd"), ask("crowd"), ask("single")];
    for next in [0, 3, 1, 2] {
        drop(held);
        held = requests[next].granted();
    }
}

#[tokio::test(start_paused = true)]
async fn one_who_leaves_frees_what_it_was_granted() {
    let pool = pool("a b", one_at_a_time());
    let (a, b) = (pool.try_acquire(&[]).unwrap(), pool.try_acquire(&[]).unwrap());
    let (gone, leaver) = (Request::waiting_for(&pool, "a"), Request::waiting_for(&pool, "a"));
    let mut next = Request::waiting_for(&pool, "a");
    drop(gone);
    drop(a);
    assert_eq!((leaver.wakes(), next.wakes()), (1, 0));
    drop(leaver);
    drop(next.granted());
    drop(b);
    assert_eq!(pool.waiting(), 0);
    let status = status(&pool, "a");
    assert_eq!((status.in_flight, status.requests), (0, 2), "a grant that nobody took is no request");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_token_that_goes_is_told_so() {
    let pool = pool("a b", one_at_a_time());
    let held = pool.try_acquire(&[]).unwrap();
    let mut gone = Request::waiting_for(&pool, "a");
    pool.reload(specs("b"));
    assert_eq!(gone.refused().only, Some(OnlyToken { id: id("a"), state: None }));
    pool.reload(specs("a b"));
    drop(held);
    assert_eq!(name(&pool.acquire(only("a")).await.unwrap()), "a");
    let held = pool.acquire(only("b")).await.unwrap();
    let mut barred = Request::waiting_for(&pool, "b");
    pool.disable(id("b")).unwrap();
    assert_eq!(barred.refused().only, Some(OnlyToken { id: id("b"), state: Some(State::Disabled) }));
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn a_rest_that_grows_past_their_patience_ends_their_wait() {
    let pool = pool("a b", one_at_a_time());
    let mut lease = pool.acquire(only("a")).await.unwrap();
    let wait = |most| Request::ask(&pool, Ask { max_wait: secs(most), ..only("a") });
    let (mut short, mut long) = (wait(30), wait(90));
    lease.settle(&Report { told: Some(secs(60)), ..Report::new(Outcome::Limited) });
    drop(lease);
    assert_eq!(short.refused().retry_in, Some(secs(60)));
    assert!(long.poll().is_none());
    advance(secs(60)).await;
    assert_eq!(name(&long.granted()), "a");
}

#[tokio::test(start_paused = true)]
async fn its_own_limit_is_foreseen() {
    let limit = Some(Limit::window(1, secs(10)));
    let pool = pool("a b", PoolParams { limit, max_wait: secs(25), ..PoolParams::default() });
    drop(pool.acquire(only("a")).await.unwrap());
    let mut requests = [Request::waiting_for(&pool, "a"), Request::waiting_for(&pool, "a")];
    let refusal = pool.acquire(only("a")).await.unwrap_err();
    assert_eq!((refusal.retry_in, refusal.only.unwrap().state), (Some(secs(30)), Some(State::Ready)));
    for request in &mut requests {
        advance(secs(10)).await;
        drop(request.granted());
    }
}

#[tokio::test(start_paused = true)]
async fn with_soonest_it_is_lent_though_it_rests_and_with_fail_nobody_waits() {
    let soonest = PoolParams { when_exhausted: WhenExhausted::Soonest, ..PoolParams::default() };
    let pool = pool("a b", soonest);
    rest(&pool, 60);
    assert_eq!(name(&pool.acquire(only("a")).await.unwrap()), "a");
    pool.set_params(PoolParams { when_exhausted: WhenExhausted::Fail, ..soonest });
    let refusal = pool.acquire(only("a")).await.unwrap_err();
    assert_eq!(refusal.retry_after_seconds(), Some(60));
}

#[tokio::test(start_paused = true)]
async fn a_token_is_found_by_its_name() {
    let named = |name: &str, value: &str| TokenSpec { name: Some(name.to_owned()), ..TokenSpec::new(value) };
    let pool = pool("", PoolParams::default());
    pool.reload(vec![named("work", "a"), named("home", "b"), TokenSpec::new("c")]);
    assert_eq!(pool.find("home"), Some(id("b")));
    assert_eq!(pool.find("c"), None, "a value is no name");
    assert!(pool.has(id("c")) && !pool.has(id("d")));
}

/// All who wait for tokens of their own, and those who take any, end while the clock runs by itself.
#[tokio::test(start_paused = true)]
async fn many_pins_and_a_crowd_are_all_served() {
    let pool = pool("a b c", one_at_a_time());
    let tasks: Vec<_> = (0..300)
        .map(|task| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let only = [None, Some("a"), Some("b"), Some("c")][task % 4].map(id);
                let lease = pool.acquire(Ask { only, ..Ask::default() }).await.unwrap();
                tokio::time::sleep(secs(1)).await;
                only.is_none_or(|only| only == lease.id())
            })
        })
        .collect();
    for task in tasks {
        assert!(timeout(secs(200), task).await.unwrap().unwrap());
    }
    assert_eq!(pool.waiting(), 0);
}
