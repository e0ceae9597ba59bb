use std::fmt;
use std::str::FromStr;

use super::Line;
use crate::policy::Named;

/// What a row of the grid must reach. Written as a line:
/// `learned | window 100/1m x 4 | 0.9 | goodput >= 0.985 | calls <= 1.04 | p99 <= 0.6`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The row: its part, model and load, in the words that [`Bound::key_of`] gives.
    pub key: String,
    /// `goodput / limit`, at least.
    pub goodput: f64,
    /// Calls per success, at most.
    pub calls: f64,
    /// Seconds, at most.
    pub p99: f64,
}

impl Bound {
    /// What a row is called in a bound.
    pub fn key_of(line: &Line) -> Option<String> {
        Some(format!("{} | {} | {}", line.part?.as_str(), line.model, line.load()))
    }

    /// A bound that our figures in this line keep with a little room.
    pub fn just_outside(line: &Line) -> Option<Self> {
        let it = &line.figures;
        let key = Self::key_of(line).filter(|_| line.policy == Named::Ours)?;
        Some(Self {
            key,
            goodput: (100.0 * it.goodput - 1.5).floor() / 100.0,
            calls: (100.0 * it.calls_per_success * 1.01 + 0.5).ceil() / 100.0,
            p99: (10.0 * it.p99 * 1.1 + 1.0).ceil() / 10.0,
        })
    }

    /// What of it these figures do not keep, in words.
    pub fn broken_by(&self, line: &Line) -> Option<String> {
        let it = &line.figures;
        let broken = [
            (it.goodput < self.goodput, format!("goodput {:.3}", it.goodput)),
            (it.calls_per_success > self.calls, format!("{:.3} calls per success", it.calls_per_success)),
            (it.p99 > self.p99, format!("p99 {:.2} s", it.p99)),
        ];
        let broken: Vec<&str> =
            broken.iter().filter(|(is_broken, _)| *is_broken).map(|(_, says)| says.as_str()).collect();
        (!broken.is_empty()).then(|| format!("{self}: {}", broken.join(", ")))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, goodput, calls, p99 } = self;
        write!(f, "{key} | goodput >= {goodput} | calls <= {calls} | p99 <= {p99}")
    }
}

/// The line is no bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no bound: {0:?}")]
pub struct ParseBoundError(String);

impl FromStr for Bound {
    type Err = ParseBoundError;

    fn from_str(line: &str) -> Result<Self, ParseBoundError> {
        let fault = || ParseBoundError(line.to_owned());
        let cells: Vec<&str> = line.split(" | ").collect();
        let [part, model, load, goodput, calls, p99] = cells[..] else { return Err(fault()) };
        let number = |cell: &str, says: &str| cell.strip_prefix(says)?.parse().ok();
        Ok(Self {
            key: [part, model, load].join(" | "),
            goodput: number(goodput, "goodput >= ").ok_or_else(fault)?,
            calls: number(calls, "calls <= ").ok_or_else(fault)?,
            p99: number(p99, "p99 <= ").ok_or_else(fault)?,
        })
    }
}

/// Reads a file of bounds; what begins with `#` is a comment.
///
/// # Errors
///
/// The first line that is none.
pub fn read_bounds(text: &str) -> Result<Vec<Bound>, ParseBoundError> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::parse).collect()
}
