//! What loading comes to: the settings, what to know about them, and where each came from.

use std::fmt;

use crate::{
    fault::{Notice, Source},
    settings::Settings,
};

/// Settings without a fault.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// What to know about them; for a log at start.
    pub notices: Vec<Notice>,
    /// The effective value of each setting and where it came from, secrets hidden.
    pub provenance: Provenance,
}

/// The effective settings as a table for people, secrets hidden: what `tidegate config` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance(pub(crate) Vec<Row>);

/// One setting's effective value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The TOML path, such as `retry.base`.
    pub path: String,
    /// The value as a person would write it, or `(hidden)`, `(3 tokens)`, `(none)`.
    pub value: String,
    /// Where it came from.
    pub source: Source,
    /// The variable that held it, for `.env` and the environment.
    pub variable: Option<&'static str>,
}

impl Row {
    fn origin(&self) -> String {
        match (&self.source, self.variable) {
            (source, Some(variable)) => format!("{source} {variable}"),
            (source, None) => source.to_string(),
        }
    }
}

impl Provenance {
    /// The rows, in the order of the catalogue; pools, routes and rules after them.
    pub fn rows(&self) -> &[Row] {
        &self.0
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |of: fn(&Row) -> &str, least: usize| {
            self.0
                .iter()
                .map(|row| of(row).chars().count())
                .filter(|width| *width <= 60)
                .max()
                .unwrap_or(0)
                .max(least)
        };
        let (path, value) = (width(|row| &row.path, "setting".len()), width(|row| &row.value, "value".len()));
        write!(f, "{:path$}  {:value$}  source", "setting", "value")?;
        for row in &self.0 {
            write!(f, "\n{:path$}  {:value$}  {}", row.path, row.value, row.origin())?;
        }
        Ok(())
    }
}
