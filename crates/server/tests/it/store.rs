//! State that outlives the process, and replicas that share it.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::time::Instant;

use crate::gateway::Gateway;
use crate::redis_server::RedisServer;
use crate::upstream::{Upstream, reply, status};

/// Far beyond what anything here takes; a test that hits it has failed.
const LONG: Duration = Duration::from_secs(20);

/// Refuses the token `tokA` for ten minutes.
async fn upstream() -> Upstream {
    Upstream::start(|call| match call.token() {
        Some("tokA") => reply(429, &[("retry-after", "600")], ""),
        _ => status(200),
    })
    .await
}

async fn states(gateway: &Gateway) -> Vec<String> {
    let tokens = gateway.tokens().await;
    tokens.as_array().unwrap().iter().map(|token| token["state"].as_str().unwrap().to_owned()).collect()
}

/// Looks until the tokens stand so; how long that took.
async fn until(gateway: &Gateway, wanted: [&str; 2]) -> Duration {
    let begun = Instant::now();
    let looking = async {
        while states(gateway).await != wanted {
            tokio::task::yield_now().await;
        }
    };
    if tokio::time::timeout(LONG, looking).await.is_err() {
        panic!("never {wanted:?} but {:?}:\n{}", states(gateway).await, gateway.log());
    }
    begun.elapsed()
}

/// A port that is taken, and on which nobody listens.
fn nobody() -> (tokio::net::TcpSocket, std::net::SocketAddr) {
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = taken.local_addr().unwrap();
    (taken, address)
}

async fn metric(gateway: &Gateway, name: &str) -> Option<String> {
    let page = String::from_utf8(gateway.admin("GET", "/metrics").await.body.to_vec()).unwrap();
    page.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
}

#[tokio::test]
async fn a_gateway_that_was_killed_knows_its_cool_downs() {
    let upstream = upstream().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let url = format!("file:{}", path.display());
    let settings = [("TIDEGATE_STORE", url.as_str())];
    let mut gateway = Gateway::start(&upstream, &settings).await;
    assert_eq!(gateway.get("/x").await.status.as_u16(), 200);
    let second = gateway.tokens().await[1]["id"].as_str().unwrap().to_owned();
    assert_eq!(gateway.admin("POST", &format!("/tokens/{second}/disable")).await.status.as_u16(), 204);
    let written = || std::fs::read_to_string(&path).is_ok_and(|text| text.contains("\"yes\":true"));
    while !written() {
        tokio::task::yield_now().await;
    }
    gateway.signal("KILL");
    gateway.child.wait().await.unwrap();

    let gateway = Gateway::start(&upstream, &settings).await;
    assert_eq!(states(&gateway).await, ["cooling", "disabled"]);
    assert_eq!(gateway.tokens().await[1]["id"], second.as_str());
    assert_eq!(gateway.get("/x").await.status.as_u16(), 503);
    assert_eq!(upstream.tokens(), ["tokA", "tokB"], "no token was tried again");
    assert_eq!(metric(&gateway, "tidegate_store_connected").await.as_deref(), Some("1"));
    let text = std::fs::read_to_string(&path).unwrap() + &gateway.log();
    assert!(!text.contains("tokA"), "{text}");
}

#[tokio::test]
async fn a_gateway_that_was_killed_goes_on_at_the_pace_it_had_learned() {
    let calls = AtomicUsize::new(0);
    let upstream = Upstream::start(move |_| match calls.fetch_add(1, Relaxed) % 20 {
        19 => status(429),
        _ => status(200),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let url = format!("file:{}", path.display());
    let settings =
        [("TIDEGATE_STORE", url.as_str()), ("PIXIVFE_TOKEN", "tokA"), ("PIXIVFE_BASE_TIMEOUT", "1ms")];
    let mut gateway = Gateway::start(&upstream, &settings).await;
    let record = || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let line = text.lines().rfind(|line| line.contains("\"limit\""))?;
        serde_json::from_str::<serde_json::Value>(line.split_once(' ')?.1).ok()
    };
    let learning = async {
        loop {
            match record() {
                Some(record) => break record,
                None => drop(gateway.get("/x").await),
            }
        }
    };
    let record = tokio::time::timeout(LONG, learning).await.expect("a pace is in the file");
    gateway.signal("KILL");
    gateway.child.wait().await.unwrap();

    // The same as if it had learned a pace of one call in a minute, so that nobody has to be quick.
    let (mut token, mut learned) = (serde_json::json!({}), record["learned"].clone());
    learned["limit"]["interval"] = 60_000_000_000_u64.into();
    for (name, value) in [("pool", &record["pool"]), ("id", &record["id"]), ("learned", &learned)] {
        token[name] = value.clone();
    }
    let state = serde_json::json!({ "format": "tidegate-state", "version": 1, "tokens": [token] });
    std::fs::write(&path, state.to_string()).unwrap();
    let calls = upstream.tokens().len();
    let gateway =
        Gateway::start(&upstream, &[&settings[..], &[("TIDEGATE_WHEN_EXHAUSTED", "fail")]].concat()).await;
    assert_eq!(states(&gateway).await, ["ready"]);
    let answer = gateway.get("/x").await;
    assert_eq!((answer.status.as_u16(), upstream.tokens().len()), (503, calls), "{}", gateway.log());
    assert_eq!(gateway.admin("POST", "/tokens/reset").await.status.as_u16(), 204);
    gateway.get("/x").await;
    assert_eq!(upstream.tokens().len(), calls + 1, "it is forgotten with a reset");
}

#[tokio::test]
async fn a_store_that_cannot_be_used_is_told_and_traffic_goes_on() {
    let upstream = upstream().await;
    let folder = tempfile::tempdir().unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (_taken, nobody) = nobody();
    for (url, says) in [
        (format!("file:{}", folder.path().display()), "is a folder"),
        (format!("file:{}/no/where", folder.path().display()), "no/where.key cannot be made"),
        (format!("redis://:zq81@{nobody}"), "refused"),
        (format!("redis://:zq81@{}", silent.local_addr().unwrap()), "does not answer"),
    ] {
        let mut gateway = Gateway::start(&upstream, &[("TIDEGATE_STORE", &url)]).await;
        assert_eq!(gateway.get("/x").await.status.as_u16(), 200, "{url}");
        gateway.logged("going on alone").await;
        assert!(gateway.log().contains(says), "{url}: {}", gateway.log());
        assert!(!gateway.log().contains("zq81"), "{}", gateway.log());
        assert_eq!(gateway.admin("GET", "/readyz").await.status.as_u16(), 200, "{url}");
        assert_eq!(metric(&gateway, "tidegate_store_connected").await.as_deref(), Some("0"), "{url}");
        // Tried again and again, and told once.
        while metric(&gateway, "tidegate_store_failures_total").await.unwrap().parse::<u32>().unwrap() < 3 {
            tokio::task::yield_now().await;
        }
        assert_eq!(gateway.log().matches("going on alone").count(), 1, "{}", gateway.log());
    }
}

#[tokio::test]
async fn a_gateway_is_ready_once_the_store_was_read_or_has_failed() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let upstream = upstream().await;
    server.freeze();
    let mut gateway = Gateway::start(&upstream, &[("TIDEGATE_STORE", &server.url())]).await;
    let starting = gateway.admin("GET", "/readyz").await;
    assert_eq!((starting.status.as_u16(), &starting.body[..]), (503, &b"starting\n"[..]));
    assert_eq!(gateway.get("/x").await.status.as_u16(), 200, "it serves all the same");
    gateway.logged("going on alone").await;
    assert_eq!(gateway.admin("GET", "/readyz").await.status.as_u16(), 200);
    server.thaw();
    gateway.logged("the store is read").await;
}

#[tokio::test]
async fn replicas_share_what_they_learn() {
    let Some(mut server) = RedisServer::start(&[]) else { return };
    let upstream = upstream().await;
    let url = server.url();
    let settings = [("TIDEGATE_STORE", url.as_str())];
    let mut one = Gateway::start(&upstream, &settings).await;
    let mut two = Gateway::start(&upstream, &settings).await;
    assert_eq!(one.get("/x").await.status.as_u16(), 200);
    let took = until(&two, ["cooling", "ready"]).await;
    assert!(took < Duration::from_secs(1), "{took:?}");
    for _ in 0..20 {
        assert_eq!(two.get("/x").await.status.as_u16(), 200);
    }
    assert_eq!(upstream.tokens().iter().filter(|token| *token == "tokA").count(), 1, "asked once in all");
    assert_eq!(one.tokens().await[0]["id"], two.tokens().await[0]["id"]);

    // An operator at either is obeyed by both.
    assert_eq!(two.admin("POST", "/tokens/reset").await.status.as_u16(), 204);
    until(&one, ["ready", "ready"]).await;
    let id = one.tokens().await[1]["id"].as_str().unwrap().to_owned();
    one.admin("POST", &format!("/tokens/{id}/disable")).await;
    until(&two, ["ready", "disabled"]).await;

    // Without Redis each goes on alone; with it, they agree again.
    server.kill();
    one.logged("going on alone").await;
    two.logged("going on alone").await;
    assert_eq!(one.get("/x").await.status.as_u16(), 429, "its only token is refused");
    assert_eq!(states(&one).await, ["cooling", "disabled"]);
    two.admin("POST", &format!("/tokens/{id}/enable")).await;
    assert_eq!(states(&two).await, ["ready", "ready"]);
    server.start_again();
    until(&two, ["cooling", "ready"]).await;
    until(&one, ["cooling", "ready"]).await;

    // A third finds all that there.
    let three = Gateway::start(&upstream, &settings).await;
    assert_eq!(states(&three).await, ["cooling", "ready"]);
    for gateway in [&mut one, &mut two] {
        gateway.signal("TERM");
        assert!(gateway.child.wait().await.unwrap().success());
    }
}

#[tokio::test]
async fn a_frozen_store_fails_no_request() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let upstream = upstream().await;
    let url = server.url();
    let settings = [("TIDEGATE_STORE", url.as_str())];
    let one = Gateway::start(&upstream, &settings).await;
    let two = Gateway::start(&upstream, &settings).await;
    server.freeze();
    for round in 0..300 {
        assert_eq!(one.get("/x").await.status.as_u16(), 200, "{round}");
        if round % 10 == 0 {
            assert_eq!(one.admin("POST", "/tokens/reset").await.status.as_u16(), 204);
        }
    }
    assert_eq!(one.get("/x").await.status.as_u16(), 200);
    assert_eq!(states(&one).await, ["cooling", "ready"]);
    assert_eq!(states(&two).await, ["ready", "ready"]);
    server.thaw();
    until(&two, ["cooling", "ready"]).await;
}

#[tokio::test]
async fn a_key_of_the_settings_is_the_key_of_all() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let upstream = upstream().await;
    let url = server.url();
    let settings = [("TIDEGATE_STORE", url.as_str()), ("TIDEGATE_STORE_KEY", "zq85store")];
    let one = Gateway::start(&upstream, &settings).await;
    let alone = Gateway::start(&upstream, &settings[1..]).await;
    assert_eq!(one.tokens().await[0]["id"], alone.tokens().await[0]["id"]);
    let keys = server.cli(&["keys", "*"]);
    assert!(keys.contains("tidegate:replica:") && !keys.contains("tidegate:key"), "{keys}");
}

#[tokio::test]
async fn a_limit_shared_by_replicas_holds_without_the_store() {
    let upstream = Upstream::start(|_| status(200)).await;
    let (_taken, nobody) = nobody();
    let url = format!("redis://{nobody}");
    let settings = [
        ("TIDEGATE_STORE", url.as_str()),
        ("TIDEGATE_REPLICAS", "3"),
        ("TIDEGATE_TOKEN_LIMIT", "6/10m"),
        ("TIDEGATE_WHEN_EXHAUSTED", "fail"),
        ("PIXIVFE_TOKEN", "tokA"),
    ];
    for _ in 0..3 {
        let replica = Gateway::start(&upstream, &settings).await;
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(replica.get("/x").await.status.as_u16());
        }
        assert_eq!(statuses, [200, 200, 503, 503]);
    }
    assert_eq!(upstream.calls().len(), 6);
}

/// What `docs/state.md` says, measured. Run alone, in release.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "figures for docs/state.md: half a minute"]
async fn figures() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let upstream = upstream().await;
    let url = server.url();
    let settings = [("TIDEGATE_STORE", url.as_str())];
    let (one, two) = (Gateway::start(&upstream, &settings).await, Gateway::start(&upstream, &settings).await);
    let mut benched = Vec::new();
    for _ in 0..200 {
        one.admin("POST", "/tokens/reset").await;
        until(&two, ["ready", "ready"]).await;
        while states(&one).await != ["cooling", "ready"] {
            one.get("/x").await;
        }
        benched.push(until(&two, ["cooling", "ready"]).await);
    }
    println!("a bench seen at the other replica after its answer: {}", quantiles(&mut benched));

    let mut before = load(&one, Duration::from_secs(5)).await;
    server.freeze();
    let mut frozen = load(&one, Duration::from_secs(10)).await;
    one.admin("POST", "/tokens/reset").await;
    let begun = Instant::now();
    server.thaw();
    until(&two, ["ready", "ready"]).await;
    println!("a request while the store answers: {}", quantiles(&mut before));
    println!("a request while it is frozen for 10 s: {}", quantiles(&mut frozen));
    println!("both agree {:?} after it goes on", begun.elapsed());
}

/// Requests one after the other, each of which must succeed, with a reset (and so a refusal) after every tenth.
async fn load(gateway: &Gateway, lasting: Duration) -> Vec<Duration> {
    let begun = Instant::now();
    let mut took = Vec::new();
    while begun.elapsed() < lasting {
        let asked = Instant::now();
        assert_eq!(gateway.get("/x").await.status.as_u16(), 200);
        took.push(asked.elapsed());
        if took.len() % 10 == 0 {
            gateway.admin("POST", "/tokens/reset").await;
        }
    }
    took
}

fn quantiles(took: &mut [Duration]) -> String {
    took.sort();
    let at = |share: usize| took[(took.len() * share / 1000).min(took.len() - 1)];
    format!("n {}, p50 {:?}, p99 {:?}, p99.9 {:?}, max {:?}", took.len(), at(500), at(990), at(999), at(1000))
}
