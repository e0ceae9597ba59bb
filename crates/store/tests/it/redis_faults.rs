//! A Redis that refuses, that is another than was meant, or that holds something else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tidegate_store::Status;
use tidegate_token_manager::{Outcome, Place, State, Store};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::redis::store;
use crate::redis_server::RedisServer;
use crate::support::{LONG, id, linked, reaches, rest, rest_for, resting, states, until};

/// What is said of a store that cannot be opened, with its causes.
async fn refusal(url: &str) -> String {
    let error = store(url).open().await.expect_err("it cannot be opened");
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn a_password_is_needed_and_is_never_said() {
    let Some(server) = RedisServer::start(&["--requirepass", "zq81right"]) else { return };
    let port = server.port;
    for (url, says) in [
        (format!("redis://127.0.0.1:{port}"), "NOAUTH"),
        (format!("redis://:zq81wrong@127.0.0.1:{port}"), "uthentication"),
        (format!("redis://nobody:zq81right@127.0.0.1:{port}"), "uthentication"),
    ] {
        let said = refusal(&url).await;
        assert!(said.contains(says) && said.contains(&port.to_string()), "{said}");
        assert!(!said.contains("zq81"), "{said}");
    }
    store(&format!("redis://default:zq81right@127.0.0.1:{port}")).open().await.unwrap();
}

#[tokio::test]
async fn a_user_who_may_not_write_is_told_so() {
    let acl = ["--user", "reader", "on", ">zq81pass", "~*", "&*", "+@all", "-@write"];
    let Some(server) = RedisServer::start(&acl) else { return };
    let said = refusal(&format!("redis://reader:zq81pass@127.0.0.1:{}", server.port)).await;
    assert!(said.contains("NOPERM") || said.contains("permission"), "{said}");
}

#[tokio::test]
async fn what_goes_wrong_in_the_script_is_told_in_the_servers_words() {
    let acl = ["--user", "half", "on", ">zq81pass", "~*", "&*", "+@all", "-get"];
    let Some(server) = RedisServer::start(&acl) else { return };
    let mut store = store(&format!("redis://half:zq81pass@127.0.0.1:{}", server.port));
    store.open().await.unwrap();
    let error = store.publish(&[resting("a", store.clock().stamp, 60_000)]).await.unwrap_err();
    let said = format!("{error}: {}", std::error::Error::source(&error).unwrap());
    assert!(said.contains("run this command") || said.contains("permission"), "{said}");
    assert!(!said.contains("zq81"), "{said}");
}

#[tokio::test]
async fn a_replica_of_redis_that_takes_no_writes_is_told() {
    let Some(primary) = RedisServer::start(&[]) else { return };
    let port = primary.port.to_string();
    let Some(replica) = RedisServer::start(&["--replicaof", "127.0.0.1", &port]) else { return };
    let said = refusal(&replica.url()).await;
    assert!(
        said.to_lowercase().replace('-', "").contains("readonly") || said.contains("read only"),
        "{said}"
    );
}

#[tokio::test]
async fn what_is_not_there_or_is_no_redis_is_told() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = gone.local_addr().unwrap().port();
    // It listens and never answers.
    let said = refusal(&format!("redis://127.0.0.1:{port}")).await;
    assert!(said.contains("does not answer") || said.contains("timed out"), "{said}");
    // A port that is taken, and on which nobody listens.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let said = refusal(&format!("redis://{}", taken.local_addr().unwrap())).await;
    assert!(said.contains("refused"), "{said}");
    let said = refusal("unix:///nowhere/redis.sock").await;
    assert!(said.contains("/nowhere/redis.sock"), "{said}");
}

#[tokio::test]
async fn a_unix_socket_does_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("redis.sock").display().to_string();
    let Some(_server) = RedisServer::start(&["--unixsocket", &socket]) else { return };
    let url = format!("unix://{socket}?db=2");
    let (one, link1) = linked(store(&url), "a");
    let (two, link2) = linked(store(&url), "a");
    reaches(&link1, Status::Connected).await;
    reaches(&link2, Status::Connected).await;
    rest(&one, 600);
    until("the rest is heard", || states(&two) == [State::Cooling]).await;
}

#[tokio::test]
async fn a_certificate_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (cert, key) = (cert.display().to_string(), key.display().to_string());
    let tls = port.to_string();
    let arguments =
        ["--tls-port", &tls, "--tls-cert-file", &cert, "--tls-key-file", &key, "--tls-auth-clients", "no"];
    let Some(_server) = RedisServer::start(&arguments) else { return };
    store(&format!("rediss://localhost:{port}?ca={cert}")).open().await.unwrap();
    let said = refusal(&format!("rediss://localhost:{port}")).await;
    assert!(said.to_lowercase().contains("certificate"), "{said}");
    let said = refusal(&format!("rediss://127.0.0.1:{port}?ca={cert}")).await;
    assert!(said.to_lowercase().contains("certificate"), "{said}");
    let said = refusal(&format!("rediss://localhost:{port}?ca=/nowhere.pem")).await;
    assert!(said.contains("/nowhere.pem"), "{said}");
}

#[tokio::test]
async fn a_key_that_holds_something_else_is_left_alone_and_the_others_are_shared() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, link1) = linked(store(&server.url()), "a b c d");
    let (two, link2) = linked(store(&server.url()), "a b c d");
    reaches(&link1, Status::Connected).await;
    reaches(&link2, Status::Connected).await;
    let keys: Vec<String> =
        one.snapshot().iter().map(|status| format!("tidegate:token:tests:{}", status.id)).collect();
    server.cli(&["lpush", &keys[0], "x"]);
    server.cli(&["set", &keys[1], "somebody else's"]);
    server.cli(&["set", &keys[2], "2 of a version to come"]);
    for outcome in [Outcome::Limited, Outcome::Limited, Outcome::Rejected, Outcome::Rejected] {
        rest_for(outcome, &one, 600);
    }
    until("the last token's rest is heard", || states(&two)[3] == State::Cooling).await;
    assert_eq!(states(&two)[..3], [State::Ready; 3]);
    assert_eq!(server.cli(&["type", &keys[0]]), "list");
    assert_eq!(server.cli(&["get", &keys[1]]), "somebody else's");
    assert_eq!(server.cli(&["get", &keys[2]]), "2 of a version to come");
    assert_eq!((link1.status(), states(&one)), (Status::Connected, vec![State::Cooling; 4]));
    // And who reads them knows nothing of those tokens.
    let (late, link3) = linked(store(&server.url()), "a b c d");
    reaches(&link3, Status::Connected).await;
    assert_eq!(states(&late)[1..], [State::Ready, State::Ready, State::Cooling]);
    for link in [link1, link2, link3] {
        link.stop(LONG).await;
    }
}

#[tokio::test]
async fn a_key_of_ids_that_is_none_is_told() {
    let Some(server) = RedisServer::start(&[]) else { return };
    server.cli(&["set", "tidegate:key", "hello"]);
    let mut store = store(&server.url());
    store.open().await.unwrap();
    let error = store.key().await.unwrap_err().to_string();
    assert!(error.contains("tidegate:key") && error.contains("delete it"), "{error}");
}

#[tokio::test]
async fn a_script_that_was_flushed_is_loaded_again() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, link1) = linked(store(&server.url()), "a b");
    let (two, link2) = linked(store(&server.url()), "a b");
    reaches(&link1, Status::Connected).await;
    reaches(&link2, Status::Connected).await;
    server.cli(&["script", "flush"]);
    rest(&one, 600);
    until("the rest is heard", || states(&two) == [State::Cooling, State::Ready]).await;
}

#[tokio::test]
async fn a_connection_that_is_closed_is_opened_again() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (one, link1) = linked(store(&server.url()), "a b");
    let (two, link2) = linked(store(&server.url()), "a b");
    reaches(&link1, Status::Connected).await;
    reaches(&link2, Status::Connected).await;
    let listeners = server.cli(&["client", "list", "type", "pubsub"]);
    assert_eq!(listeners.lines().count(), 2, "{listeners}");
    server.cli(&["client", "kill", "type", "pubsub"]);
    rest(&one, 600);
    until("the rest is heard", || states(&two) == [State::Cooling, State::Ready]).await;
}

#[tokio::test]
async fn a_connection_that_hears_nothing_any_more_is_noticed() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let between = Between::start(server.port).await;
    let (one, _link1) = linked(store(&server.url()), "a");
    let (two, link2) = linked(store(&format!("redis://127.0.0.1:{}", between.port)), "a");
    reaches(&link2, Status::Connected).await;
    between.set_deaf(true);
    reaches(&link2, Status::Alone).await;
    rest(&one, 600);
    between.set_deaf(false);
    until("what was missed is read", || states(&two) == [State::Cooling]).await;
}

/// Something between a replica and its server that can drop, without a word, all that is told to who listens.
struct Between {
    port: u16,
    deaf: Arc<AtomicBool>,
}

impl Between {
    async fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let deaf = Arc::new(AtomicBool::new(false));
        let is_deaf = Arc::clone(&deaf);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                tokio::spawn(carry(client, server, Arc::clone(&is_deaf)));
            }
        });
        Self { port, deaf }
    }

    fn set_deaf(&self, deaf: bool) {
        self.deaf.store(deaf, Relaxed);
    }
}

async fn carry(client: TcpStream, server: TcpStream, is_deaf: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let listens = AtomicBool::new(false);
    let up = async {
        let mut bytes = vec![0; 65536];
        while let Ok(length @ 1..) = from_client.read(&mut bytes).await {
            if bytes[..length].windows(9).any(|word| word.eq_ignore_ascii_case(b"subscribe")) {
                listens.store(true, Relaxed);
            }
            if to_server.write_all(&bytes[..length]).await.is_err() {
                return;
            }
        }
    };
    let down = async {
        let mut bytes = vec![0; 65536];
        while let Ok(length @ 1..) = from_server.read(&mut bytes).await {
            let dropped = listens.load(Relaxed) && is_deaf.load(Relaxed);
            if !dropped && to_client.write_all(&bytes[..length]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}

#[tokio::test]
async fn a_server_without_room_is_told_and_used_again_when_it_has_some() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let mut store = store(&server.url());
    store.open().await.unwrap();
    server.cli(&["config", "set", "maxmemory", "1"]);
    let news = resting("a", store.clock().stamp, 60_000);
    let error = store.publish(std::slice::from_ref(&news)).await.unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("OOM"), "{error:?}");
    assert!(store.open().await.is_err(), "no room for a sign of life either");
    server.cli(&["config", "set", "maxmemory", "0"]);
    store.open().await.unwrap();
    store.publish(&[news]).await.unwrap();
    let places = [Place { pool: "tests".into(), id: id("a") }];
    assert_eq!(store.load(&places).await.unwrap().len(), 1);
}
