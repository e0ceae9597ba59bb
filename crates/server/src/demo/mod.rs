//! `tidegate demo`: the real gateway in front of an upstream of its own that limits three made-up tokens.

mod story;
mod traffic;
mod upstream;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tidegate_config::{Files, Host, Listen, Sources, load};
use tokio::task::JoinSet;

use crate::errors::chain;
use crate::listen::{self, ServeParams, Served};
use crate::server::{Server, Stop};
use crate::signals::StopSignals;
use story::Story;
use traffic::{Caller, Seen};
use upstream::LimitingApi;

/// Whether and when the demo ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// After this long.
    For(Duration),
    /// At Ctrl-C.
    UntilInterrupted,
}

/// Whether the dashboard is shown in the browser of whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Browser {
    Opened,
    Left,
}

/// The tokens' names, which stand in for them in the story.
const NAMES: [&str; 3] = ["anna", "ben", "cleo"];

/// Of the process' settings the demo heeds where to listen and what to log; everything else is its own.
const HEEDED: [&str; 8] = [
    "PIXIVFE_HOST",
    "PIXIVFE_PORT",
    "TIDEGATE_LISTEN",
    "TIDEGATE_ADMIN",
    "TIDEGATE_ADMIN_KEY",
    "TIDEGATE_LOG_FORMAT",
    "TIDEGATE_RETRY_JITTER",
    "NO_COLOR",
];

/// Runs the demo.
///
/// # Errors
///
/// A line that says why it cannot run, such as a port in use.
pub(crate) async fn run(length: Length, browser: Browser, process: &Sources) -> Result<(), String> {
    // Two APIs of one kind: clients of the one go through the gateway, the others call theirs themselves.
    let (api, direct_api) = (LimitingApi::default(), LimitingApi::default());
    let (upstream, _upstream_runs) = serve_api(&api).await?;
    let (direct_upstream, _direct_upstream_runs) = serve_api(&direct_api).await?;

    let sources = sources(process, &upstream);
    let loaded = load(&sources).map_err(|faults| faults.to_string())?;
    let again = sources.clone();
    let server =
        Server::start(loaded, Box::new(move || load(&again))).await.map_err(|error| chain(&error))?;
    let gateway = server.addresses().first().cloned().unwrap_or_default();
    let state = server.state.clone();
    let admin = server.admin_addresses();
    let mut story = Story::begin(&gateway, &admin, &upstream);
    let signals = StopSignals::listen().map_err(|error| chain(&error))?;
    let serving = tokio::spawn(server.serve(EndOfDemo { length, signals }));

    if browser == Browser::Opened {
        story.open(admin.first().map(String::as_str));
    }
    let (seen, direct) = (Arc::new(Seen::default()), Arc::new(Seen::default()));
    let through = traffic::start(&gateway, Caller::OfGateway, &seen).map_err(|error| chain(&error))?;
    let past =
        traffic::start(&direct_upstream, Caller::WithTokens, &direct).map_err(|error| chain(&error))?;
    let served = story.tell_until(serving, &state, &api, &seen).await;
    drop((through, past));
    story.end(&api, &seen, &direct);
    served
}

/// Serves `api` on loopback until the set is dropped; returns its URL.
async fn serve_api(api: &LimitingApi) -> Result<(String, JoinSet<Served>), String> {
    let loopback = Listen::Tcp { host: Host::Ip([127, 0, 0, 1].into()), port: 0 };
    let bound = listen::bind(&loopback).await.map_err(|error| chain(&error))?;
    let url = bound.tcp_addresses().first().map(|address| format!("http://{address}")).unwrap_or_default();
    let mut task = JoinSet::new();
    task.spawn(listen::serve(
        bound,
        api.clone(),
        ServeParams::default(),
        std::future::pending(),
        Duration::ZERO,
    ));
    Ok((url, task))
}

/// The demo's own settings, with what it heeds of the process'.
fn sources(process: &Sources, upstream: &str) -> Sources {
    let mut sources = Sources::default();
    for name in HEEDED {
        if let Some(value) = process.variable(name) {
            sources = sources.with_env(name, value);
        }
    }
    sources.files = Files::Memory([(TOKEN_FILE.into(), tokens().into_bytes())].into());
    sources
        .with_env("TIDEGATE_UPSTREAM", upstream)
        .with_env("TIDEGATE_PRESET", "generic")
        .with_env("TIDEGATE_CREDENTIAL", "cookie:PHPSESSID")
        .with_env("TIDEGATE_TOKEN_FILE", TOKEN_FILE)
        .with_env("TIDEGATE_PROXY", "off")
        // A story of ten seconds: what rests for longer would not come back in it.
        .with_env("PIXIVFE_MAX_BACKOFF_TIME", "4s")
}

/// The token file, which is in no folder.
const TOKEN_FILE: &str = "demo-tokens";

fn tokens() -> String {
    NAMES.iter().map(|name| format!("{name}={}\n", token_of(name))).collect()
}

/// Made up, and good for the demo's own upstream alone.
fn token_of(name: &str) -> String {
    format!("demo-token-of-{name}")
}

/// The demo stops at its end, or when it is told to.
struct EndOfDemo {
    length: Length,
    signals: StopSignals,
}

impl Stop for EndOfDemo {
    async fn next(&mut self) {
        match self.length {
            Length::For(time) => tokio::select! {
                () = tokio::time::sleep(time) => {}
                () = self.signals.next() => {}
            },
            Length::UntilInterrupted => self.signals.next().await,
        }
    }
}

/// A share in whole per cent; of nothing it is 100.
fn percent(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(100)
}

fn count(counter: &std::sync::atomic::AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
