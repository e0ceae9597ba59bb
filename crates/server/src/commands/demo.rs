//! `tidegate demo`: the story that [`crate::demo`] tells.

use std::process::ExitCode;
use std::time::Duration;

use tidegate_config::{Log, LogFormat, LogLevel, Sources};

use crate::demo::{self, Length};
use crate::log::{self, Colours};

/// 0 when it has been told to its end; 1 and a line when it cannot be, such as for a port in use.
pub(crate) fn run(lasting: Option<Duration>) -> ExitCode {
    // The story is told on standard output; of the log only what went wrong.
    log::start(&Log { level: LogLevel::Warn, format: LogFormat::Text }, Colours::Auto);
    let length = lasting.map_or(Length::UntilInterrupted, Length::For);
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(code) => return code,
    };
    match runtime.block_on(demo::run(length, &Sources::from_process(None))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => super::fail(&why),
    }
}
