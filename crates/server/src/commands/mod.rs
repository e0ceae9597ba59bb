//! What the command line can do.

mod admin_client;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod healthcheck;
pub(crate) mod schedule;
pub(crate) mod serve;
mod table;
pub(crate) mod tokens;

use std::process::ExitCode;

use tidegate_config::Faults;

/// Tells every fault of the settings; 2.
pub(crate) fn report_faults(faults: &Faults) -> ExitCode {
    #[expect(clippy::print_stderr, reason = "the log is set up by the settings, which do not hold")]
    {
        eprintln!("{faults}");
    }
    ExitCode::from(2)
}

/// Says on standard error why it could not be done; 1.
pub(crate) fn fail(why: &str) -> ExitCode {
    #[expect(clippy::print_stderr, reason = "it must be seen whatever the log's level is")]
    {
        eprintln!("tidegate: {why}");
    }
    ExitCode::FAILURE
}

/// The runtime that everything runs on.
///
/// # Errors
///
/// The exit code, with what there is to say said.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| fail(&format!("no runtime: {error}")))
}

/// Prints to standard output. A reader that has gone, as `head` does, is no fault.
pub(crate) fn say(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
