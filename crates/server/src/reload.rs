//! Reads the settings again, without dropping a request: on SIGHUP, on `POST /reload`, when a token file changes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tidegate_config::{Faults, Loaded, Settings};

use crate::admin::Reloaded;
use crate::gateway::Gateway;
use crate::state::State;

/// How often the token files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A program that prints tokens is not run again sooner.
const PAUSE: Duration = Duration::from_secs(10);

/// Gathers the settings from their sources anew.
pub(crate) type Load = Box<dyn Fn() -> Result<Loaded, Faults> + Send + Sync>;

/// Puts new settings in place, one reload at a time.
pub(crate) struct Reloader {
    state: Arc<State>,
    load: Load,
    turn: Mutex<()>,
    /// The token files as they were when the gateway was built: a change before the watch began counts too.
    first_seen: Vec<Stamp>,
}

impl Reloader {
    pub(crate) fn new(state: Arc<State>, load: Load) -> Self {
        let first_seen = stamps(&state.gateway().settings);
        Self { state, load, turn: Mutex::new(()), first_seen }
    }

    /// Reloads; on any fault the old settings stay, and the faults are logged and returned.
    pub(crate) fn reload(&self) -> Reloaded {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.try_reload();
        match &done {
            Ok(notices) => {
                tracing::info!(notices = notices.len(), "reloaded");
                notices.iter().for_each(|notice| tracing::warn!("{notice}"));
            }
            Err(faults) => {
                tracing::error!(faults = faults.len(), "not reloaded: the old settings stay");
                faults.iter().for_each(|fault| tracing::error!("{fault}"));
            }
        }
        done
    }

    fn try_reload(&self) -> Reloaded {
        let loaded = (self.load)()
            .map_err(|faults| faults.as_slice().iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let old = self.state.gateway();
        let mut notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
        notices.extend(needs_restart(&old.settings, &loaded.settings));
        let new = old.reloaded(loaded.settings).map_err(|error| vec![crate::errors::chain(&error)])?;
        self.state.replace(new);
        Ok(notices)
    }

    /// Reloads whenever the tokens of a program are due; never ends.
    pub(crate) async fn refresh_tokens(self: Arc<Self>) {
        loop {
            let gateway = self.state.gateway();
            let changed = async {
                // Another reload may have brought other pools or another time.
                while Arc::ptr_eq(&gateway, &self.state.gateway()) {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            };
            tokio::select! {
                () = changed => continue,
                () = tokens_are_due(&gateway) => {}
            }
            let reloader = Arc::clone(&self);
            // A program takes its time, and requests go on meanwhile.
            let _ = tokio::task::spawn_blocking(move || reloader.reload()).await;
            // However many tokens are rejected meanwhile.
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Reloads whenever a token file has changed; never ends.
    pub(crate) async fn watch_token_files(&self) {
        let mut seen = self.first_seen.clone();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = stamps(&self.state.gateway().settings);
            if now != seen {
                tracing::info!("a token file has changed");
                let _ = self.reload();
            }
            // What was seen before the reload: a file that changes while it is read is looked at again.
            seen = now;
        }
    }
}

/// Ends when the tokens of a program are to be fetched again: the shortest `token.refresh` has passed, or one of them
/// was rejected. Without such pools it never ends.
async fn tokens_are_due(gateway: &Gateway) {
    let settings = &gateway.settings;
    let pools: Vec<_> = settings.pools_in_use().filter(|pool| pool.command.is_some()).collect();
    let refresh = pools.iter().map(|pool| pool.refresh).filter(|refresh| !refresh.is_zero()).min();
    let refreshed = async {
        match refresh {
            Some(refresh) => tokio::time::sleep(refresh).await,
            None => std::future::pending().await,
        }
    };
    let managers =
        gateway.pools.iter().filter(|manager| pools.iter().any(|pool| pool.name == manager.name()));
    let mut rejections: Vec<_> = managers.map(|manager| Box::pin(manager.rejection())).collect();
    let rejected = std::future::poll_fn(|cx| {
        let any = rejections.iter_mut().any(|rejection| rejection.as_mut().poll(cx).is_ready());
        if any { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    });
    tokio::select! {
        () = refreshed => tracing::debug!("token.refresh has passed"),
        () = rejected => tracing::info!("a token of a program was rejected"),
    }
}

type Stamp = (PathBuf, Option<(SystemTime, u64)>);

/// When each token file was last written, and its length; nothing for one that is not there.
fn stamps(settings: &Settings) -> Vec<Stamp> {
    let files = settings.pools.iter().filter_map(|pool| pool.file.clone());
    files
        .map(|file| {
            let stamp = std::fs::metadata(&file).ok();
            let stamp = stamp.and_then(|data| Some((data.modified().ok()?, data.len())));
            (file, stamp)
        })
        .collect()
}

/// What changed but holds only from the next start on.
fn needs_restart(old: &Settings, new: &Settings) -> Vec<String> {
    let server = |settings: &Settings| {
        let server = &settings.server;
        (server.listen.clone(), server.max_connections, server.max_in_flight, server.body_idle_timeout)
    };
    let rows = [
        ("server.listen, max_connections, max_in_flight or body_idle_timeout", server(old) != server(new)),
        ("admin", old.admin != new.admin),
        ("log", old.log != new.log),
        ("store", old.store != new.store),
    ];
    let changed = rows.into_iter().filter(|(_, changed)| *changed);
    changed.map(|(what, _)| format!("{what} has changed: that holds from the next start on")).collect()
}
