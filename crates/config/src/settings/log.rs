/// What is logged, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// The least level that is written.
    pub level: LogLevel,
    /// For people or for machines.
    pub format: LogFormat,
}

/// A level of logging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// What an operator should look at.
    Warn,
    /// What happened: start, stop, reload, requests.
    #[default]
    Info,
    /// Each attempt and each token's change of state.
    Debug,
    /// All there is.
    Trace,
}

impl LogLevel {
    /// The word that the settings use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One line for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}
