//! `tidegate demo`: the story that [`crate::demo`] tells.

use std::process::ExitCode;
use std::time::Duration;

use tidegate_config::{Log, LogFormat, LogLevel, Sources};

use crate::demo::{self, Browser, Length};
use crate::log::{self, Colours};

/// 0 when it has been told to its end; 1 and a line when it cannot be, such as for a port in use.
pub(crate) fn run(lasting: Option<Duration>, open: bool) -> ExitCode {
    // The story is told on standard output; of the log only what went wrong.
    let sources = Sources::from_process(None);
    let colours = if sources.no_color() { Colours::Never } else { Colours::Auto };
    log::start(&Log { level: LogLevel::Warn, format: LogFormat::Text }, colours);
    let browser = if open { Browser::Opened } else { Browser::Left };
    let length = lasting.map_or(Length::UntilInterrupted, Length::For);
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(code) => return code,
    };
    match runtime.block_on(demo::run(length, browser, &sources)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => super::fail(&why),
    }
}
