use std::time::Duration;

use crate::{
    duration::{DurationError, parse_duration},
    problem::Problem,
    settings::MaxRest,
};

/// A duration from nought to what Go's have room for.
pub(crate) fn duration(text: &str) -> Result<Duration, Problem> {
    parse_duration(text).map_err(|error| Problem::new(error.to_string(), mend(text, &error)))
}

/// A duration, or `max`.
pub(crate) fn max_rest(text: &str) -> Result<MaxRest, Problem> {
    if text.eq_ignore_ascii_case("max") {
        return Ok(MaxRest::Max);
    }
    duration(text).map(MaxRest::Length).map_err(|problem| {
        let mend = format!("{}, or max for the value of token.max", problem.mend);
        Problem { mend, ..problem }
    })
}

fn mend(text: &str, error: &DurationError) -> String {
    const EXAMPLE: &str = "write one such as 500ms, 10s, 1m30s or 1h";
    match error {
        DurationError::NoUnit => match text.parse::<u64>() {
            Ok(n) if n >= 1000 && n % 1000 == 0 => format!("write {n}ms or {}s", n / 1000),
            Ok(n) => format!("write {n}s or {n}ms"),
            Err(_) => EXAMPLE.to_owned(),
        },
        DurationError::UnknownUnit(_) => {
            "the units are ns, us, ms, s, m and h, in lower case and without blanks".to_owned()
        }
        DurationError::Negative => "write one from 0 up".to_owned(),
        DurationError::TooLong => "write a shorter one".to_owned(),
        DurationError::Empty | DurationError::Malformed => EXAMPLE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_without_a_unit_is_told_what_to_write() {
        for (text, what, mend) in [
            ("1000", "has no unit", "write 1000ms or 1s"),
            ("5", "has no unit", "write 5s or 5ms"),
            ("1m30", "has no unit", "write one such as 500ms, 10s, 1m30s or 1h"),
            (
                "1d",
                "has a unit that does not exist: \"d\"",
                "the units are ns, us, ms, s, m and h, in lower case and without blanks",
            ),
            ("-1s", "is negative", "write one from 0 up"),
            ("soon", "is not a duration", "write one such as 500ms, 10s, 1m30s or 1h"),
            ("293000000h", "is longer than 292 years", "write a shorter one"),
        ] {
            assert_eq!(duration(text), Err(Problem::new(what, mend)), "{text}");
        }
    }

    #[test]
    fn the_longest_rest_may_be_the_longest_cool_down() {
        for text in ["max", "MAX"] {
            assert_eq!(max_rest(text), Ok(MaxRest::Max), "{text}");
        }
        assert_eq!(max_rest("36h"), Ok(MaxRest::Length(Duration::from_secs(129_600))));
        for (text, mend) in [
            ("7", "write 7s or 7ms, or max for the value of token.max"),
            ("", "write one such as 500ms, 10s, 1m30s or 1h, or max for the value of token.max"),
        ] {
            assert_eq!(max_rest(text).unwrap_err().mend, mend, "{text}");
        }
    }
}
