//! The log: to standard error, as text or JSON.

use std::io::{IsTerminal as _, stderr};

use tidegate_config::{Log, LogFormat, LogLevel};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

use crate::access_log;

/// Whether colours are wanted (`NO_COLOR` says no).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    /// On a terminal.
    Auto,
    Never,
}

/// Starts the log of this process. A second call changes nothing.
pub(crate) fn start(settings: &Log, colours: Colours) {
    let ansi = colours == Colours::Auto && stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(stderr).with_ansi(ansi);
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match settings.format {
        LogFormat::Text => Box::new(lines),
        LogFormat::Json => Box::new(lines.json().flatten_event(true).with_current_span(false)),
    };
    // It fails only where a log has been started already.
    let _ = tracing_subscriber::registry().with(layer.with_filter(targets(settings.level))).try_init();
}

/// Ours at the level that is set; the crates below at warnings at most, for their finer lines hold header fields.
fn targets(level: LogLevel) -> Targets {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("tidegate", level)
        .with_target(access_log::TARGET, level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn no_other_crate_says_more_than_warnings() {
        for (level, target, asked, enabled) in [
            (LogLevel::Trace, "tidegate::listen", Level::TRACE, true),
            (LogLevel::Trace, "tidegate_token_manager", Level::TRACE, true),
            (LogLevel::Trace, "hyper::proto", Level::DEBUG, false),
            (LogLevel::Trace, "h2", Level::WARN, true),
            (LogLevel::Info, "tidegate", Level::DEBUG, false),
            (LogLevel::Info, "access", Level::INFO, true),
            (LogLevel::Warn, "access", Level::INFO, false),
            (LogLevel::Error, "h2", Level::WARN, false),
            (LogLevel::Off, "tidegate", Level::ERROR, false),
            (LogLevel::Off, "h2", Level::ERROR, false),
        ] {
            assert_eq!(targets(level).would_enable(target, &asked), enabled, "{level:?} {target} {asked}");
        }
    }
}
