//! `tidegate schedule`: both levels' delays as tables and bars.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tidegate_backoff_core::{Backoff, CoolDown, Jitter};
use tidegate_config::{Pool, Purpose, Settings, Sources, load_for, show_duration};

use super::{report_faults, say};

/// Longer tables say nothing more: the waits have long been at their maximum.
const MOST_ROWS: u32 = 16;
/// The longest bar, in characters.
const WIDEST: u128 = 32;

/// 0 and the tables; or every fault and 2.
pub(crate) fn run(config: Option<PathBuf>) -> ExitCode {
    match load_for(&Sources::from_process(config), Purpose::Inspect) {
        Ok(loaded) => {
            say(&schedule(&loaded.settings));
            ExitCode::SUCCESS
        }
        Err(faults) => report_faults(&faults),
    }
}

fn schedule(settings: &Settings) -> String {
    let mut page = request_level(settings);
    for pool in settings.pools_in_use() {
        page.push('\n');
        page.push_str(&token_level(pool));
    }
    page
}

/// Level one: the waits between the attempts of a request.
fn request_level(settings: &Settings) -> String {
    let retry = &settings.retry;
    let waits = Waits::new(Backoff::new(retry.schedule, retry.jitter), retry.max_retries);
    let mut table = Table::new("retry");
    let mut total = Duration::ZERO;
    for (n, wait) in (1..).zip(waits.shown()) {
        total = total.saturating_add(wait);
        table.row(&n.to_string(), wait, &format!("{} in all", show_duration(total)));
    }
    let mut page = format!(
        "The API request: after a fault of the upstream, at most {} of up to {} and {}.\n{}\n\n{}",
        plural(retry.max_retries, "retry", "retries"),
        show_duration(retry.schedule.base()),
        show_duration(retry.schedule.max()),
        jitter(retry.jitter),
        table.show(),
    );
    let left_out = retry.max_retries.saturating_sub(MOST_ROWS);
    if left_out > 0 {
        let _ = writeln!(page, "  and {left_out} more of at most {}", show_duration(retry.schedule.max()));
    }
    let waited = waits.total();
    let _ = writeln!(page, "\nworst case: {} of waits between {} attempts", show_duration(waited), u64::from(retry.max_retries) + 1);
    let attempt = settings.upstream.attempt_timeout;
    if !attempt.is_zero() {
        let calls = attempt.saturating_mul(retry.max_retries.saturating_add(1));
        let all = show_duration(waited.saturating_add(calls));
        let _ = writeln!(page, "with attempts that each take the whole {}: {all}", show_duration(attempt));
    }
    let deadline = settings.server.request_timeout;
    if !deadline.is_zero() {
        let _ = writeln!(page, "a request's time is over after {}: no wait is begun that ends later", show_duration(deadline));
    }
    page
}

fn jitter(jitter: Jitter) -> &'static str {
    match jitter {
        Jitter::None => "The waits are exactly these (jitter none).",
        Jitter::Full => "Each wait is drawn from 0 to the one shown (jitter full).",
        Jitter::Equal => "Each wait is drawn from half to the whole of the one shown (jitter equal).",
        Jitter::Decorrelated => {
            "Each wait is drawn from the base to three times the wait before; the longest are shown (jitter decorrelated)."
        }
    }
}

/// The longest waits of a request, one after another.
struct Waits {
    backoff: Backoff,
    retries: u32,
}

impl Waits {
    const fn new(backoff: Backoff, retries: u32) -> Self {
        Self { backoff, retries }
    }

    fn longest(&self, attempt: u32, before: Duration) -> Duration {
        match self.backoff.jitter() {
            Jitter::Decorrelated => self.backoff.delay(attempt, before, u64::MAX),
            _ => self.backoff.schedule().ceiling(attempt),
        }
    }

    fn shown(&self) -> Vec<Duration> {
        let mut waits = Vec::new();
        let mut before = Duration::ZERO;
        for attempt in 0..self.retries.min(MOST_ROWS) {
            before = self.longest(attempt, before);
            waits.push(before);
        }
        waits
    }

    /// Of all waits, shown or not.
    fn total(&self) -> Duration {
        let mut total = Duration::ZERO;
        let mut before = Duration::ZERO;
        for attempt in 0..self.retries {
            let wait = self.longest(attempt, before);
            if attempt > 0 && wait == before {
                // It has stopped growing, and so have all that follow.
                let rest = self.retries - attempt;
                return total.saturating_add(wait.saturating_mul(rest));
            }
            total = total.saturating_add(wait);
            before = wait;
        }
        total
    }
}

/// Level two: the rests of one token.
fn token_level(pool: &Pool) -> String {
    let CoolDown { base, max, max_rest, max_retries, reject_rest } = pool.cool_down;
    let mut table = Table::new("failure");
    let mut total = Duration::ZERO;
    let mut before = None;
    for failures in 1..=max_retries.saturating_add(MOST_ROWS) {
        let rest = pool.cool_down.rest(failures, 0);
        // Once the rests no longer grow, neither would the table.
        let grown = before.is_none_or(|before| rest.duration != before);
        if failures > MOST_ROWS.max(2) && !grown || table.rows.len() >= 2 * MOST_ROWS as usize {
            break;
        }
        if rest.unavailable && !grown && rest.duration == max_rest {
            break;
        }
        if !rest.unavailable {
            total = total.saturating_add(rest.duration);
        }
        table.row(&failures.to_string(), rest.duration, if rest.unavailable { "unavailable" } else { "cooling" });
        before = Some(rest.duration);
    }
    let mut rejected = Vec::new();
    let mut longest = None;
    for rejections in 2..2 + MOST_ROWS {
        let rest = pool.cool_down.rest(rejections, rejections).duration;
        if longest == Some(rest) {
            break;
        }
        longest = Some(rest);
        rejected.push(show_duration(rest));
    }
    format!(
        "The token (pool {}): after failures in a row it rests {} doubled each time, at most {};\n\
         after more than {max_retries} it is unavailable and rests at most {}.\n\n{}\n\
         worst case: {} of rests before it is unavailable\n\
         refused itself (401, 402) twice in a row, it is unavailable for at least {}: {}\n\
         a delay that the upstream tells is kept where it is longer\n",
        pool.name,
        show_duration(base),
        show_duration(max),
        show_duration(max_rest),
        table.show(),
        show_duration(total),
        show_duration(reject_rest),
        rejected.join(", "),
    )
}

fn plural(count: u32, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Rows of a number, a wait, its bar and a word.
struct Table {
    head: &'static str,
    rows: Vec<(String, Duration, String)>,
}

impl Table {
    const fn new(head: &'static str) -> Self {
        Self { head, rows: Vec::new() }
    }

    fn row(&mut self, number: &str, wait: Duration, word: &str) {
        self.rows.push((number.to_owned(), wait, word.to_owned()));
    }

    fn show(&self) -> String {
        let longest = self.rows.iter().map(|(_, wait, _)| *wait).max().unwrap_or_default();
        let width = self.rows.iter().map(|(_, wait, _)| show_duration(*wait).len()).max().unwrap_or(0);
        let mut shown = String::new();
        for (number, wait, word) in &self.rows {
            let (wait, bar) = (show_duration(*wait), bar(*wait, longest));
            let line = format!("  {} {number:>2}  {wait:>width$}  {bar:WIDEST$}  {word}", self.head, WIDEST = 32);
            let _ = writeln!(shown, "{}", line.trim_end());
        }
        shown
    }
}

/// A bar of up to 32 characters, to an eighth of one; never empty where there is a wait.
fn bar(wait: Duration, longest: Duration) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if wait.is_zero() || longest.is_zero() {
        return String::new();
    }
    let eighths = (wait.as_nanos() * WIDEST * 8 / longest.as_nanos()).max(1);
    let (whole, part) = (usize::try_from(eighths / 8).unwrap_or(0), usize::try_from(eighths % 8).unwrap_or(0));
    format!("{}{}", "█".repeat(whole), PARTS[part])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(env: &[(&str, &str)]) -> String {
        let sources = env.iter().fold(Sources::default(), |sources, (name, value)| sources.with_env(*name, *value));
        schedule(&load_for(&sources, Purpose::Inspect).unwrap().settings)
    }

    #[test]
    fn both_levels_are_shown_as_pixivfe_counts_them() {
        println!("{}", shown(&[]));
        println!("{}", shown(&[("PIXIVFE_API_MAX_RETRIES", "0"), ("PIXIVFE_MAX_RETRIES", "0"), ("TIDEGATE_RETRY_JITTER", "decorrelated")]));
        println!("{}", shown(&[("PIXIVFE_API_MAX_RETRIES", "40"), ("PIXIVFE_MAX_RETRIES", "40"), ("TIDEGATE_RETRY_JITTER", "decorrelated")]));
    }
}
