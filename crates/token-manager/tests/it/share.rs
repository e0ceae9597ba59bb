//! What pools tell each other, over clocks that do not agree.

use std::task::{Context, Poll, Waker};

use tidegate_token_manager::{
    Bar, BarNews, Clock, IdKey, News, Outcome, PoolParams, Reason, Report, RestNews, Stamp, State, Token,
    TokenManager,
};
use tokio::time::{Instant, advance};

use crate::support::{Request, id, millis, pool, rest, secs, status};

/// A pool that tells.
fn sharing(names: &str) -> TokenManager {
    let pool = pool(names, PoolParams { max_wait: secs(3600), ..PoolParams::default() });
    pool.share();
    pool
}

fn clock(stamp: i64) -> Clock {
    Clock { instant: Instant::now(), stamp: Stamp(stamp) }
}

/// All that `from` has to tell, told to `to` by one clock.
fn tell(from: &TokenManager, to: &TokenManager, stamp: i64) -> usize {
    let news = from.take_news(clock(stamp), 100);
    to.apply(&news, clock(stamp));
    news.len()
}

fn resting(at: i64, until: i64) -> News {
    let rest = RestNews {
        at: Stamp(at),
        until: Stamp(until),
        failures: 3,
        rejections: 0,
        reason: Reason::RateLimited,
        worn_out: false,
    };
    News { rest: Some(rest), ..News::none("tests".into(), id("a")) }
}

#[tokio::test(start_paused = true)]
async fn a_rest_here_is_a_rest_there() {
    let (here, there) = (sharing("a b"), sharing("b a"));
    rest(&here, 600);
    advance(secs(1)).await;
    assert_eq!(tell(&here, &there, 1_000_000), 1);
    let told = status(&there, "a");
    assert_eq!((told.state, told.failures, told.reason), (State::Cooling, 1, Some(Reason::RateLimited)));
    assert_eq!((told.retry_in, told.requests, told.cooldowns), (secs(599), 0, [0; 4]));
    assert_eq!(status(&there, "b").state, State::Ready);
    assert_eq!(tell(&there, &here, 1_000_000), 0, "what was told is not told on");
}

#[tokio::test(start_paused = true)]
async fn a_reset_wins_over_older_news_and_not_over_newer() {
    for (order, want) in [("rest, reset", State::Ready), ("reset, rest", State::Cooling)] {
        let (here, there) = (sharing("a"), sharing("a"));
        let steps: [fn(&TokenManager); 2] = match order {
            "rest, reset" => [|pool| rest(pool, 600), |pool| pool.reset(id("a")).unwrap()],
            _ => [|pool| pool.reset(id("a")).unwrap(), |pool| rest(pool, 600)],
        };
        steps[0](&here);
        // Within a millisecond, by which stores count.
        advance(std::time::Duration::from_micros(1)).await;
        steps[1](&there);
        let (first, second) = (here.take_news(clock(5000), 9), there.take_news(clock(5000), 9));
        here.apply(&second, clock(5000));
        there.apply(&first, clock(5000));
        // Who rested it before it heard of the older reset tells that rest anew.
        let third = there.take_news(clock(5000), 9);
        assert_eq!((here.has_news(), third.is_empty()), (false, want == State::Ready), "{order}");
        here.apply(&third, clock(5000));
        for (what, pool) in [("here", &here), ("there", &there)] {
            assert_eq!(status(pool, "a").state, want, "{order}: {what}");
        }
        for all in [[&first, &second, &third], [&third, &second, &first], [&second, &third, &first]] {
            let pool = sharing("a");
            all.into_iter().for_each(|news| pool.apply(news, clock(5000)));
            assert_eq!(status(&pool, "a").state, want, "{order}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_rest_that_is_void_does_not_stand_though_a_later_rest_has_met_it() {
    let since = |cleared: i64, news: News| News { cleared: Some(Stamp(cleared)), ..news };
    let long = resting(1000, 900_000);
    let short = since(2000, resting(3000, 30_000));
    let reset = News { cleared: Some(Stamp(2000)), ..News::none("tests".into(), id("a")) };
    for all in [[&long, &short, &reset], [&short, &long, &reset], [&reset, &long, &short]] {
        let pool = sharing("a");
        all.into_iter().for_each(|news| pool.apply(std::slice::from_ref(news), clock(3000)));
        assert_eq!(status(&pool, "a").retry_in, secs(27));
    }
    // Of who did not know of the reset, the long rest hides the short one, and they are void together.
    let pool = sharing("a");
    for news in [long, resting(3000, 30_000), reset] {
        pool.apply(&[news], clock(3000));
    }
    assert_eq!(status(&pool, "a").state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn a_reset_and_a_refusal_of_one_pool_keep_their_order() {
    let (here, there) = (sharing("a"), sharing("a"));
    rest(&here, 600);
    here.reset(id("a")).unwrap();
    rest(&here, 500);
    tell(&here, &there, 7000);
    // Each is dated a millisecond after the one before, and the rest is shorter by that.
    assert_eq!(status(&there, "a").retry_in, secs(500) - millis(2));
    here.reset(id("a")).unwrap();
    tell(&here, &there, 7001);
    assert_eq!(status(&there, "a").state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn what_follows_on_news_wins_over_them_though_the_clock_is_read_otherwise_then() {
    type Step = fn(&TokenManager);
    let rows: [(&str, Step, Step, State); 3] = [
        ("a rest after a reset", |pool| pool.reset(id("a")).unwrap(), |pool| rest(pool, 600), State::Cooling),
        ("a reset after a rest", |pool| rest(pool, 600), |pool| pool.reset(id("a")).unwrap(), State::Ready),
        (
            "an enable after a disable",
            |pool| pool.disable(id("a")).unwrap(),
            |pool| pool.enable(id("a")).unwrap(),
            State::Ready,
        ),
    ];
    for (what, first, second, want) in rows {
        let (here, there) = (sharing("a"), sharing("a"));
        first(&here);
        tell(&here, &there, 100_000);
        second(&there);
        // Twenty milliseconds earlier, by a reading that took longer.
        let news = there.take_news(clock(99_980), 9);
        here.apply(&news, clock(100_000));
        assert_eq!((status(&here, "a").state, status(&there, "a").state), (want, want), "{what}");
        there.tell_all();
        let again = there.take_news(clock(100_050), 9);
        let dates = |news: &[News]| (news[0].cleared, news[0].rest.map(|rest| rest.at), news[0].bar);
        let (old, new) = (dates(&news), dates(&again));
        assert!(old.0.is_none_or(|at| new.0 == Some(at)), "{what}: what is told again has its old date");
        assert!(old.1.is_none_or(|at| new.1 == Some(at)), "{what}: what is told again has its old date");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_stepped_makes_no_rest_longer_than_it_was() {
    advance(secs(100)).await;
    for (what, at, until, now, retry_in) in [
        ("as it was", 1_000_000, 1_030_000, 1_010_000, 20_000),
        ("a news of the future", 9_000_000, 9_030_000, 1_000_000, 30_000),
        ("the clock went back during the rest", 1_000_000, 1_030_000, 995_000, 30_000),
        ("the clock went ahead, or the machine slept", 1_000_000, 1_030_000, 5_000_000, 0),
        ("nonsense: it ends before it begins", 1_000_000, 900_000, 1_000_000, 0),
        ("the end of all time", 1_000_000, i64::MAX, i64::MIN, i64::MAX.unsigned_abs() - 1_000_000),
    ] {
        let pool = sharing("a");
        pool.apply(&[resting(at, until)], clock(now));
        let status = status(&pool, "a");
        let shown = u64::try_from(status.retry_in.as_millis()).unwrap();
        if retry_in > 1_000_000 {
            assert!(shown > 1_000_000_000, "{what}: {shown}");
        } else {
            assert_eq!(shown, retry_in, "{what}");
        }
        let over = retry_in == 0;
        assert_eq!(status.state, if over { State::Probing } else { State::Cooling }, "{what}");
        assert_eq!(status.failures, 3, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_operators_decision_is_shared_and_the_later_one_holds() {
    let (here, there) = (sharing("a"), sharing("a"));
    here.disable(id("a")).unwrap();
    tell(&here, &there, 1000);
    assert_eq!(status(&there, "a").state, State::Disabled);
    // All within one millisecond.
    there.enable(id("a")).unwrap();
    there.disable(id("a")).unwrap();
    there.enable(id("a")).unwrap();
    tell(&there, &here, 1000);
    assert_eq!(status(&here, "a").state, State::Ready);
    let old = BarNews { at: Stamp(900), bar: Bar::Barred };
    here.apply(&[News { bar: Some(old), ..News::none("tests".into(), id("a")) }], clock(1000));
    assert_eq!(status(&here, "a").state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_succeeds_is_a_success_for_all() {
    let (here, there) = (sharing("a"), sharing("a"));
    rest(&here, 2);
    tell(&here, &there, 0);
    advance(secs(2)).await;
    assert_eq!(status(&there, "a").state, State::Probing);
    here.try_acquire(&[]).unwrap().settle(&Report::new(Outcome::Success));
    tell(&here, &there, 2000);
    assert_eq!((status(&there, "a").state, status(&there, "a").failures), (State::Ready, 0));
    // The news of the rest, once more and a little askew, as after a reconnect.
    there.apply(&[resting(1, 2003)], clock(2000));
    assert_eq!(status(&there, "a").state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn a_success_elsewhere_does_not_end_a_rest_that_runs() {
    let (here, there) = (sharing("a"), sharing("a"));
    rest(&here, 2);
    tell(&here, &there, 0);
    advance(secs(2)).await;
    // Both probe; one is refused for a minute while the other succeeds.
    let mut probe = here.try_acquire(&[]).unwrap();
    rest(&there, 60);
    advance(millis(5)).await;
    probe.settle(&Report::new(Outcome::Success));
    tell(&here, &there, 2005);
    tell(&there, &here, 2005);
    for pool in [&here, &there] {
        assert_eq!(status(pool, "a").state, State::Cooling);
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_lent_early_and_taken_is_proven_for_all() {
    let soonest = PoolParams {
        when_exhausted: tidegate_token_manager::WhenExhausted::Soonest,
        ..PoolParams::default()
    };
    let (here, there) = (pool("a", soonest), sharing("a"));
    here.share();
    rest(&here, 600);
    tell(&here, &there, 0);
    advance(secs(1)).await;
    let ask = here.acquire(tidegate_token_manager::Ask::default()).await;
    ask.unwrap().settle(&Report::new(Outcome::Success));
    tell(&here, &there, 1000);
    assert_eq!(status(&there, "a").state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn results_of_before_the_news_count_no_more() {
    let pool = sharing("a");
    let mut lease = pool.try_acquire(&[]).unwrap();
    pool.apply(&[resting(1000, 61_000)], clock(1000));
    lease.settle(&Report::new(Outcome::Limited));
    assert_eq!((status(&pool, "a").failures, status(&pool, "a").retry_in), (3, secs(60)));
    let mut lease = sharing_lease(&pool).await;
    lease.settle(&Report::new(Outcome::Success));
    assert_eq!(status(&pool, "a").state, State::Ready);
}

async fn sharing_lease(pool: &TokenManager) -> tidegate_token_manager::Lease {
    advance(secs(60)).await;
    pool.try_acquire(&[]).unwrap()
}

#[tokio::test(start_paused = true)]
async fn however_much_happens_a_token_has_one_piece_of_news() {
    let pool = sharing("a b c");
    for round in 0..1000 {
        for name in ["a", "b", "c"] {
            pool.disable(id(name)).unwrap();
            pool.enable(id(name)).unwrap();
            pool.reset(id(name)).unwrap();
        }
        assert!(pool.has_news(), "{round}");
    }
    assert_eq!(pool.take_news(clock(0), 2).len(), 2);
    assert_eq!(pool.take_news(clock(0), 2).len(), 1);
    assert!(!pool.has_news());
    pool.tell_all();
    assert_eq!(pool.take_news(clock(0), 9).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn who_listens_is_woken_once_there_are_news() {
    let pool = sharing("a");
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(pool.poll_news(&mut cx), Poll::Pending);
    drop(pool.try_acquire(&[]).unwrap());
    assert_eq!(pool.poll_news(&mut cx), Poll::Pending, "a lease is no news");
    let waiting = tokio::spawn({
        let pool = pool.clone();
        async move { std::future::poll_fn(|cx| pool.poll_news(cx)).await }
    });
    tokio::task::yield_now().await;
    rest(&pool, 5);
    waiting.await.unwrap();
    // A pool that nobody listens to notes nothing.
    let quiet = crate::support::pool("a", PoolParams::default());
    rest(&quiet, 5);
    assert!(!quiet.has_news());
}

#[tokio::test(start_paused = true)]
async fn a_reset_elsewhere_serves_those_who_wait() {
    let (here, there) = (sharing("a"), sharing("a"));
    rest(&here, 600);
    tell(&here, &there, 0);
    let mut request = Request::waiting(&there);
    advance(millis(1)).await;
    here.reset_all();
    tell(&here, &there, 1);
    drop(request.granted());
}

#[tokio::test(start_paused = true)]
async fn another_key_changes_the_ids_and_nothing_else() {
    let pool = sharing("a b");
    rest(&pool, 600);
    let mut out = pool.try_acquire(&[]).unwrap();
    let stamp = out.stamp();
    let key = IdKey::from_bytes(b"another");
    let renamed = |name| key.id(&Token::new(name));
    pool.rekey(&key);
    let ids = |pool: &TokenManager| pool.snapshot().iter().map(|status| status.id).collect::<Vec<_>>();
    assert_eq!(ids(&pool), [renamed("a"), renamed("b")]);
    assert_eq!(pool.take_news(clock(0), 9)[0].id, renamed("a"));
    assert_eq!(pool.snapshot()[0].state, State::Cooling);
    // By the ids of before, the token is still found: by a lease, and by a request that has tried it.
    assert!(pool.try_acquire(&[id("b")]).is_err());
    pool.reload(crate::support::specs("b a"));
    assert_eq!(ids(&pool), [renamed("b"), renamed("a")]);
    out.settle(&Report::new(Outcome::Unaffected));
    drop(out);
    assert_eq!(pool.snapshot()[0].in_flight, 0);
    pool.charge(stamp, 403);
    assert_eq!(pool.snapshot()[0].state, State::Cooling);
    pool.reset(id("a")).unwrap();
    assert_eq!(pool.snapshot()[1].state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn news_of_tokens_that_are_gone_change_nothing() {
    let (here, there) = (sharing("a"), sharing("a"));
    rest(&here, 600);
    there.reload(crate::support::specs("b"));
    tell(&here, &there, 0);
    here.reset(id("a")).unwrap();
    here.reload(crate::support::specs("b"));
    assert!(!here.has_news());
    assert_eq!(there.snapshot()[0].state, State::Ready);
}

fn limited(told: u64) -> Report {
    Report { told: Some(secs(told)), ..Report::new(Outcome::Limited) }
}

/// Whether a token is lent in a scope.
fn lends(pool: &TokenManager, scope: &str) -> bool {
    pool.try_acquire_in(Some(scope), &[]).is_ok()
}

/// What a store holds of it is told to `to`, as when a scope is new there.
fn read(from: &TokenManager, to: &TokenManager, stamp: i64) {
    let places = to.take_unread();
    from.tell_all();
    let all = from.take_news(clock(stamp), 100);
    let asked = |news: &&News| places.iter().any(|place| place.id == news.id && place.pool == news.pool);
    let known: Vec<News> = all.iter().filter(asked).cloned().collect();
    to.apply(&known, clock(stamp));
}

#[tokio::test(start_paused = true)]
async fn a_rest_in_a_scope_is_one_there_in_the_same_scope() {
    let (here, there) = (sharing("a"), sharing("a"));
    // One scope is known there before, one after; and one is not asked for there at all.
    assert!(lends(&there, "search"));
    assert!(there.has_news(), "there may be news of a new scope to read");
    assert_eq!((there.take_unread().len(), there.has_news()), (1, false));
    for scope in ["search", "core", "other"] {
        here.try_acquire_in(Some(scope), &[]).unwrap().settle(&limited(600));
    }
    let news = here.take_news(clock(1000), 9);
    assert_eq!(news.len(), 3);
    assert!(news.iter().all(|news| news.id != id("a")), "each has an id of its own");
    there.apply(&news, clock(1000));
    assert!(!lends(&there, "search") && lends(&there, "core") && there.try_acquire(&[]).is_ok());
    read(&here, &there, 1000);
    assert!(!lends(&there, "core") && lends(&there, "third"));
    assert_eq!(status(&there, "a").scopes.len(), 2);
    assert_eq!(there.take_news(clock(1000), 9), [], "what was told is not told on");

    // Its end is told likewise.
    advance(secs(600)).await;
    here.try_acquire_in(Some("core"), &[]).unwrap().settle(&Report::new(Outcome::Success));
    assert_eq!(tell(&here, &there, 601_000), 1);
    let states: Vec<_> =
        status(&there, "a").scopes.into_iter().map(|scope| (scope.scope, scope.state)).collect();
    assert_eq!(states, [("search".to_owned(), State::Probing)]);
}

#[tokio::test(start_paused = true)]
async fn a_reset_and_a_bar_are_for_every_scope() {
    let (here, there, late) = (sharing("a"), sharing("a"), sharing("a"));
    there.try_acquire_in(Some("search"), &[]).unwrap().settle(&limited(600));
    let rest = there.take_news(clock(1000), 9);
    late.apply(&rest, clock(1000));
    // Where the reset is made, nothing is known of the scope.
    advance(secs(1)).await;
    here.reset(id("a")).unwrap();
    tell(&here, &there, 2000);
    assert!(lends(&there, "search"));
    // The scope's rest is void for those too who hear of it late.
    assert!(lends(&late, "search"));
    read(&there, &late, 2000);
    assert!(lends(&late, "search"));
    // And where it is only read after the reset was made, by nobody who knew of it.
    assert!(lends(&here, "search"));
    drop((here.take_unread(), here.take_news(clock(2000), 9)));
    here.apply(&rest, clock(2000));
    assert!(lends(&here, "search"));
    assert_eq!(here.take_news(clock(2000), 9).len(), 1, "and then it is told for the scope");
    here.disable(id("a")).unwrap();
    assert_eq!(here.untold(), 1, "a bar is told once");
    tell(&here, &there, 2000);
    assert!(!lends(&there, "search"));
    assert_eq!(there.untold(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_rejection_is_told_for_all_scopes_at_once() {
    let (here, there) = (sharing("a"), sharing("a"));
    for pool in [&here, &there] {
        assert!(lends(pool, "search") && lends(pool, "core"));
        drop(pool.take_unread());
    }
    here.try_acquire_in(Some("search"), &[]).unwrap().settle(&Report::new(Outcome::Rejected));
    assert_eq!(tell(&here, &there, 1000), 2, "for the scope, and for all");
    assert_eq!(there.untold(), 0);
    assert!(!lends(&there, "search") && !lends(&there, "core") && there.try_acquire(&[]).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_groups_rest_is_shared_and_so_are_its_end_and_its_reset() {
    let grouped = || {
        let mut specs = crate::support::specs("a b c");
        specs[..2].iter_mut().for_each(|spec| spec.group = Some("org".to_owned()));
        let pool = TokenManager::new("tests", PoolParams::default(), specs, IdKey::from_bytes(b"tests"));
        pool.share();
        pool
    };
    let states = |pool: &TokenManager| pool.snapshot().iter().map(|it| it.state).collect::<Vec<_>>();
    let (here, there) = (grouped(), grouped());
    here.try_acquire(&[id("c")]).unwrap().settle(&limited(60));
    assert_eq!(tell(&here, &there, 1000), 2, "of the token and of the group");
    assert_eq!(states(&there), [State::Cooling, State::Cooling, State::Ready]);
    assert_eq!(there.untold(), 0);

    advance(secs(60)).await;
    here.try_acquire(&[id("c")]).unwrap().settle(&Report::new(Outcome::Success));
    tell(&here, &there, 61_000);
    assert_eq!(states(&there), [State::Ready; 3]);

    // A refusal at one, a reset at the other.
    here.try_acquire(&[id("c")]).unwrap().settle(&limited(60));
    tell(&here, &there, 61_000);
    assert_eq!(states(&there)[..2], [State::Cooling; 2]);
    advance(secs(1)).await;
    there.reset_all();
    tell(&there, &here, 62_000);
    assert_eq!(states(&here), [State::Ready; 3]);
    // And it comes to the same for who hears all that later, in any order.
    here.tell_all();
    there.tell_all();
    let (late, later) = (grouped(), grouped());
    let (one, other) = (here.take_news(clock(62_000), 99), there.take_news(clock(62_000), 99));
    for (pool, all) in [(&late, [&one, &other]), (&later, [&other, &one])] {
        all.into_iter().for_each(|news| pool.apply(news, clock(62_000)));
    }
    assert_eq!((states(&late), states(&later)), (vec![State::Ready; 3], vec![State::Ready; 3]));
    assert_eq!(late.places().len(), 4, "three tokens and a group");
}

#[tokio::test(start_paused = true)]
async fn a_group_outlives_a_reload_and_another_key() {
    let grouped = || {
        let mut specs = crate::support::specs("a b");
        specs.iter_mut().for_each(|spec| spec.group = Some("org".to_owned()));
        specs
    };
    let pool = TokenManager::new("tests", PoolParams::default(), grouped(), IdKey::from_bytes(b"tests"));
    pool.share();
    let before = pool.places();
    pool.try_acquire(&[]).unwrap().settle(&limited(60));
    pool.reload(grouped());
    pool.rekey(&IdKey::from_bytes(b"another"));
    let after = pool.places();
    assert_eq!((before.len(), after.len()), (3, 3));
    assert_eq!(before[2], after[2], "a group's id is made without the key");
    let told = pool.take_news(clock(0), 9);
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|news| after.iter().any(|place| place.id == news.id)));
}
