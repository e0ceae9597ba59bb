//! `tidegate serve`: the gateway.

use std::path::PathBuf;
use std::process::ExitCode;

use tidegate_config::{Loaded, Sources, load};

use super::{fail, report_faults, runtime};
use crate::errors::chain;
use crate::listen::raise_descriptor_limit;
use crate::log::{self, Colours};
use crate::notify::Notifier;
use crate::server::{Server, Stop};
use crate::signals::{StopSignals, reload_on_hangup};

/// Runs the gateway until it is told to stop. 0: it was; 1: it could not start; 2: the settings have faults.
pub(crate) fn run(config: Option<PathBuf>) -> ExitCode {
    let sources = Sources::from_process(config.clone());
    let loaded = match load(&sources) {
        Ok(loaded) => loaded,
        Err(faults) => return report_faults(&faults),
    };
    let colours = if sources.no_color() { Colours::Never } else { Colours::Auto };
    log::start(&loaded.settings.log, colours);
    for notice in &loaded.notices {
        tracing::warn!("{notice}");
    }
    raise_descriptor_limit();
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(code) => return code,
    };
    let notifier = match Notifier::new(sources.notify_socket()) {
        Ok(notifier) => notifier,
        Err(error) => return fail(&format!("NOTIFY_SOCKET (environment) is no socket: {error}")),
    };
    match runtime.block_on(serve(config, loaded, notifier)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => fail(&why),
    }
}

async fn serve(config: Option<PathBuf>, loaded: Loaded, notifier: Notifier) -> Result<(), String> {
    let signals = StopSignals::listen().map_err(|error| chain(&error))?;
    let load = Box::new(move || load(&Sources::from_process(config.clone())));
    let server = Server::start(loaded, load).await.map_err(|error| chain(&error))?;
    reload_on_hangup(server.reloader.clone()).map_err(|error| chain(&error))?;
    notifier.ready(&server.addresses().join(", "));
    server.serve(Told { signals, notifier }).await;
    Ok(())
}

/// The signals that stop it; the service manager hears of the first one.
struct Told {
    signals: StopSignals,
    notifier: Notifier,
}

impl Stop for Told {
    async fn next(&mut self) {
        self.signals.next().await;
        self.notifier.stopping();
    }
}
