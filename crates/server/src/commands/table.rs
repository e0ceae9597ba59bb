//! Tables of waits with bars, for a terminal.

use std::fmt::{self, Write as _};
use std::time::Duration;

use tidegate_config::show_duration;

/// Waits one after another, up to where they no longer grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Series {
    pub(super) waits: Vec<Duration>,
    /// How many more there are, each as long as the last.
    pub(super) more: u32,
}

/// So few equal waits at the end are shown one by one.
const FEW: u32 = 2;

impl Series {
    /// `count` waits; `next` makes each from its number (0 is the first) and the one before.
    pub(super) fn new(count: u32, next: impl Fn(u32, Duration) -> Duration) -> Self {
        let mut waits: Vec<Duration> = Vec::new();
        let mut before = Duration::ZERO;
        for n in 0..count {
            let wait = next(n, before);
            if n > 0 && wait == before && count - n > FEW {
                return Self { waits, more: count - n };
            }
            waits.push(wait);
            before = wait;
        }
        Self { waits, more: 0 }
    }

    /// Of all of them; saturates.
    pub(super) fn total(&self) -> Duration {
        let shown = self.waits.iter().fold(Duration::ZERO, |total, wait| total.saturating_add(*wait));
        let last = self.waits.last().copied().unwrap_or_default();
        shown.saturating_add(last.saturating_mul(self.more))
    }
}

/// Rows of a label, a wait, its bar and a word.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(Vec<(String, Duration, String)>);

impl Table {
    pub(super) fn row(&mut self, label: String, wait: Duration, word: impl Into<String>) {
        self.0.push((label, wait, word.into()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = self.0.iter().map(|(_, wait, _)| *wait).max().unwrap_or_default();
        let labels = self.0.iter().map(|(label, ..)| label.len()).max().unwrap_or(0);
        let waits = self.0.iter().map(|(_, wait, _)| show_duration(*wait).len()).max().unwrap_or(0);
        for (label, wait, word) in &self.0 {
            let (shown, bar) = (show_duration(*wait), bar(*wait, longest));
            let mut line = String::new();
            write!(line, "  {label:labels$}  {shown:>waits$}  {bar:WIDEST$}  {word}")?;
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The longest bar, in characters.
const WIDEST: usize = 32;

/// To an eighth of a character; never empty where there is a wait.
fn bar(wait: Duration, longest: Duration) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if wait.is_zero() {
        return String::new();
    }
    // Below 2^94 nanoseconds: the product stays below 2^102.
    let eighths = (wait.as_nanos() * WIDEST as u128 * 8 / longest.max(wait).as_nanos()).max(1);
    let eighths = usize::try_from(eighths).unwrap_or(WIDEST * 8);
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_series_ends_where_it_no_longer_grows() {
        let doubled = |n: u32, _| seconds(1 << n.min(3));
        for (count, shown, more, total) in [
            (0, vec![], 0, 0),
            (1, vec![1], 0, 1),
            (4, vec![1, 2, 4, 8], 0, 15),
            (6, vec![1, 2, 4, 8, 8, 8], 0, 31),
            (7, vec![1, 2, 4, 8], 3, 39),
            (1004, vec![1, 2, 4, 8], 1000, 8015),
        ] {
            let series = Series::new(count, doubled);
            let shown: Vec<_> = shown.into_iter().map(seconds).collect();
            assert_eq!(series, Series { waits: shown, more }, "{count}");
            assert_eq!(series.total(), seconds(total), "{count}");
        }
        assert_eq!(Series::new(u32::MAX, |_, _| Duration::MAX).total(), Duration::MAX);
        assert_eq!(Series::new(u32::MAX, |_, _| Duration::ZERO).total(), Duration::ZERO);
    }

    #[test]
    fn a_bar_is_as_long_as_its_wait() {
        for (wait, longest, want) in [
            (0, 8, String::new()),
            (8, 8, "█".repeat(32)),
            (4, 8, "█".repeat(16)),
            (1, 32, "█".to_owned()),
            (3, 64, "█▌".to_owned()),
            (1, 1_000_000, "▏".to_owned()),
        ] {
            assert_eq!(bar(seconds(wait), seconds(longest)), want, "{wait} of {longest}");
        }
        assert_eq!(bar(Duration::MAX, Duration::MAX), "█".repeat(32));
    }
}
