use tidegate_token_manager::{Limit, Outcome, PoolParams, Report, State};
use tokio::time::advance;

use crate::support::{Request, id, name, pool, rest, secs, specs, status};

fn patient() -> PoolParams {
    PoolParams { max_wait: secs(3600), ..PoolParams::default() }
}

#[tokio::test(start_paused = true)]
async fn whatever_makes_a_token_ready_serves_those_who_wait_in_their_order() {
    type Event = fn(&tidegate_token_manager::TokenManager);
    let events: [(&str, Event); 5] = [
        ("a reset", |pool| pool.reset(id("a")).unwrap()),
        ("a reset of all", |pool| pool.reset_all()),
        ("a token enabled", |pool| pool.enable(id("b")).unwrap()),
        ("a new token", |pool| pool.reload(specs("a b c"))),
        ("a new value", |pool| pool.reload(specs("z"))),
    ];
    for (what, event) in events {
        let pool = pool("a b", patient());
        rest(&pool, 1000);
        pool.disable(id("b")).unwrap();
        let (mut first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
        event(&pool);
        assert!(first.wakes() == 1 && second.wakes() == 1, "{what}");
        let leases = [first.poll().unwrap().unwrap(), second.poll().unwrap().unwrap()];
        assert_eq!(pool.waiting(), 0, "{what}");
        drop(leases);
    }
}

#[tokio::test(start_paused = true)]
async fn wider_limits_serve_those_who_wait() {
    let pool = pool("a", PoolParams { max_concurrency: 1, ..patient() });
    let held = pool.try_acquire(&[]).unwrap();
    let (mut first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
    pool.set_params(PoolParams { max_concurrency: 2, ..patient() });
    let lease = first.granted();
    assert!(second.poll().is_none());
    pool.set_params(PoolParams { limit: Some(Limit::window(1, secs(60))), ..patient() });
    assert_eq!(name(&second.granted()), "a", "the lends of before the limit are not known");
    drop((held, lease));
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_are_refused_when_the_last_token_is_barred() {
    let pool = pool("a", PoolParams { max_concurrency: 1, ..patient() });
    let held = pool.try_acquire(&[]).unwrap();
    let (mut first, mut second) = (Request::waiting(&pool), Request::waiting(&pool));
    pool.disable(id("a")).unwrap();
    assert_eq!((first.refused().retry_in, second.refused().retry_in), (None, None));
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_survive_a_reload() {
    let pool = pool("a b", PoolParams { max_concurrency: 1, ..patient() });
    let (a, b) = (pool.try_acquire(&[]).unwrap(), pool.try_acquire(&[]).unwrap());
    let mut request = Request::waiting(&pool);
    pool.reload(specs("b a"));
    assert!(request.poll().is_none());
    pool.reload(specs("b"));
    drop(a);
    assert!(request.poll().is_none(), "a is gone");
    drop(b);
    assert_eq!(name(&request.granted()), "b");
}

#[tokio::test(start_paused = true)]
async fn a_charge_found_out_later_rests_the_token() {
    let pool = pool("a b", patient());
    let mut lease = pool.try_acquire(&[]).unwrap();
    let stamp = lease.stamp();
    lease.settle(&Report { status: Some(403), ..Report::new(Outcome::Unaffected) });
    drop(lease);
    pool.charge(stamp, 403);
    pool.charge(stamp, 403);
    let status = status(&pool, "a");
    assert_eq!((status.state, status.failures, status.last_status), (State::Cooling, 1, Some(403)));
    assert_eq!(stamp.id(), id("a"));
}

#[tokio::test(start_paused = true)]
async fn a_lease_tells_once() {
    let pool = pool("a", patient());
    let mut lease = pool.try_acquire(&[]).unwrap();
    lease.settle(&Report::new(Outcome::Success));
    lease.settle(&Report::new(Outcome::Limited));
    let status = status(&pool, "a");
    assert_eq!((status.state, status.successes, status.rate_limited), (State::Ready, 1, 0));
    assert_eq!(pool.state_counts().ready, 1);
}

#[tokio::test(start_paused = true)]
async fn a_label_is_a_name_or_an_id() {
    let mut named = specs("secret-value other-value");
    named[0].name = Some("ci".into());
    let pool = pool("", patient());
    pool.reload(named);
    let (first, second) = (pool.try_acquire(&[]).unwrap(), pool.try_acquire(&[]).unwrap());
    assert_eq!(first.label(), "ci");
    assert_eq!(second.label(), second.id().to_string());
    for shown in [format!("{pool:?}"), format!("{first:?} {second:?}"), format!("{:?}", pool.snapshot())] {
        assert!(!shown.contains("value"), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn all_clones_are_one_pool() {
    let pool = pool("a", patient());
    let clone = pool.clone();
    rest(&clone, 7);
    assert_eq!(pool.predicted_wait(), Some(secs(7)));
    advance(secs(3)).await;
    assert_eq!(status(&pool, "a").retry_in, secs(4));
    assert_eq!((clone.name(), clone.params()), ("tests", patient()));
}
