//! What is handed out beside the binary, read by the programs that it is for.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::gateway::Gateway;
use crate::need;
use crate::upstream::{Upstream, reply, status};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs it and wants success.
fn run(command: &mut Command, input: &[u8]) {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let out = child.wait_with_output().unwrap();
    let said = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
    assert!(out.status.success(), "{command:?}: {said}");
}

#[tokio::test]
async fn prometheus_reads_the_metrics() {
    let Some([promtool]) = need::tools("the metrics page read by Prometheus", ["promtool"]) else { return };
    let upstream = Upstream::start(|call| match (call.token(), call.target.as_str()) {
        (Some("tokA"), "/limited") => reply(429, &[], ""),
        (_, "/failing") => status(500),
        _ => status(200),
    })
    .await;
    let gateway = Gateway::start(&upstream, &[("TIDEGATE_CLIENT_KEYS", "web=k-1 rate=10/20")]).await;
    for path in ["/x", "/limited", "/failing", "/a/../b"] {
        let request = crate::client::with(crate::client::get(path), &[("x-api-key", "k-1")]);
        crate::client::send(gateway.address, request).await;
    }
    let page = gateway.admin("GET", "/metrics").await;
    run(Command::new(promtool).args(["check", "metrics"]), &page.body);
}

#[test]
fn prometheus_reads_the_alert_rules_and_they_alert() {
    let Some([promtool]) = need::tools("the alert rules read by Prometheus", ["promtool"]) else { return };
    let folder = root().join("deploy/prometheus");
    run(Command::new(&promtool).current_dir(&folder).args(["check", "rules", "alerts.yml"]), b"");
    run(Command::new(&promtool).current_dir(&folder).args(["test", "rules", "alerts.test.yml"]), b"");
}

/// A rule about a series that the page does not have would never alert.
#[tokio::test]
async fn every_series_of_the_alert_rules_is_on_the_metrics_page() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[]).await;
    let page = String::from_utf8(gateway.admin("GET", "/metrics").await.body.to_vec()).unwrap();
    let rules = std::fs::read_to_string(root().join("deploy/prometheus/alerts.yml")).unwrap();
    let names: Vec<_> = words(&rules).filter(|word| word.starts_with("tidegate_")).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let there = page
            .lines()
            .any(|line| line.starts_with(&format!("{name}{{")) || line.starts_with(&format!("{name} ")));
        assert!(there, "{name} is not in\n{page}");
    }
}

#[test]
fn systemd_reads_the_service_unit() {
    let Some([analyze]) = need::tools("the unit read by systemd", ["systemd-analyze"]) else { return };
    let unit = std::fs::read_to_string(root().join("deploy/systemd/tidegate.service")).unwrap();
    assert!(unit.contains("/usr/local/bin/tidegate"));
    // It wants to find what it is to start.
    let unit = unit.replace("/usr/local/bin/tidegate", env!("CARGO_BIN_EXE_tidegate"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tidegate.service");
    std::fs::write(&path, unit).unwrap();
    run(Command::new(analyze).args(["verify", "--man=no"]).arg(path), b"");
}

#[test]
fn every_setting_that_a_guide_or_a_manifest_names_is_one() {
    let table = tidegate_config::settings_table();
    // Read by the system, the shell and a test, or set by Kubernetes.
    let others = ["TIDEGATE_PORT", "TIDEGATE_SERVICE_HOST"];
    let mut seen = 0;
    for file in files(&root().join("deploy")).into_iter().chain(files(&root().join("docs/guides"))) {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in words(&text).filter(|word| word.starts_with("TIDEGATE_") || word.starts_with("PIXIVFE_"))
        {
            let known = table.contains(&format!("`{word}`")) || others.contains(&word);
            assert!(known, "{}: {word} is no setting", file.display());
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The settings of the guides and the manifests, with everything that they name in place.
#[tokio::test]
async fn the_settings_of_guides_and_manifests_hold() {
    let mut settings = Vec::new();
    for guide in files(&root().join("docs/guides")) {
        let text = std::fs::read_to_string(&guide).unwrap();
        for block in text.split("```toml\n").skip(1) {
            settings.push((guide.clone(), block.split("```").next().unwrap().to_owned()));
        }
    }
    let manifest = root().join("deploy/kubernetes/tidegate.yaml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let (_, block) = text.split_once("tidegate.toml: |\n").unwrap();
    let block = block.lines().take_while(|line| *line != "---").map(str::trim_start);
    settings.push((manifest, block.collect::<Vec<_>>().join("\n")));
    assert!(settings.len() >= 5, "{}", settings.len());
    for (from, toml) in settings {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokens"), "a=one\nb=two\n").unwrap();
        let settled = toml.replace("/secrets/tokens", "tokens");
        std::fs::write(folder.path().join("tidegate.toml"), settled).unwrap();
        let mut command = crate::gateway::command(folder.path());
        command.env("TIDEGATE_ADMIN_KEY", "key").env("TIDEGATE_TOKEN_FILE", "tokens");
        if !toml.contains("client_keys") {
            command.env("TIDEGATE_CLIENT_KEYS", "web=key");
        }
        let out = command.arg("check").output().await.unwrap();
        let said = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
        assert!(out.status.success(), "{}: {said}\n{toml}", from.display());
    }
}

/// A pod that is killed while it still finishes what runs would cut it.
#[test]
fn whoever_stops_the_gateway_waits_for_its_drain_and_grace() {
    let text = std::fs::read_to_string(root().join("deploy/kubernetes/tidegate.yaml")).unwrap();
    let seconds = |key: &str| {
        let (_, rest) = text.split_once(key).unwrap_or_else(|| panic!("no {key}"));
        let digits: String =
            rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap()
    };
    let (drain, grace) = (seconds("drain_delay = "), seconds("shutdown_grace = "));
    assert!(seconds("terminationGracePeriodSeconds: ") > drain + grace, "{drain} + {grace}");
    let unready = seconds("path: /readyz, port: admin}\n            periodSeconds: ");
    assert!(
        unready < drain,
        "the balancer sees within {unready} s that it stops, and requests are taken for {drain}"
    );
}
