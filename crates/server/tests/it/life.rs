//! Starting, reloading and stopping.

use std::process::Stdio;

use crate::client::{get, send};
use crate::gateway::{Gateway, command};
use crate::upstream::{Upstream, reply, status};

#[tokio::test]
async fn a_changed_token_file_is_taken_up_and_states_stay() {
    let upstream = Upstream::start(|call| match call.token() {
        Some("one") => reply(429, &[("retry-after", "600")], ""),
        _ => status(200),
    })
    .await;
    let settings = [("PIXIVFE_TOKEN", ""), ("TIDEGATE_TOKEN_FILE", "tokens")];
    let mut gateway =
        Gateway::start_with(&upstream, &settings, &[("tokens", "first=one\nsecond=two\n")]).await;
    assert_eq!(gateway.get("/x").await.status.as_u16(), 200);
    std::fs::write(gateway.folder().join("tokens"), "third=three\nfirst=one\n").unwrap();
    gateway.logged("reloaded").await;
    let tokens = gateway.tokens().await;
    assert_eq!((&tokens[0]["name"], &tokens[0]["state"]), (&"third".into(), &"ready".into()));
    assert_eq!((&tokens[1]["name"], &tokens[1]["state"]), (&"first".into(), &"cooling".into()));
    gateway.get("/x").await;
    assert_eq!(upstream.tokens(), ["one", "two", "three"]);
}

#[tokio::test]
async fn a_bad_file_leaves_the_old_tokens_and_says_so() {
    let upstream = Upstream::start(|_| status(200)).await;
    let settings = [("PIXIVFE_TOKEN", ""), ("TIDEGATE_TOKEN_FILE", "tokens")];
    let mut gateway = Gateway::start_with(&upstream, &settings, &[("tokens", "one\n")]).await;
    std::fs::write(gateway.folder().join("tokens"), "secret-value wait=3\n").unwrap();
    gateway.signal("HUP");
    gateway.logged("not reloaded").await;
    gateway.get("/x").await;
    assert_eq!(upstream.tokens(), ["one"]);
    let answer = gateway.admin("POST", "/reload").await;
    assert_eq!(answer.status.as_u16(), 422);
    let said = String::from_utf8(answer.body.to_vec()).unwrap() + &gateway.log();
    assert!(said.contains("tokens") && !said.contains("secret-value"), "{said}");
}

#[tokio::test]
async fn a_stop_lets_what_runs_finish() {
    let (asked, mut asks) = tokio::sync::mpsc::unbounded_channel();
    let upstream = Upstream::start(move |_| {
        let _ = asked.send(());
        crate::upstream::late(500, 200, "done")
    })
    .await;
    let mut gateway = Gateway::start(&upstream, &[]).await;
    let address = gateway.address;
    let running = tokio::spawn(async move { send(address, get("/x")).await });
    asks.recv().await.unwrap();
    gateway.signal("TERM");
    assert_eq!(running.await.unwrap().body, "done");
    assert!(gateway.child.wait().await.unwrap().success());
}

#[tokio::test]
async fn the_start_says_what_runs_where_within_which_limits_and_for_whom() {
    let upstream = Upstream::start(|_| status(200)).await;
    for (settings, lines) in [
        (
            &[][..],
            [
                "listening version=",
                " limits open_to=\"anyone on this machine\" max_in_flight=1024 max_connections=16384 request_timeout=30s",
                " operators admin=http://127.0.0.1:",
                " open_to=\"anyone on this machine\"\n",
                " pool pool=\"default\" tokens=2 strategy=\"round-robin\" max_wait=5s",
            ],
        ),
        (
            &[("TIDEGATE_CLIENT_KEYS", "a=k1,b=k2"), ("TIDEGATE_ADMIN_KEY", "k3")],
            [
                &format!(" upstream={} preset=\"generic\"", upstream.url()),
                " limits open_to=\"holders of 2 client keys\"",
                " operators admin=http://127.0.0.1:",
                " open_to=\"holders of the admin key\"\n",
                " drain_delay=0s shutdown_grace=20s",
            ],
        ),
    ] {
        let mut gateway = Gateway::start(&upstream, settings).await;
        gateway.logged(" pool=").await;
        let log = gateway.log();
        for line in lines {
            assert!(log.contains(line), "{line:?} is not in\n{log}");
        }
        assert!(!log.contains('\u{1b}'), "no colours but on a terminal: {log}");
    }
}

#[tokio::test]
async fn machines_read_one_line_a_request() {
    let upstream = Upstream::start(|call| match call.token() {
        Some("tokA") => reply(429, &[("retry-after", "600")], ""),
        _ => status(200),
    })
    .await;
    let mut gateway = Gateway::start(&upstream, &[("TIDEGATE_LOG_FORMAT", "json")]).await;
    gateway.get("/a/b?secret=1").await;
    gateway.logged("\"target\":\"access\"").await;
    let log = gateway.log();
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let access: Vec<_> = lines.iter().filter(|line| line["target"] == "access").collect();
    let [line] = access.as_slice() else { panic!("{log}") };
    for (field, want) in [
        ("method", "GET".into()),
        ("path", "/a/b".into()),
        ("route", "/".into()),
        ("status", serde_json::json!(200)),
        ("bytes", serde_json::json!(2)),
        ("end", "whole".into()),
        ("client", "127.0.0.1".into()),
    ] {
        assert_eq!(line[field], want, "{field}: {line}");
    }
    let tokens = gateway.tokens().await;
    let attempts =
        format!("{}:429 {}:200", tokens[0]["id"].as_str().unwrap(), tokens[1]["id"].as_str().unwrap());
    assert_eq!(line["attempts"], attempts.as_str());
    assert!(
        line["id"].as_str().unwrap().len() == 32
            && line["duration_ms"].is_u64()
            && line["waited_ms"].is_u64()
    );
    assert!(!log.contains("secret") && !log.contains("tokA"), "{log}");
}

#[tokio::test]
async fn a_port_in_use_is_told() {
    let upstream = Upstream::start(|_| status(200)).await;
    let folder = tempfile::tempdir().unwrap();
    let address = upstream.address.to_string();
    let settings = [("TIDEGATE_UPSTREAM", upstream.url()), ("TIDEGATE_LISTEN", address.clone())];
    let fixed = [
        ("TIDEGATE_PRESET", "generic"),
        ("TIDEGATE_CREDENTIAL", "bearer"),
        ("PIXIVFE_TOKEN", "t"),
        ("TIDEGATE_ADMIN", "off"),
    ];
    let out =
        command(folder.path()).envs(settings).envs(fixed).stderr(Stdio::piped()).output().await.unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains(&address) && said.contains("in use"), "{said}");
}

#[tokio::test]
async fn a_rejected_token_of_a_program_is_fetched_again_while_its_request_waits() {
    let upstream = Upstream::start(|call| match call.token() {
        Some("fresh") => status(200),
        _ => status(401),
    })
    .await;
    let settings = [("PIXIVFE_TOKEN", ""), ("TIDEGATE_TOKEN_COMMAND", "cat printed")];
    let gateway = Gateway::start_with(&upstream, &settings, &[("printed", "app=stale\n")]).await;
    std::fs::write(gateway.folder().join("printed"), "app=fresh\n").unwrap();
    assert_eq!(gateway.get("/x").await.status.as_u16(), 200);
    assert_eq!(upstream.tokens(), ["stale", "fresh"]);
    let tokens = gateway.tokens().await;
    assert_eq!((&tokens[0]["name"], &tokens[0]["state"]), (&"app".into(), &"ready".into()));
    assert!(!gateway.log().contains("fresh"), "{}", gateway.log());
}
