//! Reads the settings again, without dropping a request: on SIGHUP, on `POST /reload`, when a token file changes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tidegate_config::{Faults, Loaded, Settings};

use crate::admin::Reloaded;
use crate::state::State;

/// How often the token files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

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
