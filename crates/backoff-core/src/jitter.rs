use core::error::Error;
use core::fmt;
use core::str::FromStr;

/// How a computed wait is spread, so that callers who failed together do not return together.
///
/// The names are those of "Exponential Backoff And Jitter" (Brooker, 2015). With `c` for the schedule's ceiling:
///
/// | name | uniform in |
/// |---|---|
/// | `none` | exactly `c` |
/// | `full` | `[0, c]` |
/// | `equal` | `[c/2, c]` |
/// | `decorrelated` | `[base, min(3 * previous, max)]` |
///
/// # Which one when
///
/// The model of that article: 190 clients write one row under optimistic concurrency control, a message takes
/// N(10, 2) ms, base 5 ms, `max` 2 s (means of 20 runs; `tests/it/contention.rs` reproduces them):
///
/// | | calls of the server | until all are done |
/// |---|---|---|
/// | no back-off at all | 8030 | 3.5 s |
/// | `none` | 5150 | 102 s |
/// | `full` | 1770 | 7.4 s |
/// | `equal` | 1760 | 9.7 s |
/// | `decorrelated` | 2440 | 6.7 s |
///
/// - **`full`** for calls of an upstream that many share: the fewest calls, and soon done. It may wait next to nothing,
///   so it is not for upstreams that want a pause for sure.
/// - **`equal`** where each wait must be half of its ceiling at least: a resource that heals by being left alone, a file
///   that is locked.
/// - **`decorrelated`** where being done soon counts for more than a third more calls; no wait is below the base.
/// - **`none`** where there is one caller, or another has spread them: a test, a schedule that people read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Jitter {
    /// The ceiling itself.
    None,
    /// Anything up to the ceiling: the least load on the upstream.
    #[default]
    Full,
    /// Half of the ceiling for sure, the other half by chance.
    Equal,
    /// From the base to three times the wait before.
    Decorrelated,
}

impl Jitter {
    /// Every kind, in the order of their documentation.
    pub const ALL: [Self; 4] = [Self::None, Self::Full, Self::Equal, Self::Decorrelated];

    /// The name that settings use; [`FromStr`] reads it back.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Full => "full",
            Self::Equal => "equal",
            Self::Decorrelated => "decorrelated",
        }
    }
}

impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Jitter {
    type Err = UnknownJitter;

    /// Reads a name as [`as_str`](Self::as_str) writes it.
    ///
    /// # Errors
    ///
    /// [`UnknownJitter`] for any other text, also in another case.
    fn from_str(name: &str) -> Result<Self, UnknownJitter> {
        Self::ALL.into_iter().find(|jitter| jitter.as_str() == name).ok_or(UnknownJitter(()))
    }
}

/// A text that names no [`Jitter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownJitter(());

impl fmt::Display for UnknownJitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such jitter; write none, full, equal or decorrelated")
    }
}

impl Error for UnknownJitter {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for jitter in Jitter::ALL {
            assert_eq!(jitter.as_str().parse(), Ok(jitter));
        }
        for other in ["", "Full", " full", "half", "decorrelate"] {
            assert_eq!(other.parse::<Jitter>(), Err(UnknownJitter(())), "{other:?}");
        }
    }

    #[test]
    fn full_is_the_default() {
        assert_eq!(Jitter::default(), Jitter::Full);
    }
}
