use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tidegate_config::{parse_duration, show_duration};

/// So many calls in so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many; at least 1.
    pub count: u32,
    /// In how long; above zero.
    pub per: Duration,
}

/// How an upstream limits its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A token bucket: filled at the rate, never above the burst.
    Bucket {
        /// How fast it fills.
        rate: Rate,
        /// How much it holds; at least 1.
        burst: u32,
    },
    /// So many calls in each fixed window of the clock.
    Window {
        /// The window.
        rate: Rate,
    },
    /// So many calls in any window.
    Sliding {
        /// The window.
        rate: Rate,
    },
    /// As sliding, and a refusal blocks the caller.
    Block {
        /// The window.
        rate: Rate,
        /// For how long a refusal blocks.
        block: Duration,
        /// What calls do while it is blocked.
        renewal: Renewal,
    },
}

/// What a call does to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// Nothing.
    Fixed,
    /// It begins anew.
    Extended,
}

impl Rate {
    /// The time between two calls at this rate.
    pub fn interval(self) -> Duration {
        self.per / self.count.max(1)
    }

    /// Calls a second.
    pub fn per_second(self) -> f64 {
        f64::from(self.count) / self.per.as_secs_f64()
    }

    fn scaled(self, factor: f64) -> Self {
        // A rate of one count would lose too much to rounding: its length changes instead.
        Self { count: self.count, per: self.per.div_f64(factor) }
    }
}

impl Model {
    /// What one who is limited so is granted a second, in the long run.
    pub fn per_second(self) -> f64 {
        match self {
            Self::Bucket { rate, .. }
            | Self::Window { rate }
            | Self::Sliding { rate }
            | Self::Block { rate, .. } => rate.per_second(),
        }
    }

    /// The same kind of limit, this many times as wide: a bucket fills faster, a window holds more.
    #[must_use = "the model is returned, not changed in place"]
    pub fn scaled(self, factor: f64) -> Self {
        let wider = |rate: Rate| Rate { count: times(rate.count, factor), ..rate };
        match self {
            Self::Bucket { rate, burst } => Self::Bucket { rate: rate.scaled(factor), burst },
            Self::Window { rate } => Self::Window { rate: wider(rate) },
            Self::Sliding { rate } => Self::Sliding { rate: wider(rate) },
            Self::Block { rate, block, renewal } => Self::Block { rate: wider(rate), block, renewal },
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is what is meant"
)]
fn times(count: u32, factor: f64) -> u32 {
    (f64::from(count) * factor).round().max(1.0) as u32
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, show_duration(self.per))
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bucket { rate, burst } => write!(f, "bucket {rate} burst {burst}"),
            Self::Window { rate } => write!(f, "window {rate}"),
            Self::Sliding { rate } => write!(f, "sliding {rate}"),
            Self::Block { rate, block, renewal } => {
                write!(f, "block {rate} for {}", show_duration(*block))?;
                if *renewal == Renewal::Extended { f.write_str(" extend") } else { Ok(()) }
            }
        }
    }
}

/// Why a text is no model, and what would be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseModelError(String);

impl ParseModelError {
    fn no_model(text: &str) -> Self {
        Self(format!(
            "{text:?} is no model; write `bucket 2/1s burst 10`, `window 100/1m`, `sliding 100/1m` or \
             `block 100/1m for 1m`, with `extend` behind it where calls renew the block"
        ))
    }

    fn no_rate(text: &str) -> Self {
        Self(format!("{text:?} is no rate; write 60/1m for 60 in a minute"))
    }

    fn no_length(text: &str) -> Self {
        Self(format!("{text:?} is no length of time; write 30s or 1m30s"))
    }
}

impl FromStr for Rate {
    type Err = ParseModelError;

    fn from_str(text: &str) -> Result<Self, ParseModelError> {
        let read = || {
            let (count, per) = text.split_once('/')?;
            let rate = Self { count: count.parse().ok()?, per: parse_duration(per).ok()? };
            (rate.count > 0 && !rate.interval().is_zero()).then_some(rate)
        };
        read().ok_or_else(|| ParseModelError::no_rate(text))
    }
}

impl FromStr for Model {
    type Err = ParseModelError;

    fn from_str(text: &str) -> Result<Self, ParseModelError> {
        let block = |rate: &str, block: &str, renewal| {
            let length = parse_duration(block).map_err(|_| ParseModelError::no_length(block))?;
            Ok(Self::Block { rate: rate.parse()?, block: length, renewal })
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["bucket", rate, "burst", burst] => {
                let burst = burst.parse().ok().filter(|burst| *burst > 0);
                Ok(Self::Bucket {
                    rate: rate.parse()?,
                    burst: burst.ok_or_else(|| ParseModelError::no_model(text))?,
                })
            }
            ["window", rate] => Ok(Self::Window { rate: rate.parse()? }),
            ["sliding", rate] => Ok(Self::Sliding { rate: rate.parse()? }),
            ["block", rate, "for", length] => block(rate, length, Renewal::Fixed),
            ["block", rate, "for", length, "extend"] => block(rate, length, Renewal::Extended),
            _ => Err(ParseModelError::no_model(text)),
        }
    }
}
