use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tidegate_store::{FileStore, Keys, Link, Status};
use tidegate_token_manager::{Clock, IdKey, Place, State, Store};

use crate::support::{LONG, id, link, linked, pool, reaches, rest, resting, states, taught, until};

/// A store of a file that is not there yet, in a folder of its own.
async fn opened() -> (tempfile::TempDir, std::path::PathBuf, FileStore) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let mut store = FileStore::new(&path);
    store.open().await.unwrap();
    (folder, path, store)
}

#[tokio::test]
async fn what_happened_is_known_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (pool, link) = linked(FileStore::new(&path), "a b c secretvalue");
    reaches(&link, Status::Connected).await;
    let ids: Vec<_> = pool.snapshot().iter().map(|status| status.id).collect();
    rest(&pool, 600);
    pool.disable(ids[1]).unwrap();
    rest(&pool, 300);
    pool.reset(ids[2]).unwrap();
    link.stop(LONG).await;
    for file in ["state", "state.key"] {
        let mode = fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    assert!(!fs::read_to_string(&path).unwrap().contains("secretvalue"));

    let (again, link) = linked(FileStore::new(&path), "b a c d");
    reaches(&link, Status::Connected).await;
    assert_eq!(states(&again), [State::Disabled, State::Cooling, State::Ready, State::Ready]);
    let a = &again.snapshot()[1];
    assert_eq!((a.id, a.failures), (ids[0], 1));
    assert!(a.retry_in.as_secs() >= 590, "{:?}", a.retry_in);
    link.stop(LONG).await;
}

#[tokio::test]
async fn a_pace_that_was_learned_is_gone_by_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let link = link(FileStore::new(&path), &taught("a b", "search").await);
    reaches(&link, Status::Connected).await;
    link.stop(LONG).await;
    assert_eq!(fs::read_to_string(&path).unwrap().matches("\"learned\"").count(), 2);

    let (again, link) = linked(FileStore::new(&path), "a");
    reaches(&link, Status::Connected).await;
    assert!(again.try_acquire(&[]).is_err(), "it goes by the pace, and has nothing saved up");
    until("it is read for a scope", || again.try_acquire_in(Some("search"), &[]).is_err()).await;
    assert!(again.try_acquire_in(Some("core"), &[]).is_ok());
    again.reset_all();
    assert!(again.try_acquire(&[]).is_ok());
    link.stop(LONG).await;

    let (last, link) = linked(FileStore::new(&path), "a");
    reaches(&link, Status::Connected).await;
    assert!(last.try_acquire(&[]).is_ok(), "a reset is remembered too");
    link.stop(LONG).await;
}

#[tokio::test]
async fn a_change_is_in_the_file_soon_without_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (pool, link) = linked(FileStore::new(&path), "a");
    reaches(&link, Status::Connected).await;
    rest(&pool, 600);
    until("the rest is in the file", || {
        fs::read_to_string(&path).is_ok_and(|text| text.contains("rate_limited"))
    })
    .await;
    link.stop(LONG).await;
}

#[tokio::test]
async fn what_cannot_be_read_is_set_aside_and_the_rest_goes_on() {
    let whole = {
        let folder = tempfile::tempdir().unwrap();
        let mut store = FileStore::new(folder.path().join("state"));
        store.open().await.unwrap();
        store.publish(&[resting("a", Clock::wall().stamp, 60_000)]).await.unwrap();
        fs::read_to_string(folder.path().join("state")).unwrap()
    };
    for (what, text) in [
        ("torn", whole[..20].to_owned()),
        ("empty", String::new()),
        ("foreign", "PIXIVFE_TOKEN=zq81\n".to_owned()),
        ("newer", whole.replace("\"version\":2", "\"version\":7")),
        ("nonsense", whole.replace("rate_limited", "tired")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        fs::write(&path, &text).unwrap();
        fs::write(folder.path().join("state.key"), "short").unwrap();
        let (pool, link) = linked(FileStore::new(&path), "a");
        reaches(&link, Status::Connected).await;
        rest(&pool, 60);
        link.stop(LONG).await;
        assert_eq!(fs::read_to_string(folder.path().join("state.aside-1")).unwrap(), text, "{what}");
        assert_eq!(fs::read_to_string(folder.path().join("state.key.aside-1")).unwrap(), "short", "{what}");
        assert!(fs::read_to_string(&path).unwrap().contains("rate_limited"), "{what}");
    }
}

/// The length of the rest of `a` that a new store finds.
async fn found(path: &Path) -> Option<i64> {
    let mut store = FileStore::new(path);
    store.open().await.unwrap();
    let known = store.load(&[Place { pool: "tests".into(), id: id("a") }]).await.unwrap();
    let rest = known.first()?.rest?;
    Some(rest.until.since(rest.at))
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_record_that_was_torn_is_cut_away_and_what_follows_is_read() {
    let (folder, path, mut store) = opened().await;
    let at = Clock::wall().stamp;
    store.publish(&[resting("a", at, 60_000)]).await.unwrap();
    let one = fs::read(&path).unwrap();
    store.publish(&[resting("a", at, 70_000)]).await.unwrap();
    let two = fs::read(&path).unwrap();
    assert!(two.starts_with(&one), "it is added to");
    for length in one.len()..two.len() {
        fs::write(&path, &two[..length]).unwrap();
        assert_eq!(found(&path).await, Some(60_000), "the first {length} bytes");
    }
    let mut store = FileStore::new(&path);
    store.open().await.unwrap();
    store.publish(&[resting("a", at, 80_000)]).await.unwrap();
    assert_eq!(found(&path).await, Some(80_000));
    assert_eq!(fs::read(&path).unwrap().len(), two.len(), "what was torn is gone");
    assert_eq!(names_in(folder.path()), ["state"]);
}

#[tokio::test]
async fn of_a_damaged_file_what_can_be_read_is_kept() {
    let (folder, path, mut store) = opened().await;
    let at = Clock::wall().stamp;
    for millis in [60_000, 70_000, 80_000] {
        store.publish(&[resting("a", at, millis)]).await.unwrap();
    }
    let until = |millis| at.plus(millis).0.to_string();
    let damaged = fs::read_to_string(&path).unwrap().replace(&until(80_000), &until(90_000));
    fs::write(&path, &damaged).unwrap();
    assert_eq!(found(&path).await, Some(70_000));
    assert_eq!(names_in(folder.path()), ["state", "state.aside-1"]);
    assert_eq!(fs::read_to_string(folder.path().join("state.aside-1")).unwrap(), damaged);
    assert_eq!(found(&path).await, Some(70_000), "it is on disk again");
    assert_eq!(names_in(folder.path()).len(), 2);
}

#[tokio::test]
async fn a_file_that_has_grown_is_written_anew_while_changes_go_on() {
    let (_folder, path, mut store) = opened().await;
    let at = Clock::wall().stamp;
    for number in 1..=3000 {
        store.publish(&[resting("a", at, number), resting("b", at, number)]).await.unwrap();
    }
    // It may be being written anew at this moment; what is read is whole all the same.
    assert_eq!(found(&path).await, Some(3000));
    until("6000 records of 150 bytes are a few", || fs::metadata(&path).unwrap().len() < 300_000).await;
}

#[tokio::test]
async fn a_file_of_the_first_format_is_read_and_becomes_one_of_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let at = Clock::wall().stamp;
    let (pool, token, until) = ("tests", id("a"), at.plus(60_000).0);
    let rest = format!(
        r#"{{"at":{},"until":{until},"failures":1,"rejections":0,"reason":"rate_limited","unavailable":false}}"#,
        at.0
    );
    let head = format!(r#"{{"format":"tidegate-state","version":1,"written":{},"tokens":["#, at.0);
    let old = format!("{head}\n{{\"pool\":\"{pool}\",\"id\":\"{token}\",\"rest\":{rest}}}\n]}}\n");
    fs::write(&path, &old).unwrap();
    assert_eq!(found(&path).await, Some(60_000));
    assert_eq!(fs::read_to_string(&path).unwrap(), old, "to look changes nothing");
    let mut store = FileStore::new(&path);
    store.open().await.unwrap();
    store.publish(&[resting("b", at, 5)]).await.unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("\"version\":2"));
    assert_eq!(found(&path).await, Some(60_000));
    assert_eq!(names_in(folder.path()), ["state"]);
}

#[tokio::test]
async fn a_file_that_was_taken_away_is_written_whole() {
    let (folder, path, mut store) = opened().await;
    let at = Clock::wall().stamp;
    store.publish(&[resting("a", at, 60_000)]).await.unwrap();
    fs::rename(&path, folder.path().join("elsewhere")).unwrap();
    store.publish(&[resting("b", at, 60_000)]).await.unwrap();
    assert_eq!(found(&path).await, Some(60_000));
}

#[tokio::test]
async fn a_key_of_the_settings_leaves_no_key_file() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool("a");
    let before = pool.snapshot()[0].id;
    let link = Link::start(FileStore::new(folder.path().join("state")), Keys::Given, vec![pool.clone()]);
    reaches(&link, Status::Connected).await;
    rest(&pool, 60);
    link.stop(LONG).await;
    assert!(folder.path().join("state").exists() && !folder.path().join("state.key").exists());
    assert_eq!(pool.snapshot()[0].id, before);
}

#[tokio::test]
async fn two_that_begin_at_once_agree_on_one_key() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = folder.path().join(format!("state{round}"));
        let keys = (0..4).map(|_| {
            let mut store = FileStore::new(&path);
            async move { store.key().await.unwrap().unwrap() }
        });
        let keys: Vec<IdKey> = futures_util::future::join_all(keys).await;
        let ids: Vec<_> = keys.iter().map(|key| key.id(&tidegate_token_manager::Token::new("a"))).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_told_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let (pool, link) = linked(FileStore::new(inside.join("state")), "a b");
    reaches(&link, Status::Connected).await;
    fs::remove_dir_all(&inside).unwrap();
    rest(&pool, 600);
    reaches(&link, Status::Alone).await;
    // Alone, the pool goes on; and what happens meanwhile is written too once that is possible.
    rest(&pool, 600);
    assert!(pool.try_acquire(&[]).is_err());
    assert!(link.counts().failures.load(std::sync::atomic::Ordering::Relaxed) > 0);
    fs::create_dir(&inside).unwrap();
    reaches(&link, Status::Connected).await;
    link.stop(LONG).await;
    assert_eq!(fs::read_to_string(inside.join("state")).unwrap().matches("rate_limited").count(), 2);
}

#[tokio::test]
async fn a_full_disk_is_told_and_leaves_the_old_file_whole() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_small) = SmallDisk::mount(folder.path()) else {
        skipped("no tmpfs can be mounted here");
        return;
    };
    let path = folder.path().join("state");
    let mut store = FileStore::new(&path);
    store.open().await.unwrap();
    let now = Clock::wall().stamp;
    store.publish(&[resting("a", now, 600_000)]).await.unwrap();
    let many: Vec<_> = (0..5000).map(|number| resting(&format!("t{number}"), now, 600_000)).collect();
    let error = store.publish(&many).await.unwrap_err();
    assert!(error.to_string().contains("cannot be written"), "{error}");
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("space"), "{error:?}");
    assert!(store.open().await.is_err(), "what is not on disk yet is tried again");

    let mut other = FileStore::new(&path);
    other.open().await.unwrap();
    let places = [Place { pool: "tests".into(), id: id("a") }];
    assert_eq!(other.load(&places).await.unwrap().len(), 1, "the old state is whole");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
}

#[tokio::test]
async fn a_folder_or_a_device_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), Path::new("/dev/null")] {
        let error = FileStore::new(path).open().await.unwrap_err().to_string();
        assert!(error.contains("folder") || error.contains("regular"), "{error}");
        assert!(path.exists());
    }
    let error = FileStore::new(folder.path().join("no/where")).open().await;
    error.unwrap();
    let mut nowhere = FileStore::new(folder.path().join("no/where"));
    let error = nowhere.publish(&[resting("a", Clock::wall().stamp, 1)]).await.unwrap_err();
    assert!(error.to_string().contains("no/where cannot be written"), "{error}");
}

#[tokio::test]
async fn what_is_long_past_is_forgotten_but_for_bars_of_known_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let day = 24 * 60 * 60 * 1000;
    let now = Clock::wall().stamp;
    let mut store = FileStore::new(folder.path().join("state"));
    store.open().await.unwrap();
    let bar = |name, age: i64| {
        let bar =
            tidegate_token_manager::BarNews { at: now.plus(-age), bar: tidegate_token_manager::Bar::Barred };
        tidegate_token_manager::News {
            bar: Some(bar),
            ..tidegate_token_manager::News::none("tests".into(), id(name))
        }
    };
    let news = [
        resting("old", now.plus(-2 * day), 1000),
        resting("new", now.plus(-2 * day), 2 * day),
        bar("barred", 400 * day),
        bar("barred and gone", 400 * day),
    ];
    store.publish(&news).await.unwrap();
    let place = |name| Place { pool: "tests".into(), id: id(name) };
    let known = store.load(&[place("old"), place("new"), place("barred")]).await.unwrap();
    assert_eq!(known, [news[1].clone(), news[2].clone()]);
    assert!(store.load(&[place("barred and gone")]).await.unwrap().is_empty());
}

fn skipped(why: &str) {
    assert!(option_env!("CI") != Some("true"), "in CI this must run: {why}");
    eprintln!("\n!!! SKIPPED: {why}\n");
}

/// A file system of 64 KiB.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(at).output();
        mount.is_ok_and(|out| out.status.success()).then_some(Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
