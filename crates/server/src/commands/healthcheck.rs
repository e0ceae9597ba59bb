//! `tidegate healthcheck`: what a container's health check runs, where there is no curl.

use std::path::PathBuf;
use std::process::ExitCode;

use super::admin_client::AdminClient;
use super::{fail, report_faults, say};

/// 0 where the gateway is well (or, with `ready`, wants requests); 1 and a line where not; 2 for faulty settings.
pub(crate) fn run(config: Option<PathBuf>, ready: bool) -> ExitCode {
    let client = match AdminClient::new(config) {
        Ok(client) => client,
        Err(faults) => return report_faults(&faults),
    };
    let path = if ready { "/readyz" } else { "/healthz" };
    match client.and_then(|client| client.send("GET", path)) {
        Ok(answer) if answer.status == 200 => {
            say(&answer.body);
            ExitCode::SUCCESS
        }
        Ok(answer) => fail(&format!("{path} answers {}: {}", answer.status, answer.body.trim_end())),
        Err(why) => fail(&why),
    }
}
