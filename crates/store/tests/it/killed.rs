//! A process that writes and is killed, a thousand times.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tidegate_store::FileStore;
use tidegate_token_manager::{Clock, Place, Store};

use crate::support::{id, resting};

const KILLS: u32 = 1000;
/// So many that the file is written anew after every few changes: kills fall into that too.
const TOKENS: u32 = 200;
/// Side by side, each with a file of its own.
const TOGETHER: u32 = 4;

#[test]
fn a_kill_at_any_moment_leaves_a_whole_file_and_loses_nothing_that_was_written() {
    let workers: Vec<_> = (0..TOGETHER)
        .map(|_| {
            std::thread::spawn(|| {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("state");
                let written = (0..KILLS / TOGETHER).map(|round| u64::from(cycle(&path, round))).sum::<u64>();
                // Without being written anew, each write would have made it longer by its 30 kB.
                let length = std::fs::metadata(&path).unwrap().len();
                // On a machine that is busy otherwise many a rewriting is killed too.
                assert!(length * 4 < written * 30_000, "{written} writes, and it has {length} bytes");
                written
            })
        })
        .collect();
    let written: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    assert!(written > u64::from(KILLS), "the writers came to nothing: {written} writes");
}

/// Starts a writer, kills it, looks at what is there. Returns how often it had written.
fn cycle(path: &Path, round: u32) -> u32 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::the_writer", "--ignored", "--nocapture", "--test-threads=1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{}", path.display()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Once it writes, at any moment within the next few writes.
    let begun = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("written"));
    assert!(begun.is_some(), "it writes");
    std::thread::sleep(Duration::from_micros(fastrand_like(round) % 6000));
    child.kill().unwrap();
    child.wait().unwrap();
    let said = lines.map_while(Result::ok).filter_map(|line| number(&line)).last();
    let last = said.or(begun.and_then(|line| number(&line))).unwrap();

    let known = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let mut store = FileStore::new(path);
        store.open().await.unwrap();
        store
            .load(&tokens().map(|name| Place { pool: "tests".into(), id: id(&name) }).collect::<Vec<_>>())
            .await
            .unwrap()
    });
    let folder = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let names: Vec<_> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.contains("aside")), "round {round}: {names:?}");
    assert!(names.len() <= 2, "round {round}: nothing piles up: {names:?}");
    assert_eq!(known.len(), tokens().count(), "round {round}");
    for news in known {
        let rest = news.rest.unwrap();
        let kept = rest.until.since(rest.at) - 60_000;
        // It may have written one more than it came to say.
        assert!(kept >= i64::from(last), "round {round}: {last} was written and {kept} is there");
    }
    last
}

fn tokens() -> impl Iterator<Item = String> {
    (0..TOKENS).map(|number| format!("t{number}"))
}

fn number(line: &str) -> Option<u32> {
    line.strip_prefix("written ")?.parse().ok()
}

/// Spread over its range, and the same each time.
fn fastrand_like(round: u32) -> u64 {
    u64::from(round).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

#[test]
#[ignore = "the process that is killed"]
fn the_writer() {
    let mut path = String::new();
    std::io::stdin().read_line(&mut path).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut store = FileStore::new(path.trim_end());
        store.open().await.unwrap();
        let at = Clock::wall().stamp;
        for number in 1_i64.. {
            // So many milliseconds longer than a minute as it was written.
            let news: Vec<_> = tokens().map(|name| resting(&name, at, 60_000 + number)).collect();
            store.publish(&news).await.unwrap();
            println!("written {number}");
        }
    });
}
