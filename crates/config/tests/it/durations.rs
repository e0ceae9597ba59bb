use std::time::Duration;

use tidegate_config::{DurationError, parse_duration};

/// `golden/durations.csv` is what Go's `time.ParseDuration` makes of each text.
const GOLDEN: &str = include_str!("../golden/durations.csv");

/// The file's rows: CSV with quotes where a text has blanks, commas or a line break in it.
fn rows() -> Vec<(String, String)> {
    let (mut rows, mut row, mut field, mut in_quotes) = (Vec::new(), Vec::new(), String::new(), false);
    for c in GOLDEN.chars() {
        match c {
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => row.push(std::mem::take(&mut field)),
            '\n' if !in_quotes => {
                row.push(std::mem::take(&mut field));
                rows.push((row[0].clone(), row[1].clone()));
                row.clear();
            }
            c => field.push(c),
        }
    }
    rows
}

#[test]
fn durations_are_gos_but_for_negative_ones() {
    let rows = rows();
    assert!(rows.len() > 70, "{} rows", rows.len());
    for (text, want) in rows.iter().skip(1) {
        let found = parse_duration(text);
        match want.parse::<i64>() {
            Err(_) => assert!(found.is_err() && found != Err(DurationError::Negative), "{text:?}: {found:?}"),
            Ok(nanos) if nanos < 0 => assert_eq!(found, Err(DurationError::Negative), "{text:?}"),
            Ok(nanos) => assert_eq!(found, Ok(Duration::from_nanos(nanos.unsigned_abs())), "{text:?}"),
        }
    }
}
