//! What is wrong with the settings, all of it at once.

use std::{fmt, path::PathBuf};

use crate::preset::Preset;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Nobody set it.
    Default,
    /// The preset set it.
    Preset(Preset),
    /// A TOML file, by its path and the line.
    File(PathBuf, usize),
    /// The `.env` file, by its path and the line.
    DotEnv(PathBuf, usize),
    /// The process's environment.
    Environment,
    /// A token file, by its path and the line.
    TokenFile(PathBuf, usize),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(preset) => write!(f, "preset {}", preset.as_str()),
            // Line 0 is the file as a whole: one that cannot be read has no lines.
            Self::File(path, 0) | Self::DotEnv(path, 0) | Self::TokenFile(path, 0) => {
                write!(f, "{}", path.display())
            }
            Self::File(path, line) | Self::DotEnv(path, line) | Self::TokenFile(path, line) => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Environment => f.write_str("environment"),
        }
    }
}

/// One thing that is wrong: `NAME (source): what; how to mend`.
///
/// It holds the faulty value where that helps, and never a secret's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} ({source_shown}): {what}; {mend}", source_shown = Shown(.at))]
pub struct Fault {
    /// The name as it was written: a variable's, or a TOML path.
    pub name: String,
    /// Where it was written; `None` where it is missing.
    pub at: Option<Source>,
    /// What is wrong, with the value if it is no secret.
    pub what: String,
    /// What to do about it.
    pub mend: String,
}

struct Shown<'a>(&'a Option<Source>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(source) => source.fmt(f),
            None => f.write_str("not set"),
        }
    }
}

/// Every fault of the settings, in the order of the sources and of the catalogue. Never empty.
///
/// Printed, it is one line a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub(crate) Vec<Fault>);

impl Faults {
    /// The faults, at least one.
    pub fn as_slice(&self) -> &[Fault] {
        &self.0
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, fault) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Something to know that is no fault, such as names that are ignored: one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice(pub(crate) String);

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
