//! Names that belong in one place.

use super::Violation;
use super::paths::{Path, paths};
use super::source::Source;

const TRANSPORTS: &[&str] = &["crates/api-client/src/transport/", "crates/api-client/src/error.rs"];

/// A crate or a module that is named in few places, and what is wrong elsewhere.
const MODULES: &[(&str, &[&str], &str)] = &[
    ("reqwest", TRANSPORTS, "belongs in api-client's transport: the layers above work over any service"),
    ("hyper_rustls", TRANSPORTS, "belongs in api-client's transport: the layers above work over any service"),
    (
        "hyper_util::client",
        TRANSPORTS,
        "belongs in api-client's transport: the layers above work over any service",
    ),
    (
        "hyper::client",
        TRANSPORTS,
        "belongs in api-client's transport: the layers above work over any service",
    ),
    ("redis", &["crates/store/src/redis/"], "belongs in the Redis store: a pool knows stores by their trait"),
    ("axum", &["crates/server/src/"], "belongs in the server: the other crates serve nothing"),
    ("dotenvy", &["crates/config/src/"], "belongs in config, which alone reads settings"),
];

/// A function, by its last segments.
const FUNCTIONS: &[(&str, &[&str], &str)] = &[
    ("SystemTime::now", WALL, "the wall clock is read in wall.rs alone, so that tests can hold it"),
    ("Timestamp::now", WALL, "the wall clock is read in wall.rs alone, so that tests can hold it"),
    ("Zoned::now", WALL, "the wall clock is read in wall.rs alone, so that tests can hold it"),
    ("env::var", CONFIG, "the environment is read in config alone"),
    ("env::vars", CONFIG, "the environment is read in config alone"),
    ("env::var_os", CONFIG, "the environment is read in config alone"),
    ("env::vars_os", CONFIG, "the environment is read in config alone"),
    ("env::set_var", &[], "nothing writes the environment"),
    ("env::remove_var", &[], "nothing writes the environment"),
    ("env::*", CONFIG, "the environment is read in config alone"),
];

const WALL: &[&str] = &["crates/token-manager/src/wall.rs"];
const CONFIG: &[&str] = &["crates/config/src/"];

/// The synchronous state machine: `pool.rs`, `pool_*.rs` and the folder `pool`.
const POOL: &str = "crates/token-manager/src/pool";

/// Words that the state machine does without: it takes `now` and entropy as arguments, and its caller holds the lock.
const NOT_IN_POOL: &[&str] = &[
    "async",
    "await",
    "Mutex",
    "RwLock",
    "Condvar",
    "OnceLock",
    "LazyLock",
    "Semaphore",
    "Notify",
    "parking_lot",
    "fastrand",
    "getrandom",
    "rand",
    "sleep",
    "spawn",
];

/// tower's own, which share one generator's state, round seconds off and allow more than their ratio.
const NOWHERE: &[&str] = &["TpsBudget", "ExponentialBackoff", "ExponentialBackoffMaker"];

pub(super) fn check(source: &Source) -> Vec<Violation> {
    let paths = paths(&source.code);
    // Within such a file a bare `Instant` is the one that a paused test clock does not drive.
    let has_std_instant = paths.iter().any(|path| path.is_in("std::time::Instant"));
    let mut found = Vec::new();
    for path in &paths {
        for says in faults(&source.path, path, has_std_instant) {
            found.push(Violation::new(&source.path, path.line, says));
        }
    }
    found
}

fn faults(file: &str, path: &Path, has_std_instant: bool) -> Vec<String> {
    let text = &path.text;
    let mut faults = Vec::new();
    let elsewhere = |places: &[&str]| !places.iter().any(|place| file.starts_with(place));

    for (name, places, why) in MODULES {
        if path.is_in(name) && elsewhere(places) {
            faults.push(format!("`{text}`: `{name}` {why}"));
        }
    }
    for (name, places, why) in FUNCTIONS {
        if path.ends_in(name) && elsewhere(places) {
            faults.push(format!("`{text}`: {why}"));
        }
    }
    if has_std_instant && path.ends_in("Instant::now") && !path.is_in("tokio") && elsewhere(WALL) {
        faults.push(format!("`{text}`: std's clock; tokio's is the one that a paused test clock drives"));
    }
    for word in NOWHERE {
        if path.segments().any(|segment| segment == *word) {
            faults
                .push(format!("`{text}`: tower's `{word}` is not used; tidegate-backoff-core has its like"));
        }
    }
    if file.starts_with(POOL) {
        if path.ends_in("Instant::now") {
            faults.push(format!("`{text}`: the pool's state machine takes `now` as an argument"));
        }
        for word in NOT_IN_POOL {
            if path.segments().any(|segment| segment == *word) {
                faults.push(format!(
                    "`{text}`: the pool's state machine is synchronous, without lock, clock or generator"
                ));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_out_of_its_place_is_told_with_its_line() {
        for (file, code, said) in [
            ("api-client/src/stack.rs", "use reqwest::Client;", "`reqwest` belongs"),
            ("api-client/src/client.rs", "reqwest::Client::new()", "`reqwest` belongs"),
            (
                "server/src/gateway.rs",
                "use hyper_util::{client::legacy, rt};",
                "`hyper_util::client` belongs",
            ),
            ("server/src/gateway.rs", "use hyper_rustls as tls;", "`hyper_rustls` belongs"),
            ("api-client/src/attempts.rs", "use axum::Router;", "`axum` belongs"),
            ("server/src/main.rs", "dotenvy::dotenv()", "`dotenvy` belongs"),
            ("server/src/main.rs", "std::env::var(x)", "environment"),
            ("server/src/main.rs", "use std::env; fn a() { env::vars_os() }", "environment"),
            ("server/src/main.rs", "use std::env::*;", "environment"),
            ("config/src/lib.rs", "std::env::set_var(x, y)", "nothing writes"),
            ("server/src/access_log.rs", "std::time::SystemTime::now()", "wall.rs"),
            ("server/src/access_log.rs", "jiff::Timestamp::now()", "wall.rs"),
            ("server/src/app.rs", "std::time::Instant::now()", "std's clock"),
            (
                "server/src/app.rs",
                "use std::time::{Duration, Instant}; fn a() { Instant::now() }",
                "std's clock",
            ),
            ("token-manager/src/pool.rs", "tokio::time::Instant::now()", "takes `now`"),
            ("token-manager/src/pool/select.rs", "async fn a() {}", "synchronous"),
            ("token-manager/src/pool/select.rs", "x.await", "synchronous"),
            ("token-manager/src/pool_state.rs", "use std::sync::{Arc, Mutex};", "synchronous"),
            ("token-manager/src/pool.rs", "fastrand::u64(..)", "synchronous"),
            ("server/src/app.rs", "use tower::retry::budget::TpsBudget;", "TpsBudget"),
            (
                "api-client/src/policy.rs",
                "tower::retry::backoff::ExponentialBackoffMaker::new()",
                "backoff-core",
            ),
        ] {
            let path = format!("crates/{file}");
            let found = check(&Source::new(&path, &format!("\n{code}")));
            assert_eq!(found.len(), 1, "{file}: {code}: {found:?}");
            assert_eq!((found[0].file.as_str(), found[0].line), (path.as_str(), 2), "{code}");
            assert!(found[0].says.contains(said), "{code}: {}", found[0].says);
        }
    }

    #[test]
    fn a_name_in_its_place_is_fine() {
        for (file, code) in [
            ("api-client/src/transport/reqwest.rs", "use reqwest::Client;"),
            ("api-client/src/error.rs", "reqwest::Error"),
            ("api-client/src/stack.rs", "use crate::transport::reqwest::Transport; fn reqwest() {}"),
            ("api-client/src/stack.rs", "#[cfg(feature = \"reqwest\")] // reqwest::Client\nfn a() {}"),
            ("server/src/listen/tcp.rs", "use hyper_util::{rt::TokioIo, server::conn};"),
            ("server/src/admin.rs", "use axum::Router;"),
            ("config/src/sources.rs", "std::env::vars_os()"),
            ("server/src/cli.rs", "env!(\"CARGO_PKG_VERSION\"); std::env::args()"),
            ("server/src/app.rs", "#[cfg(test)] mod tests { fn a() { std::env::var(x) } }"),
            ("token-manager/src/wall.rs", "std::time::SystemTime::now()"),
            (
                "token-manager/src/manager.rs",
                "use tokio::time::Instant; fn a() { Instant::now() } async fn b() {}",
            ),
            ("token-manager/src/pool.rs", "use tokio::time::Instant; fn lend(now: Instant) {}"),
        ] {
            let found = check(&Source::new(&format!("crates/{file}"), code));
            assert_eq!(found, [], "{file}: {code}");
        }
    }
}
