use std::time::Duration;

use tidegate_backoff_core::Ratio;

use crate::{problem::Problem, settings::Limit};

const BUDGET: &str = "write RATIO/RETRIES such as 0.2/10: retries for each request, and retries a second that are always allowed";
const LIMIT: &str = "write COUNT/TIME such as 100/1m, a bucket such as 2/1s burst 10, or none";

/// A retry budget: `0.2/10`. The ratio has at most six places and is at most 10.
pub(crate) fn budget(text: &str) -> Result<(Ratio, u32), Problem> {
    let malformed = || Problem::new("is not a retry budget", BUDGET);
    let (ratio, least) = text.split_once('/').ok_or_else(malformed)?;
    let least = super::count::<0, 1_000_000>(least.trim())
        .map_err(|problem| problem.about(format!("{:?}", least.trim())))?;
    Ok((Ratio::from_millionths(millionths(ratio.trim()).ok_or_else(malformed)?), least))
}

fn millionths(text: &str) -> Option<u32> {
    const MOST: u32 = 10_000_000;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) || fraction.len() > 6
    {
        return None;
    }
    let whole: u32 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: u32 = format!("{fraction:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(fraction).filter(|millionths| *millionths <= MOST)
}

/// A known limit: `100/1m`, or a bucket `2/1s burst 10`; `none` or `off` is none.
pub(crate) fn limit(text: &str) -> Result<Option<Limit>, Problem> {
    if matches!(text, "none" | "off") {
        return Ok(None);
    }
    let malformed = || Problem::new("is not a limit", LIMIT);
    let (rate, burst) = match text.split_once("burst") {
        Some((rate, burst)) if rate.ends_with(char::is_whitespace) => (rate, Some(whole(burst.trim())?)),
        Some(_) => return Err(malformed()),
        None => (text, None),
    };
    let (count, per) = rate.split_once('/').ok_or_else(malformed)?;
    let (count, per) = (whole(count.trim())?, per.trim());
    let per = time(per).map_err(|problem| problem.about(format!("{per:?}")))?;
    Ok(Some(Limit { count, per, burst }))
}

fn whole(text: &str) -> Result<u32, Problem> {
    super::count::<1, 1_000_000_000>(text).map_err(|problem| problem.about(format!("{text:?}")))
}

fn time(text: &str) -> Result<Duration, Problem> {
    match text {
        "s" | "m" | "h" => Err(Problem::new("has no number", format!("write 1{text}"))),
        _ => match super::duration(text)? {
            Duration::ZERO => Err(Problem::new("is no time", "write one above 0")),
            time => Ok(time),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_ratio_and_a_rate() {
        for (text, want) in [
            ("0.2/10", Some((200_000, 10))),
            ("0/0", Some((0, 0))),
            ("1/1", Some((1_000_000, 1))),
            (".25/3", Some((250_000, 3))),
            ("0.000001/0", Some((1, 0))),
            ("10 / 5", Some((10_000_000, 5))),
            ("10.000001/5", None),
            ("0.0000001/5", None),
            ("99999999999/5", None),
            ("0.2", None),
            ("0.2/", None),
            ("/10", None),
            ("./10", None),
            ("-0.2/10", None),
            ("0.2/-1", None),
            ("0.2/1.5", None),
            ("nan/1", None),
            ("1e1/1", None),
            ("0.2/10/3", None),
        ] {
            let want = want.map(|(ratio, least)| (Ratio::from_millionths(ratio), least));
            assert_eq!(budget(text).ok(), want, "{text}");
        }
    }

    #[test]
    fn a_limit_is_a_count_and_a_time() {
        let bucket = |count, secs, burst| {
            let per = Duration::from_secs(secs);
            Some(Some(Limit { count, per, burst }))
        };
        let some = |count, secs| bucket(count, secs, None);
        for (text, want) in [
            ("100/1m", some(100, 60)),
            ("5000 / 1h", some(5000, 3600)),
            ("none", Some(None)),
            ("off", Some(None)),
            ("0/1m", None),
            ("100/0", None),
            ("100/m", None),
            ("100", None),
            ("100/60", None),
            ("-1/1m", None),
            ("100/1m/2", None),
            ("2/1s burst 10", bucket(2, 1, Some(10))),
            ("1 / 5s  burst  5", bucket(1, 5, Some(5))),
            ("2/1s burst", None),
            ("2/1s burst 0", None),
            ("2/1s burst -1", None),
            ("2/1s burst 1.5", None),
            ("2/1s burst ten", None),
            ("2/1s burst 10 20", None),
            ("2/1s 10", None),
            ("2/1sburst 10", None),
            ("burst 10", None),
        ] {
            assert_eq!(limit(text).ok(), want, "{text}");
        }
        assert_eq!(limit("100/m").unwrap_err().mend, "write 1m");
        assert_eq!(limit("2/1s burst 0").unwrap_err().subject.as_deref(), Some("\"0\""));
        assert_eq!(limit("2/1sburst 10").unwrap_err(), Problem::new("is not a limit", LIMIT));
        assert_eq!(
            limit("100/60").unwrap_err(),
            Problem::new("has no unit", "write 60s or 60ms").about("\"60\"")
        );
    }
}
