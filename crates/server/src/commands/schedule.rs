//! `tidegate schedule`: both levels' delays as tables and bars.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tidegate_backoff_core::{Backoff, CoolDown, Jitter};
use tidegate_config::{Pool, Purpose, Settings, Sources, WhenExhausted, load_for, show_duration};

use super::table::{Series, Table};
use super::{report_faults, say};

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
    page.push('\n');
    page.push_str(&together(settings));
    page
}

/// Both levels at once: what a request can come to when everything goes wrong.
fn together(settings: &Settings) -> String {
    let retry = &settings.retry;
    let backoff = Backoff::new(retry.schedule, retry.jitter);
    let waits = Series::new(retry.max_retries, |n, before| longest(backoff, n, before)).total();
    let timeout = settings.upstream.attempt_timeout;
    let mut page = "Both levels together, when everything goes wrong for one request:\n".to_owned();
    for pool in settings.pools_in_use() {
        let attempts = retry.max_retries.saturating_add(pool.max_switches).saturating_add(1);
        let token_wait = match pool.when_exhausted {
            WhenExhausted::Wait => pool.max_wait,
            WhenExhausted::Fail | WhenExhausted::Soonest => Duration::ZERO,
        };
        let waiting = waits.saturating_add(token_wait);
        let _ = write!(
            page,
            "  pool {}: {} of back-off + {} for tokens = {} of waits;\n  {} (1, {} by retries, {} by switches)",
            pool.name,
            show_duration(waits),
            show_duration(token_wait),
            show_duration(waiting),
            count(attempts, "attempt"),
            retry.max_retries,
            pool.max_switches,
        );
        if !timeout.is_zero() {
            let all = waiting.saturating_add(timeout.saturating_mul(attempts));
            let _ = write!(page, " of up to {}: {} in total", show_duration(timeout), show_duration(all));
        }
        page.push('\n');
    }
    let deadline = settings.server.request_timeout;
    if deadline.is_zero() {
        page.push_str("  and nothing bounds it (server.request_timeout is 0).\n");
    } else {
        let _ = writeln!(page, "  and never past the request's timeout of {}.", show_duration(deadline));
    }
    let _ = writeln!(
        page,
        "In words: a switch costs no wait, a retry waits; after {} a caller has its answer or a reason.\n\
         In an outage the retries stay below {} of the requests plus {} a second.",
        if deadline.is_zero() { "that".to_owned() } else { show_duration(deadline) },
        percent(retry.budget_ratio.millionths()),
        retry.budget_min_per_second,
    );
    page
}

/// A share in per cent, to as many digits as it has.
fn percent(millionths: u32) -> String {
    format!("{} %", f64::from(millionths) / 1e4)
}

/// Level one: the waits between the attempts of a request.
fn request_level(settings: &Settings) -> String {
    let retry = &settings.retry;
    let backoff = Backoff::new(retry.schedule, retry.jitter);
    let waits = Series::new(retry.max_retries, |n, before| longest(backoff, n, before));
    let (base, max) = (show_duration(retry.schedule.base()), show_duration(retry.schedule.max()));
    let times = count(retry.max_retries, "time");
    let mut page = format!("The API request: repeated after a fault of the upstream, at most {times}.\n");
    if retry.max_retries > 0 {
        let spread = match retry.jitter {
            Jitter::None => "exactly that long (jitter none)",
            Jitter::Full => "each drawn from 0 to that (jitter full)",
            Jitter::Equal => "each drawn from half of that to the whole (jitter equal)",
            Jitter::Decorrelated => {
                "each drawn from the base to three times the one before (jitter decorrelated)"
            }
        };
        let _ = write!(page, "Waits from {base}, growing to {max} at most, {spread}.\n\n");
    }
    let mut table = Table::default();
    let mut total = Duration::ZERO;
    for (n, wait) in (1..).zip(&waits.waits) {
        total = total.saturating_add(*wait);
        table.row(format!("retry {n}"), *wait, format!("{} in all", show_duration(total)));
    }
    let _ = write!(page, "{table}");
    if waits.more > 0 {
        let _ = writeln!(page, "  and {} more of {max}", waits.more);
    }

    let attempts = retry.max_retries.saturating_add(1);
    let waited = waits.total();
    let _ = write!(page, "\nworst case: {} of waits, {}", show_duration(waited), count(attempts, "attempt"));
    let timeout = settings.upstream.attempt_timeout;
    if !timeout.is_zero() {
        let all = waited.saturating_add(timeout.saturating_mul(attempts));
        let _ = write!(page, " of up to {}: {} in total", show_duration(timeout), show_duration(all));
    }
    let deadline = settings.server.request_timeout;
    if !deadline.is_zero() {
        let _ = write!(page, ",\nbut never past the request's timeout of {}", show_duration(deadline));
    }
    page.push('\n');
    page
}

/// The longest that wait `n` can be.
fn longest(backoff: Backoff, n: u32, before: Duration) -> Duration {
    match backoff.jitter() {
        Jitter::Decorrelated => backoff.delay(n, before, u64::MAX),
        _ => backoff.schedule().ceiling(n),
    }
}

fn count(number: u32, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// Level two: the rests of one token.
fn token_level(pool: &Pool) -> String {
    let CoolDown { base, max, max_rest, max_retries, reject_rest } = pool.cool_down;
    let cooling = Series::new(max_retries, |n, _| pool.cool_down.rest(n + 1, 0).duration);
    let unavailable = Series::new(u32::MAX - max_retries, |n, _| {
        pool.cool_down.rest((max_retries + 1).saturating_add(n), 0).duration
    });
    let rejected = Series::new(u32::MAX - 1, |n, _| {
        pool.cool_down.rest(n.saturating_add(2), n.saturating_add(2)).duration
    });

    let mut page = format!(
        "The token (pool {}): rests after each failure in a row, {} doubled each time, at most {}.\n",
        pool.name,
        show_duration(base),
        show_duration(max),
    );
    let mut table = Table::default();
    for (n, rest) in (1..).zip(&cooling.waits) {
        table.row(format!("failure {n}"), *rest, "cooling");
    }
    if max_retries > 0 {
        let _ = write!(page, "\n{table}");
    }
    if cooling.more > 0 {
        let _ = writeln!(page, "  and {} more of {}", cooling.more, show_duration(max));
    }
    let _ = write!(
        page,
        "\nworst case: {} of rests until it is unavailable; then the doubling goes on, to {} at most:\n\n",
        show_duration(cooling.total()),
        show_duration(max_rest),
    );
    let mut table = Table::default();
    for (n, rest) in (u64::from(max_retries) + 1..).zip(&unavailable.waits) {
        table.row(format!("failure {n}"), *rest, "unavailable");
    }
    let shown: Vec<_> = rejected.waits.iter().map(|rest| show_duration(*rest)).collect();
    let _ = write!(
        page,
        "{table}\nRefused itself (401, 402) twice in a row, it is unavailable at once, for at least {}: {}.\n\
         A delay that the upstream tells is kept in full where it is longer.\n{}",
        show_duration(reject_rest),
        shown.join(", "),
        waiting(pool),
    );
    page
}

/// What the rests cost a request.
fn waiting(pool: &Pool) -> String {
    match pool.when_exhausted {
        WhenExhausted::Wait => {
            format!(
                "A request that finds no ready token waits for one, {} in all at most.\n",
                show_duration(pool.max_wait)
            )
        }
        WhenExhausted::Fail => "A request that finds no ready token is answered 503 at once.\n".to_owned(),
        WhenExhausted::Soonest => {
            "A request that finds no ready token gets the one that is ready soonest.\n".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(env: &[(&str, &str)]) -> String {
        let sources =
            env.iter().fold(Sources::default(), |sources, (name, value)| sources.with_env(*name, *value));
        schedule(&load_for(&sources, Purpose::Inspect).unwrap().settings)
    }

    #[test]
    fn both_levels_are_shown_as_pixivfe_counts_them() {
        insta::assert_snapshot!(shown(&[]), @r"
        The API request: repeated after a fault of the upstream, at most 3 times.
        Waits from 500ms, growing to 8s at most, each drawn from 0 to that (jitter full).

          retry 1  500ms  ████████                          500ms in all
          retry 2     1s  ████████████████                  1.5s in all
          retry 3     2s  ████████████████████████████████  3.5s in all

        worst case: 3.5s of waits, 4 attempts of up to 10s: 43.5s in total,
        but never past the request's timeout of 30s

        The token (pool default): rests after each failure in a row, 1s doubled each time, at most 32s.

          failure 1   1s  ██                                cooling
          failure 2   2s  ████                              cooling
          failure 3   4s  ████████                          cooling
          failure 4   8s  ████████████████                  cooling
          failure 5  16s  ████████████████████████████████  cooling

        worst case: 31s of rests until it is unavailable; then the doubling goes on, to 1h at most:

          failure 6     32s  ▎                                 unavailable
          failure 7    1m4s  ▌                                 unavailable
          failure 8    2m8s  █▏                                unavailable
          failure 9   4m16s  ██▎                               unavailable
          failure 10  8m32s  ████▌                             unavailable
          failure 11  17m4s  █████████                         unavailable
          failure 12  34m8s  ██████████████████▏               unavailable
          failure 13     1h  ████████████████████████████████  unavailable

        Refused itself (401, 402) twice in a row, it is unavailable at once, for at least 5m: 5m, 10m, 20m, 40m, 1h.
        A delay that the upstream tells is kept in full where it is longer.
        A request that finds no ready token waits for one, 5s in all at most.

        Both levels together, when everything goes wrong for one request:
          pool default: 3.5s of back-off + 5s for tokens = 8.5s of waits;
          9 attempts (1, 3 by retries, 5 by switches) of up to 10s: 1m38.5s in total
          and never past the request's timeout of 30s.
        In words: a switch costs no wait, a retry waits; after 30s a caller has its answer or a reason.
        In an outage the retries stay below 20 % of the requests plus 10 a second.
        ");
    }

    #[test]
    fn long_and_empty_schedules_are_shown_short() {
        let long = [
            ("PIXIVFE_API_MAX_RETRIES", "40"),
            ("PIXIVFE_MAX_RETRIES", "40"),
            ("TIDEGATE_RETRY_JITTER", "decorrelated"),
            ("TIDEGATE_WHEN_EXHAUSTED", "fail"),
        ];
        insta::assert_snapshot!(shown(&long), @r"
        The API request: repeated after a fault of the upstream, at most 40 times.
        Waits from 500ms, growing to 8s at most, each drawn from the base to three times the one before (jitter decorrelated).

          retry 1  1.5s  ██████                            1.5s in all
          retry 2  4.5s  ██████████████████                6s in all
          retry 3    8s  ████████████████████████████████  14s in all
          and 37 more of 8s

        worst case: 5m10s of waits, 41 attempts of up to 10s: 12m in total,
        but never past the request's timeout of 30s

        The token (pool default): rests after each failure in a row, 1s doubled each time, at most 32s.

          failure 1   1s  █                                 cooling
          failure 2   2s  ██                                cooling
          failure 3   4s  ████                              cooling
          failure 4   8s  ████████                          cooling
          failure 5  16s  ████████████████                  cooling
          failure 6  32s  ████████████████████████████████  cooling
          and 34 more of 32s

        worst case: 19m11s of rests until it is unavailable; then the doubling goes on, to 1h at most:

          failure 41  1h  ████████████████████████████████  unavailable

        Refused itself (401, 402) twice in a row, it is unavailable at once, for at least 5m: 5m, 10m, 20m, 40m, 1h.
        A delay that the upstream tells is kept in full where it is longer.
        A request that finds no ready token is answered 503 at once.

        Both levels together, when everything goes wrong for one request:
          pool default: 5m10s of back-off + 0s for tokens = 5m10s of waits;
          46 attempts (1, 40 by retries, 5 by switches) of up to 10s: 12m50s in total
          and never past the request's timeout of 30s.
        In words: a switch costs no wait, a retry waits; after 30s a caller has its answer or a reason.
        In an outage the retries stay below 20 % of the requests plus 10 a second.
        ");
        let empty = shown(&[("PIXIVFE_API_MAX_RETRIES", "0"), ("PIXIVFE_MAX_RETRIES", "0")]);
        assert!(
            empty.contains(
                "at most 0 times.\n\nworst case: 0s of waits, 1 attempt of up to 10s: 10s in total"
            ),
            "{empty}"
        );
        assert!(empty.contains("worst case: 0s of rests until it is unavailable"), "{empty}");
        assert!(empty.contains("failure 1   "), "{empty}");
    }
}
