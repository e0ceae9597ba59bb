//! The binary under test: started with the given settings alone, ended when it is dropped.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::client::{self, Answer};
use crate::upstream::Upstream;

pub(crate) struct Gateway {
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) child: Child,
    log: Arc<Mutex<String>>,
    lines: watch::Receiver<usize>,
    folder: tempfile::TempDir,
}

/// The settings that every gateway here has: cookies named PHPSESSID, two tokens, free ports, waits without jitter.
const USUAL: [(&str, &str); 7] = [
    ("TIDEGATE_PRESET", "generic"),
    ("TIDEGATE_CREDENTIAL", "cookie:PHPSESSID"),
    ("PIXIVFE_TOKEN", "tokA,tokB"),
    ("TIDEGATE_LISTEN", "127.0.0.1:0"),
    ("TIDEGATE_ADMIN", "127.0.0.1:0"),
    ("TIDEGATE_RETRY_JITTER", "none"),
    ("PIXIVFE_API_BASE_TIMEOUT", "1ms"),
];

/// A command with nothing of this process' environment.
pub(crate) fn command(folder: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.env_clear().current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    command
}

impl Gateway {
    /// In front of `upstream`; a setting here goes before a usual one, and an empty one takes that away.
    pub(crate) async fn start(upstream: &Upstream, settings: &[(&str, &str)]) -> Self {
        Self::start_with(upstream, settings, &[]).await
    }

    /// The same with files in its folder.
    pub(crate) async fn start_with(
        upstream: &Upstream,
        settings: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let mut command = command(folder.path());
        command.env("TIDEGATE_UPSTREAM", upstream.url()).envs(USUAL).envs(settings.iter().copied());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let (count, mut lines) = watch::channel(0);
        let written = log.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = stderr.next_line().await {
                let mut log = written.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
                drop(log);
                count.send_modify(|count| *count += 1);
            }
        });
        let address = address_after(&log, &mut lines, "gateway").await;
        let admin = address_after(&log, &mut lines, "admin").await;
        Self { address, admin, child, log, lines, folder }
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log holds `text`.
    pub(crate) async fn logged(&mut self, text: &str) {
        while !self.log().contains(text) {
            self.lines
                .changed()
                .await
                .unwrap_or_else(|_| panic!("{text:?} is not in the log:\n{}", self.log()));
        }
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        client::send(self.address, client::get(target)).await
    }

    pub(crate) async fn admin(&self, method: &str, target: &str) -> Answer {
        let mut request = client::request(method, target, "");
        request.headers_mut().insert("host", self.admin.to_string().parse().unwrap());
        client::send(self.admin, request).await
    }

    pub(crate) async fn tokens(&self) -> serde_json::Value {
        self.admin("GET", "/tokens").await.json()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }
}

/// The address that the log tells after `key`.
async fn address_after(log: &Mutex<String>, lines: &mut watch::Receiver<usize>, key: &str) -> SocketAddr {
    loop {
        let said = log.lock().unwrap().clone();
        // As text, and as JSON.
        let begins = [format!(" {key}=http://"), format!("\"{key}\":\"http://")];
        let found = begins.iter().find_map(|begin| said.split_once(begin.as_str()));
        if let Some((_, rest)) = found {
            let text = rest.split(|c: char| c.is_whitespace() || c == '"' || c == ',').next();
            return text.unwrap_or_default().parse().unwrap_or_else(|_| panic!("{said}"));
        }
        lines.changed().await.unwrap_or_else(|_| panic!("the gateway ended: {}", log.lock().unwrap()));
    }
}
