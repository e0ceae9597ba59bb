use tidegate_token_manager::{Ask, Limit, Outcome, PoolParams, Report, State, TokenManager};
use tokio::time::advance;

use crate::support::{Request, id, name, pool, secs, specs, status};

fn patient() -> PoolParams {
    PoolParams { max_wait: secs(3600), ..PoolParams::default() }
}

fn settle(pool: &TokenManager, scope: Option<&str>, token: &str, report: &Report) {
    let others: Vec<_> = ["a", "b"].into_iter().filter(|it| *it != token).map(id).collect();
    pool.try_acquire_in(scope, &others).unwrap().settle(report);
}

fn ready(pool: &TokenManager, scope: Option<&str>) -> String {
    let tokens = ["a", "b"];
    let others = |token: &str| tokens.into_iter().filter(|it| *it != token).map(id).collect::<Vec<_>>();
    tokens.into_iter().filter(|token| pool.try_acquire_in(scope, &others(token)).is_ok()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_limit_rests_a_token_in_its_scope_alone() {
    let pool = pool("a b", patient());
    let limited = Report { told: Some(secs(60)), ..Report::new(Outcome::Limited) };
    settle(&pool, Some("search"), "a", &limited);
    let seen = [Some("search"), Some("core"), None].map(|scope| ready(&pool, scope));
    assert_eq!(seen, ["b", "ab", "ab"]);
    let status = status(&pool, "a");
    assert_eq!((status.state, status.rate_limited, status.cooldowns[0]), (State::Ready, 1, 1));
    let scopes: Vec<_> = status.scopes.iter().map(|it| (it.scope.as_str(), it.state, it.retry_in)).collect();
    assert_eq!(scopes, [("search", State::Cooling, secs(60))]);
}

#[tokio::test(start_paused = true)]
async fn a_quota_is_its_scopes_too() {
    let pool = pool("a b", patient());
    let empty = Report { quota: Some(secs(60)), ..Report::new(Outcome::Success) };
    settle(&pool, Some("search"), "a", &empty);
    assert_eq!([Some("search"), Some("core")].map(|scope| ready(&pool, scope)), ["b", "ab"]);
}

#[tokio::test(start_paused = true)]
async fn a_known_limit_is_kept_for_each_scope() {
    let pool = pool("a", PoolParams { limit: Some(Limit::window(2, secs(60))), ..patient() });
    for scope in [Some("x"), Some("y"), None] {
        let lent = (0..5).filter(|_| pool.try_acquire_in(scope, &[]).is_ok()).count();
        assert_eq!(lent, 2, "{scope:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejection_is_the_whole_tokens_and_so_is_its_end() {
    let pool = pool("a b", patient());
    drop(pool.try_acquire_in(Some("core"), &[]));
    settle(&pool, Some("search"), "a", &Report::new(Outcome::Rejected));
    // One scope is asked for before and one after.
    for scope in [Some("search"), Some("core"), Some("later"), None] {
        assert_eq!(ready(&pool, scope), "b", "{scope:?}");
    }
    let totals = status(&pool, "a");
    assert_eq!((totals.rejected, totals.cooldowns[1]), (1, 1), "counted once");
    advance(secs(1)).await;
    settle(&pool, Some("core"), "a", &Report::new(Outcome::Success));
    for scope in [Some("search"), Some("core"), Some("later"), None] {
        assert_eq!(ready(&pool, scope), "ab", "{scope:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn concurrency_is_counted_over_all_scopes() {
    let pool = pool("a", PoolParams { max_concurrency: 2, ..patient() });
    let first = pool.try_acquire_in(Some("x"), &[]).unwrap();
    let second = pool.try_acquire_in(Some("y"), &[]).unwrap();
    for scope in [Some("x"), Some("y"), Some("z"), None] {
        assert!(pool.try_acquire_in(scope, &[]).is_err(), "{scope:?}");
    }
    let mut waits = Request::waiting(&pool);
    drop(second);
    drop((waits.granted(), first));
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_in_two_scopes_do_not_get_one_place_twice() {
    let pool = pool("a", PoolParams { max_concurrency: 1, ..patient() });
    let held = pool.try_acquire(&[]).unwrap();
    let mut waits = ["x", "y", "z"].map(|scope| Request::waiting_in(&pool, scope));
    drop(held);
    for _ in 0..3 {
        assert_eq!(status(&pool, "a").in_flight, 1);
        let woken: Vec<_> =
            waits.iter_mut().filter_map(|request| (request.wakes() > 0).then_some(request)).collect();
        assert_eq!(woken.len(), 1, "one place");
        for request in woken {
            drop(request.poll().unwrap().unwrap());
        }
    }
    assert_eq!((pool.waiting(), status(&pool, "a").in_flight), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn what_a_response_says_it_was_counted_in_is_what_rests() {
    let pool = pool("a b", patient());
    let limited = Report { told: Some(secs(60)), ..Report::new(Outcome::Limited) };
    let mut lease = pool.acquire(Ask { scope: Some("guess"), ..Ask::default() }).await.unwrap();
    assert_eq!(name(&lease), "a");
    lease.settle_in("graphql", &limited);
    assert_eq!([Some("guess"), Some("graphql")].map(|scope| ready(&pool, scope)), ["ab", "b"]);
}

#[tokio::test(start_paused = true)]
async fn operators_and_reloads_reach_every_scope() {
    let pool = pool("a b", patient());
    let limited = Report { told: Some(secs(60)), ..Report::new(Outcome::Limited) };
    settle(&pool, Some("x"), "a", &limited);
    pool.disable(id("b")).unwrap();
    assert_eq!([Some("x"), Some("y"), None].map(|scope| ready(&pool, scope)), ["", "a", "a"]);
    pool.reset(id("a")).unwrap();
    pool.enable(id("b")).unwrap();
    assert_eq!(ready(&pool, Some("x")), "ab");
    settle(&pool, Some("x"), "a", &limited);
    pool.reload(specs("b a"));
    assert_eq!(ready(&pool, Some("x")), "b", "its rest survives");
    pool.reload(specs("a"));
    assert_eq!([Some("x"), Some("y")].map(|scope| ready(&pool, scope)), ["", "a"]);
}

#[tokio::test(start_paused = true)]
async fn of_too_many_scopes_the_oldest_idle_one_is_forgotten() {
    let pool = pool("a b", patient());
    let limited = Report { told: Some(secs(3600)), ..Report::new(Outcome::Limited) };
    settle(&pool, Some("known"), "a", &limited);
    let name = |number: usize| format!("scope {number}");
    for number in 0..1000 {
        drop(pool.try_acquire_in(Some(&name(number)), &[]));
        advance(secs(1)).await;
    }
    assert_eq!(ready(&pool, Some("known")), "b", "it is the oldest, but what it knows is worth keeping");
    for number in 0..400 {
        let scope = format!("resting {number}");
        if let Ok(mut lease) = pool.try_acquire_in(Some(&scope), &[id("b")]) {
            lease.settle(&limited);
        }
        advance(secs(1)).await;
    }
    assert_eq!(status(&pool, "a").scopes.len(), 256);
    assert_eq!(ready(&pool, Some("known")), "ab", "nothing idle was left to forget");
}

#[tokio::test(start_paused = true)]
async fn a_scope_in_which_somebody_waits_is_not_forgotten() {
    let pool = pool("a", PoolParams { max_concurrency: 1, ..patient() });
    let held = pool.try_acquire(&[]).unwrap();
    let mut waits = Request::waiting_in(&pool, "first");
    for number in 0..600 {
        drop(pool.try_acquire_in(Some(&number.to_string()), &[]));
    }
    drop(held);
    drop(waits.granted());
}

#[tokio::test(start_paused = true)]
async fn a_scope_is_not_forgotten_while_a_grant_of_it_is_not_fetched() {
    let pool = pool("a", PoolParams { max_concurrency: 1, ..patient() });
    let held = pool.try_acquire_in(Some("granted"), &[]).unwrap();
    let mut waits = Request::waiting_in(&pool, "granted");
    drop(held);
    for other in 0..1000 {
        assert!(pool.try_acquire_in(Some(&format!("other {other}")), &[]).is_err(), "the token is lent");
    }
    drop(waits.granted());
    assert_eq!(status(&pool, "a").in_flight, 0);
}
