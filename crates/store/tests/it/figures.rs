//! What `docs/state.md` says, measured. Run alone, in release:
//! `cargo test --release -p tidegate-store --test it figures -- --ignored --nocapture --test-threads=1`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tidegate_store::{FileStore, Status};
use tidegate_token_manager::{Clock, IdKey, Place, Store, TokenManager};

use tokio::time::Instant;

use crate::redis::store;
use crate::redis_server::RedisServer;
use crate::support::{id, linked, pool, reaches, resting, until};

/// A thousand tokens' names.
fn names(count: usize) -> String {
    (0..count).map(|number| format!("t{number} ")).collect()
}

/// How much of the process is in memory, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Changes tokens, one after the other, for `lasting`, so many times a second.
async fn changes(pool: &TokenManager, per_second: u32, lasting: Duration) -> u64 {
    let ids: Vec<_> = pool.snapshot().iter().map(|status| status.id).collect();
    let begun = Instant::now();
    let mut made = 0;
    while begun.elapsed() < lasting {
        let due = u64::try_from(begun.elapsed().as_micros()).unwrap() * u64::from(per_second) / 1_000_000;
        while made < due {
            pool.reset(ids[usize::try_from(made).unwrap() % ids.len()]).unwrap();
            made += 1;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    made
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "figures for docs/state.md: a minute"]
async fn of_many_changes() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, link1) = linked(store(&server.url()), &names(1000));
    let (_two, link2) = linked(store(&server.url()), &names(1000));
    reaches(&link1, Status::Connected).await;
    reaches(&link2, Status::Connected).await;
    // 100 000 a minute.
    changes(&one, 1667, Duration::from_secs(5)).await;
    let before = resident();
    let made = changes(&one, 1667, Duration::from_secs(20)).await;
    let told = link1.counts().told.load(Relaxed);
    println!(
        "{made} changes in 20 s, {told} told in all, {} heard: {before} KiB before, {} KiB after",
        link2.counts().heard.load(Relaxed),
        resident()
    );
    server.freeze();
    let made = changes(&one, 10_000, Duration::from_secs(10)).await;
    println!("{made} changes in 10 s while the server is frozen: {} KiB", resident());
    let begun = Instant::now();
    server.thaw();
    reaches(&link1, Status::Connected).await;
    println!("agreed {:?} after it went on: {} KiB", begun.elapsed(), resident());
    println!("{}", server.cli(&["info", "commandstats"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "figures for docs/state.md: a minute"]
async fn of_many_tokens() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let count = 100_000;
    let begun = Instant::now();
    let (one, link1) = linked(store(&server.url()), &names(count));
    let made = begun.elapsed();
    reaches(&link1, Status::Connected).await;
    println!(
        "a pool of {count} is made in {made:?}, and its first read of nothing is done {:?} later",
        begun.elapsed() - made
    );
    let begun = Instant::now();
    one.reset_all();
    one.snapshot().iter().for_each(|status| one.disable(status.id).unwrap());
    println!("{count} changes noted in {:?}", begun.elapsed());
    until("all is told", || link1.counts().told.load(Relaxed) >= 100_000 && !one.has_news()).await;
    println!("told {:?} after the first", begun.elapsed());
    println!(
        "{}",
        server.cli(&["info", "memory"]).lines().find(|line| line.starts_with("used_memory_human")).unwrap()
    );
    let begun = Instant::now();
    let (_two, link2) = linked(store(&server.url()), &names(count));
    reaches(&link2, Status::Connected).await;
    println!("another starts, reads them all and agrees in {:?}", begun.elapsed());
    println!("{}", server.cli(&["info", "commandstats"]));
}

#[test]
#[ignore = "figures for docs/state.md: some seconds"]
fn of_another_key() {
    let pool = pool(&names(100_000));
    for key in ["one", "another", "a third"] {
        let key = IdKey::from_bytes(key.as_bytes());
        let done = AtomicBool::new(false);
        let (took, waited) = std::thread::scope(|scope| {
            let asks = scope.spawn(|| {
                let mut longest = Duration::ZERO;
                while !done.load(Relaxed) {
                    let asked = Instant::now();
                    drop(pool.try_acquire(&[]));
                    longest = longest.max(asked.elapsed());
                }
                longest
            });
            let begun = Instant::now();
            pool.rekey(&key);
            let took = begun.elapsed();
            done.store(true, Relaxed);
            (took, asks.join().unwrap())
        });
        println!(
            "100000 tokens have another key's ids after {took:?}; one who was lent a token waited {waited:?}"
        );
    }
}

#[test]
#[ignore = "figures for docs/state.md: some seconds"]
fn of_a_batch() {
    let (one, two) = (pool(&names(100_000)), pool(&names(100_000)));
    one.share();
    two.share();
    one.snapshot().iter().for_each(|status| one.disable(status.id).unwrap());
    let (mut takes, mut gives) = (Vec::new(), Vec::new());
    while one.has_news() {
        let begun = Instant::now();
        let news = one.take_news(Clock::wall(), 128);
        takes.push(begun.elapsed());
        let begun = Instant::now();
        two.apply(&news, Clock::wall());
        gives.push(begun.elapsed());
    }
    for (what, mut took) in [("taken", takes), ("given", gives)] {
        took.sort();
        println!(
            "128 tokens' news are {what} in {:?}, 99 % in {:?}",
            took[took.len() / 2],
            took[took.len() * 99 / 100]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "figures for docs/state.md: some seconds"]
async fn of_a_file() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for count in [100, 10_000, 100_000] {
        let path = folder.path().join(format!("state{count}"));
        let mut file = FileStore::new(&path);
        file.open().await.unwrap();
        let now = Clock::wall().stamp;
        let news: Vec<_> = (0..count).map(|number| resting(&format!("t{number}"), now, 600_000)).collect();
        let begun = Instant::now();
        file.publish(&news).await.unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        println!("{count} resting tokens, {size} bytes, are written in {:?}", begun.elapsed());
        // So many that the file is written anew meanwhile.
        let (mut took, mut rewritten, mut before) = (Vec::new(), 0, size);
        while rewritten < 3 || took.len() < 1000 {
            // At times many at once, so that it does not take all day.
            if took.len() % 100 == 99 {
                file.publish(&news[..count / 10]).await.unwrap();
            }
            let begun = Instant::now();
            file.publish(&news[..1]).await.unwrap();
            took.push(begun.elapsed());
            let size = std::fs::metadata(&path).unwrap().len();
            rewritten += u32::from(size < before);
            before = size;
        }
        took.sort();
        let at = |share: usize| took[(took.len() * share / 1000).min(took.len() - 1)];
        println!(
            "then one change: median {:?}, 99 % {:?}, longest of {} {:?}; {rewritten} times written anew meanwhile",
            at(500),
            at(990),
            took.len(),
            at(1000)
        );
        let begun = Instant::now();
        let mut other = FileStore::new(&path);
        other.open().await.unwrap();
        let place = Place { pool: "tests".into(), id: id("t1") };
        assert_eq!(other.load(&[place]).await.unwrap().len(), 1);
        println!("and all are read in {:?}", begun.elapsed());
    }
}
