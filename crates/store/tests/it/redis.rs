//! Replicas over a real Redis.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tidegate_store::{Link, RedisAddress, RedisStore, Status};
use tidegate_token_manager::{LearnedNews, News, Outcome, Place, Report, Stamp, State, Store, TokenManager};

use crate::redis_server::RedisServer;
use crate::support::{LONG, id, limit, link, linked, reaches, rest, resting, states, taught, until};

pub(crate) fn store(url: &str) -> RedisStore {
    RedisStore::new(url.parse::<RedisAddress>().unwrap()).unwrap()
}

async fn replica(server: &RedisServer, names: &str) -> (TokenManager, Link) {
    let (pool, link) = linked(store(&server.url()), names);
    reaches(&link, Status::Connected).await;
    (pool, link)
}

#[tokio::test]
async fn replicas_share_rests_resets_and_bars() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, link1) = replica(&server, "a b").await;
    let (two, link2) = replica(&server, "b a").await;
    let ids: Vec<_> = one.snapshot().iter().map(|status| status.id).collect();
    assert_eq!(ids[0], two.snapshot()[1].id, "they have the same ids, under a key that one of them made");

    rest(&one, 600);
    until("the rest is heard", || states(&two) == [State::Ready, State::Cooling]).await;
    two.disable(ids[1]).unwrap();
    until("the bar is heard", || states(&one) == [State::Cooling, State::Disabled]).await;
    one.reset_all();
    one.enable(ids[1]).unwrap();
    until("the reset is heard", || states(&two) == [State::Ready, State::Ready]).await;

    rest(&two, 600);
    let (late, link3) = replica(&server, "a b").await;
    until("one who comes later reads it", || states(&late) == [State::Ready, State::Cooling]).await;
    let ttl: i64 = server.cli(&["pttl", &format!("tidegate:token:tests:{}", ids[1])]).parse().unwrap();
    assert!((86_400_000..87_100_000).contains(&ttl), "it expires a day after its end: {ttl}");
    assert!(link1.counts().told.load(Relaxed) > 0 && link2.counts().heard.load(Relaxed) > 0);
    for link in [link1, link2, link3] {
        link.stop(LONG).await;
    }
}

#[tokio::test]
async fn replicas_share_rests_of_scopes() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, _link1) = replica(&server, "a").await;
    let (two, _link2) = replica(&server, "a").await;
    let lends = |pool: &TokenManager, scope| pool.try_acquire_in(Some(scope), &[]).is_ok();
    assert!(lends(&two, "search"));
    for scope in ["search", "core"] {
        let told = Some(Duration::from_secs(600));
        let report = Report { told, ..Report::new(Outcome::Limited) };
        one.try_acquire_in(Some(scope), &[]).unwrap().settle(&report);
    }
    until("the rest is heard", || !lends(&two, "search")).await;
    // The first who asks in a scope that is new here has it read.
    until("the rest is read", || !lends(&two, "core")).await;
    assert_eq!(states(&two), [State::Ready]);
    two.reset_all();
    until("the reset is heard", || lends(&one, "search") && lends(&one, "core")).await;
}

#[tokio::test]
async fn replicas_share_what_they_learn_of_limits() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let one = taught("a b", "search").await;
    let link1 = link(store(&server.url()), &one);
    reaches(&link1, Status::Connected).await;
    let (two, _link2) = replica(&server, "b a").await;
    until("it is heard", || two.try_acquire_in(None, &[two.snapshot()[0].id]).is_err()).await;
    assert!(two.try_acquire(&[]).is_ok(), "the other token has no pace");
    until("it is read for a scope", || {
        let others = [two.snapshot()[0].id];
        two.try_acquire_in(Some("search"), &others).is_err()
    })
    .await;
    link1.stop(LONG).await;

    let (late, _link3) = replica(&server, "a").await;
    assert!(late.try_acquire(&[]).is_err(), "one who comes later reads it");
    late.reset_all();
    until("an operator's reset forgets it", || two.try_acquire_in(None, &[two.snapshot()[0].id]).is_ok())
        .await;
    let (last, _link4) = replica(&server, "a").await;
    assert!(last.try_acquire(&[]).is_ok());
}

#[tokio::test]
async fn nobody_starts_afresh_after_all_have_gone() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, link) = replica(&server, "a b").await;
    rest(&one, 600);
    link.stop(LONG).await;
    let (again, link) = replica(&server, "a b").await;
    assert_eq!(states(&again), [State::Cooling, State::Ready]);
    assert_eq!(again.snapshot()[0].id, one.snapshot()[0].id);
    link.stop(LONG).await;
}

#[tokio::test]
async fn a_server_that_comes_later_is_agreed_with() {
    let Some(mut server) = RedisServer::start(&[]) else { return };
    server.kill();
    let (one, link1) = linked(store(&server.url()), "a b");
    let (two, link2) = linked(store(&server.url()), "a b");
    reaches(&link1, Status::Alone).await;
    reaches(&link2, Status::Alone).await;
    rest(&one, 600);
    drop(two.try_acquire(&[]).unwrap());
    rest(&two, 300);
    assert_eq!(states(&one), [State::Cooling, State::Ready]);
    assert_eq!(states(&two), [State::Ready, State::Cooling]);
    server.start_again();
    until("both know of both", || {
        states(&one) == [State::Cooling, State::Cooling] && states(&two) == states(&one)
    })
    .await;
    assert_eq!(one.snapshot()[0].id, two.snapshot()[0].id, "their ids are the same now");
}

#[tokio::test]
async fn a_server_that_has_forgotten_all_is_told_again() {
    let Some(mut server) = RedisServer::start(&[]) else { return };
    let (one, link1) = replica(&server, "a b").await;
    let (two, link2) = replica(&server, "a b").await;
    let before = one.snapshot()[0].id;
    rest(&one, 600);
    until("the rest is heard", || states(&two)[0] == State::Cooling).await;
    server.kill();
    reaches(&link1, Status::Alone).await;
    reaches(&link2, Status::Alone).await;
    two.reset(before).unwrap();
    rest(&two, 900);
    server.start_again();
    until("the later end counts", || {
        [&one, &two].iter().all(|pool| pool.snapshot()[0].retry_in > Duration::from_secs(850))
    })
    .await;
    let (late, link3) = replica(&server, "a b").await;
    assert_eq!(states(&late), [State::Cooling, State::Ready]);
    assert_eq!(late.snapshot()[0].id, before, "the key that they had is the one that counts");
    drop(link3);
}

#[tokio::test]
async fn a_reset_wins_over_a_rest_that_is_told_late() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, _link1) = replica(&server, "a").await;
    let (two, _link2) = replica(&server, "a").await;
    server.freeze();
    rest(&one, 600);
    tokio::time::sleep(Duration::from_millis(20)).await;
    two.reset_all();
    server.thaw();
    // Something that comes after both, in whatever order those came.
    let (late, _link3) = replica(&server, "a").await;
    until("the reset holds everywhere", || {
        [&one, &two, &late].iter().all(|pool| states(pool) == [State::Ready])
    })
    .await;
}

#[tokio::test]
async fn a_frozen_server_holds_up_nobody_and_is_agreed_with_once_it_goes_on() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, link1) = replica(&server, "a b").await;
    let (two, _link2) = replica(&server, "a b").await;
    server.freeze();
    rest(&one, 600);
    for _ in 0..10_000 {
        drop(one.try_acquire(&[]).unwrap());
    }
    reaches(&link1, Status::Alone).await;
    assert_eq!(states(&two), [State::Ready, State::Ready]);
    server.thaw();
    until("the rest is heard", || states(&two) == [State::Cooling, State::Ready]).await;
}

#[tokio::test]
async fn a_hundred_thousand_changes_are_a_few_messages() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, link1) = replica(&server, "a b c").await;
    let (two, link2) = replica(&server, "a b c").await;
    let ids: Vec<_> = one.snapshot().iter().map(|status| status.id).collect();
    server.freeze();
    for _ in 0..100_000 {
        one.disable(ids[0]).unwrap();
        one.enable(ids[0]).unwrap();
    }
    one.disable(ids[0]).unwrap();
    server.thaw();
    until("the last decision is heard", || states(&two)[0] == State::Disabled).await;
    let told = link1.counts().told.load(Relaxed);
    assert!(told < 100, "{told} pieces of news");
    assert!(link2.counts().heard.load(Relaxed) < 100);
}

#[tokio::test]
async fn the_script_merges_as_the_pools_do() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let mut store = store(&server.url());
    store.open().await.unwrap();
    let now = store.clock().stamp;
    let mut random = 1_u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let stamp = |draw: &mut dyn FnMut(u64) -> u64| Stamp(now.0 + i64::try_from(draw(400)).unwrap());
    for round in 0..300 {
        let name = format!("token {round}");
        let mut known = News::none("tests".into(), id(&name));
        for _ in 0..4 {
            let mut news = News::none("tests".into(), id(&name));
            if draw(2) == 0 {
                let mut rest = resting(&name, stamp(&mut draw), i64::try_from(draw(300)).unwrap());
                rest.rest.as_mut().unwrap().failures = u32::try_from(draw(5)).unwrap();
                news.rest = rest.rest;
            }
            if draw(2) == 0 {
                // Of few resets, so that there are rests of the same one.
                news.cleared = Some(now.plus(i64::try_from(100 * draw(3)).unwrap()));
            }
            if draw(3) == 0 {
                news.recovered = Some(stamp(&mut draw));
            }
            if draw(3) == 0 {
                let bar = if draw(2) == 0 {
                    tidegate_token_manager::Bar::Barred
                } else {
                    tidegate_token_manager::Bar::Allowed
                };
                news.bar = Some(tidegate_token_manager::BarNews { at: stamp(&mut draw), bar });
            }
            if draw(2) == 0 {
                // Of few moments, so that there are two of the same one.
                let at = now.plus(i64::try_from(draw(4)).unwrap());
                let limit = (draw(4) > 0).then(|| limit(Duration::from_millis(1 + 100 * draw(9))));
                news.learned = Some(LearnedNews { at, limit });
            }
            known.merge(&news);
            store.publish(&[news]).await.unwrap();
        }
        let read = store.load(&[Place { pool: "tests".into(), id: id(&name) }]).await.unwrap();
        let read = read.into_iter().next().unwrap_or_else(|| News::none("tests".into(), id(&name)));
        assert_eq!(read, known, "round {round}");
    }
}

#[tokio::test]
async fn what_a_later_version_adds_is_kept_and_the_later_of_it() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let mut store = store(&server.url());
    store.open().await.unwrap();
    let (now, places) = (store.clock().stamp, [Place { pool: "tests".into(), id: id("a") }]);
    let key = format!("tidegate:token:tests:{}", id("a"));
    store.publish(&[resting("a", now, 60_000)]).await.unwrap();
    let value = server.cli(&["get", &key]);
    server.cli(&["set", &key, &format!("{value} {} 37.5/60", now.0)]);
    let longer = resting("a", now, 90_000);
    store.publish(std::slice::from_ref(&longer)).await.unwrap();
    assert!(server.cli(&["get", &key]).ends_with(&format!(" {} 37.5/60", now.0)));
    assert_eq!(store.load(&places).await.unwrap(), [longer]);
}

#[tokio::test]
async fn prefixes_and_databases_are_worlds_of_their_own() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, _l1) = replica(&server, "a").await;
    let worlds = [format!("{}/3", server.url()), format!("{}?prefix=other", server.url())];
    let mut others = Vec::new();
    for url in &worlds {
        let (pool, link) = linked(store(url), "a");
        reaches(&link, Status::Connected).await;
        others.push((pool, link));
    }
    let (peer, _l2) = replica(&server, "a").await;
    rest(&one, 600);
    until("the peer hears it", || states(&peer) == [State::Cooling]).await;
    for (pool, link) in &others {
        assert_eq!((states(pool), link.counts().heard.load(Relaxed)), (vec![State::Ready], 0));
        assert_ne!(pool.snapshot()[0].id, one.snapshot()[0].id);
    }
}

#[tokio::test]
async fn in_a_cluster_a_prefix_in_braces_keeps_all_keys_on_one_node() {
    let Some(server) = RedisServer::start(&["--cluster-enabled", "yes"]) else { return };
    let slots: Vec<String> = (0..16384).map(|slot| slot.to_string()).collect();
    server.cli(&[&["cluster", "addslots"], &*slots.iter().map(String::as_str).collect::<Vec<_>>()].concat());
    until("the cluster is one", || server.cli(&["cluster", "info"]).contains("cluster_state:ok")).await;
    let (bare, link) = linked(store(&server.url()), "a b");
    reaches(&link, Status::Alone).await;
    assert_eq!(
        states(&bare),
        [State::Ready; 2],
        "many keys at once are refused by a cluster, and it goes on alone"
    );
    let url = format!("{}?prefix={{tidegate}}", server.url());
    let (one, link1) = linked(store(&url), "a b");
    let (two, link2) = linked(store(&url), "a b");
    reaches(&link1, Status::Connected).await;
    reaches(&link2, Status::Connected).await;
    rest(&one, 600);
    until("the rest is heard", || states(&two) == [State::Cooling, State::Ready]).await;
}

#[tokio::test]
async fn new_tokens_of_a_reload_are_looked_up() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, _l1) = replica(&server, "a b").await;
    let (two, link) = replica(&server, "b").await;
    rest(&one, 600);
    two.reload(vec![
        tidegate_token_manager::TokenSpec::new("a"),
        tidegate_token_manager::TokenSpec::new("b"),
    ]);
    link.set_pools(vec![two.clone()]);
    until("the new token rests", || states(&two) == [State::Cooling, State::Ready]).await;
}
