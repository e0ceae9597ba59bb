use std::fmt;
use std::str::FromStr;

use super::Line;
use crate::policy::Named;

/// What a row of the grid must reach. Written as a line:
/// `learned | window 100/1m x 4 | 0.9 | goodput >= 0.985 | calls <= 1.04 | p99 <= 0.6`, and for an outage
/// `| recovery <= 10 | in outage <= 1.3` behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The row, as [`Row::key`](crate::Row::key) has it.
    pub key: String,
    /// `goodput / limit`, at least.
    pub goodput: f64,
    /// Calls per success, at most.
    pub calls: f64,
    /// Seconds, at most.
    pub p99: f64,
    /// Where there is an outage.
    pub outage: Option<OutageBound>,
}

/// What must hold around an outage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutageBound {
    /// Seconds until clients are served as before it, at most.
    pub recovery: f64,
    /// Calls during it for each request, at most.
    pub calls: f64,
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
        let outage = it.recovery.zip(it.calls_in_outage).map(|(recovery, calls)| OutageBound {
            recovery: (recovery + 2.0).ceil(),
            calls: (100.0 * calls * 1.02 + 0.5).ceil() / 100.0,
        });
        Some(Self {
            key,
            goodput: (100.0 * it.goodput - 1.5).floor() / 100.0,
            calls: (100.0 * it.calls_per_success * 1.01 + 0.5).ceil() / 100.0,
            p99: (10.0 * it.p99 * 1.1 + 1.0).ceil() / 10.0,
            outage,
        })
    }

    /// What of it these figures do not keep, in words.
    pub fn broken_by(&self, line: &Line) -> Option<String> {
        let it = &line.figures;
        // What is not a number keeps no bound.
        let mut kept = vec![
            (it.goodput >= self.goodput, format!("goodput {:.3}", it.goodput)),
            (it.calls_per_success <= self.calls, format!("{:.3} calls per success", it.calls_per_success)),
            (it.p99 <= self.p99, format!("p99 {:.2} s", it.p99)),
        ];
        if let Some(bound) = self.outage {
            let (recovery, calls) = (it.recovery.unwrap_or(f64::NAN), it.calls_in_outage.unwrap_or(f64::NAN));
            kept.push((recovery <= bound.recovery, format!("recovery {recovery:.1} s")));
            kept.push((calls <= bound.calls, format!("{calls:.3} calls a request in the outage")));
        }
        let broken: Vec<&str> =
            kept.iter().filter(|(is_kept, _)| !is_kept).map(|(_, says)| says.as_str()).collect();
        (!broken.is_empty()).then(|| format!("{self}: {}", broken.join(", ")))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, goodput, calls, p99, outage } = self;
        write!(f, "{key} | goodput >= {goodput} | calls <= {calls} | p99 <= {p99}")?;
        match outage {
            Some(OutageBound { recovery, calls }) => {
                write!(f, " | recovery <= {recovery} | in outage <= {calls}")
            }
            None => Ok(()),
        }
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
        let [part, model, load, goodput, calls, p99, outage @ ..] = &cells[..] else { return Err(fault()) };
        let number = |cell: &str, says: &str| cell.strip_prefix(says).and_then(|rest| rest.parse().ok());
        let number = |cell: &str, says: &str| number(cell, says).ok_or_else(fault);
        Ok(Self {
            key: [*part, *model, *load].join(" | "),
            goodput: number(goodput, "goodput >= ")?,
            calls: number(calls, "calls <= ")?,
            p99: number(p99, "p99 <= ")?,
            outage: match outage {
                [] => None,
                [recovery, calls] => Some(OutageBound {
                    recovery: number(recovery, "recovery <= ")?,
                    calls: number(calls, "in outage <= ")?,
                }),
                _ => return Err(fault()),
            },
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
