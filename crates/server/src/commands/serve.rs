//! `tidegate serve`: the gateway.

use std::path::PathBuf;
use std::process::ExitCode;

use tidegate_config::{Sources, load};

use super::report_faults;
use crate::errors::chain;
use crate::listen::raise_descriptor_limit;
use crate::log::{self, Colours};
use crate::server::Server;
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
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    runtime.block_on(async {
        let signals = match StopSignals::listen() {
            Ok(signals) => signals,
            Err(error) => return fail(&error),
        };
        let load = Box::new(move || load(&Sources::from_process(config.clone())));
        let server = match Server::start(loaded, load).await {
            Ok(server) => server,
            Err(error) => return fail(&error),
        };
        if let Err(error) = reload_on_hangup(server.reloader.clone()) {
            return fail(&error);
        }
        server.serve(signals).await;
        ExitCode::SUCCESS
    })
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    tracing::error!("{}", chain(error));
    ExitCode::FAILURE
}
