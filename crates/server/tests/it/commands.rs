//! What operators and containers run beside the gateway.

use std::process::Output;

use crate::gateway::{Gateway, command};
use crate::upstream::{Upstream, reply, status};

async fn run(gateway: &Gateway, settings: &[(&str, &str)], line: &str) -> (Option<i32>, String) {
    let admin = gateway.admin.to_string();
    let mut command = command(gateway.folder());
    command.env("TIDEGATE_ADMIN", admin).envs(settings.iter().copied()).args(line.split(' '));
    let Output { status, stdout, stderr } = command.output().await.unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

async fn named_tokens(upstream: &Upstream, settings: &[(&str, &str)]) -> Gateway {
    let all = [("PIXIVFE_TOKEN", ""), ("TIDEGATE_TOKEN_FILE", "tokens")];
    let all: Vec<_> = all.iter().chain(settings).copied().collect();
    Gateway::start_with(upstream, &all, &[("tokens", "anna=tokA\nben=tokB\n")]).await
}

#[tokio::test]
async fn tokens_are_listed_and_operated() {
    let upstream = Upstream::start(|call| match call.token() {
        Some("tokA") => reply(429, &[("retry-after", "600")], ""),
        _ => status(200),
    })
    .await;
    let gateway = named_tokens(&upstream, &[]).await;
    gateway.get("/x").await;
    let state = async || {
        let tokens = gateway.tokens().await;
        (tokens[0]["state"].as_str().unwrap().to_owned(), tokens[1]["state"].as_str().unwrap().to_owned())
    };
    let both = |anna: &str, ben: &str| (anna.to_owned(), ben.to_owned());
    let (code, list) = run(&gateway, &[], "tokens").await;
    assert!(code == Some(0) && list.contains("anna ") && list.contains("cooling"), "{list}");
    assert!(!list.contains("tokA"), "{list}");
    let (code, json) = run(&gateway, &[], "tokens list --json").await;
    assert_eq!(
        (code, serde_json::from_str::<serde_json::Value>(&json).unwrap()[1]["name"].as_str()),
        (Some(0), Some("ben"))
    );

    let id = gateway.tokens().await[1]["id"].as_str().unwrap().to_owned();
    for (line, said, want) in [
        ("tokens disable ben", "disable: ben\n", both("cooling", "disabled")),
        (&format!("tokens enable {id}"), "enable: ben\n", both("cooling", "ready")),
        ("tokens reset anna", "reset: anna\n", both("ready", "ready")),
        ("tokens disable anna", "disable: anna\n", both("disabled", "ready")),
        ("tokens reset --all", "reset: all 2 tokens\n", both("disabled", "ready")),
    ] {
        assert_eq!(run(&gateway, &[], line).await, (Some(0), said.to_owned()), "{line}");
        assert_eq!(state().await, want, "{line}");
    }
    let (code, said) = run(&gateway, &[], "tokens reset zoe").await;
    assert!(code == Some(1) && said.contains("no token is named \"zoe\""), "{said}");
}

#[tokio::test]
async fn each_way_to_fail_has_its_exit_status() {
    let upstream = Upstream::start(|_| status(200)).await;
    let mut gateway = named_tokens(&upstream, &[("TIDEGATE_ADMIN_KEY", "the-key")]).await;
    for (line, settings, want, said) in [
        ("healthcheck", &[][..], 0, "ok"),
        ("healthcheck --ready", &[], 0, "ready"),
        ("tokens", &[], 1, "wants another key"),
        ("tokens", &[("TIDEGATE_ADMIN_KEY", "the-keys")], 1, "wants another key"),
        ("tokens", &[("TIDEGATE_ADMIN_KEY", "the-key")], 0, "anna"),
        ("tokens", &[("TIDEGATE_ADMIN", "off")], 1, "no admin listener"),
        ("tokens", &[("PIXIVFE_PORT", "x")], 2, "PIXIVFE_PORT"),
        ("tokens burn anna", &[], 2, "burn"),
        ("completions bash", &[], 0, "_tidegate"),
        ("completions zsh", &[], 0, "#compdef tidegate"),
        ("completions fish", &[], 0, "complete -c tidegate"),
    ] {
        let (code, text) = run(&gateway, settings, line).await;
        assert!(code == Some(want) && text.contains(said), "{line} {settings:?}: {code:?} {text}");
    }
    gateway.child.kill().await.unwrap();
    let (code, text) = run(&gateway, &[], "healthcheck").await;
    assert!(code == Some(1) && text.contains("no answer from the admin listener"), "{code:?} {text}");
}

#[tokio::test]
async fn an_admin_socket_is_asked_like_a_port() {
    let upstream = Upstream::start(|_| status(200)).await;
    let mut gateway = named_tokens(&upstream, &[]).await;
    let folder = gateway.folder().to_owned();
    gateway.signal("TERM");
    gateway.child.wait().await.unwrap();
    let socket = [("TIDEGATE_ADMIN", "unix:admin.sock")];
    let upstream_url = upstream.url();
    let serve = [
        ("TIDEGATE_UPSTREAM", upstream_url.as_str()),
        ("TIDEGATE_PRESET", "generic"),
        ("TIDEGATE_CREDENTIAL", "bearer"),
        ("TIDEGATE_TOKEN_FILE", "tokens"),
        ("TIDEGATE_LISTEN", "127.0.0.1:0"),
    ];
    let notify = folder.join("notify");
    let manager = tokio::net::UnixDatagram::bind(&notify).unwrap();
    let mut child = command(&folder)
        .envs(socket)
        .envs(serve)
        .env("NOTIFY_SOCKET", &notify)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let heard = async || {
        let mut buffer = vec![0; 512];
        let length = manager.recv(&mut buffer).await.unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    assert!(heard().await.starts_with("READY=1\nSTATUS=listening at http://127.0.0.1:"));
    let (code, said) = run(&gateway, &socket, "tokens disable ben").await;
    assert_eq!((code, said.as_str()), (Some(0), "disable: ben\n"));
    let id = child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    assert!(heard().await.starts_with("STOPPING=1\n"));
    assert!(child.wait().await.unwrap().success());
}

#[tokio::test]
async fn the_demo_opens_the_dashboard_and_compares_with_none() {
    let folder = tempfile::tempdir().unwrap();
    // Stands in for the browser of a desktop: what counts is what it is asked to open.
    let opener = folder.path().join("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\necho \"$1\" > opened.tmp && mv opened.tmp opened\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&opener, mode).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let settings = [("PIXIVFE_PORT", "0"), ("TIDEGATE_ADMIN", "127.0.0.1:0"), ("PATH", path.as_str())];
    let mut command = command(folder.path());
    let out = command.envs(settings).args(["demo", "--for", "2s", "--open"]).output().await.unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{said}");
    let opened = std::fs::read_to_string(folder.path().join("opened")).unwrap();
    assert!(opened.starts_with("http://127.0.0.1:") && said.contains(opened.trim()), "{opened}: {said}");
    for row in ["with Tidegate", "without it"] {
        let line =
            said.lines().find(|line| line.trim_start().starts_with(row)).unwrap_or_else(|| panic!("{said}"));
        let answers: u64 = line.trim_start()[row.len()..].split_whitespace().next().unwrap().parse().unwrap();
        assert!(answers > 0, "{said}");
    }
}
