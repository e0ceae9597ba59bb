//! Sizes in bytes: `10MiB`, `1MB`, `64k`, `4096`.

use crate::problem::Problem;

/// A size from `MIN` to `MAX` bytes.
///
/// As GNU's tools have it: `k`, `M`, `G`, `T` and `KiB`, `MiB`, ... are powers of 1024, `kB`, `MB`, ... powers of
/// 1000; upper or lower case, a fraction if it comes to whole bytes or more, cut off below.
pub(crate) fn within<const MIN: u64, const MAX: u64>(text: &str) -> Result<u64, Problem> {
    let size = parse(text)?;
    if size < MIN {
        return Err(Problem::new("is too small", format!("the least is {}", show(MIN))));
    }
    if size > MAX {
        return Err(Problem::new("is too large", format!("the most is {}", show(MAX))));
    }
    Ok(size)
}

fn parse(text: &str) -> Result<u64, Problem> {
    let malformed = || Problem::new("is not a size", "write bytes, such as 10MiB, 1MB, 64k or 4096");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start().to_ascii_lowercase());
    let multiple: u64 = match unit.as_str() {
        "" | "b" => 1,
        "k" | "ki" | "kib" => 1 << 10,
        "m" | "mi" | "mib" => 1 << 20,
        "g" | "gi" | "gib" => 1 << 30,
        "t" | "ti" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ if number.is_empty() => return Err(malformed()),
        _ => {
            return Err(Problem::new(
                "has a unit that does not exist",
                "write k, M, G, KiB, MiB, GiB, kB, MB or GB",
            ));
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(malformed());
    }
    let too_large = || Problem::new("is too large", "write a smaller size");
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    let bytes = whole.checked_mul(u128::from(multiple)).ok_or_else(too_large)?;
    // Twelve places are finer than a byte of a terabyte.
    let fraction = &fraction[..fraction.len().min(12)];
    let part = match fraction.parse::<u128>() {
        Ok(value) => value * u128::from(multiple) / 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(12)),
        Err(_) => 0,
    };
    bytes.checked_add(part).and_then(|bytes| u64::try_from(bytes).ok()).ok_or_else(too_large)
}

/// The size in the largest unit that keeps it whole.
pub(crate) fn show(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| bytes >= *unit && bytes % unit == 0) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, want) in [
            ("0", Some(0)),
            ("4096", Some(4096)),
            ("4096B", Some(4096)),
            ("64k", Some(65536)),
            ("64K", Some(65536)),
            ("64KiB", Some(65536)),
            ("64kB", Some(64000)),
            ("1MB", Some(1_000_000)),
            ("10MiB", Some(10 << 20)),
            ("10 MiB", Some(10 << 20)),
            ("1.5MiB", Some(3 << 19)),
            (".5k", Some(512)),
            ("1G", Some(1 << 30)),
            ("2TiB", Some(2 << 40)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("99999999999999999999999999999999999999999999", None),
            ("16777216TiB", None),
            ("", None),
            ("MiB", None),
            ("-1", None),
            ("1.2.3k", None),
            (".", None),
            ("1MiBs", None),
            ("1e6", None),
            ("٣k", None),
        ] {
            assert_eq!(parse(text).ok(), want, "{text}");
        }
    }

    #[test]
    fn a_size_out_of_range_is_told_the_bound() {
        for (text, mend) in [("0", "the least is 1KiB"), ("11MiB", "the most is 10MiB")] {
            assert_eq!(within::<1024, { 10 << 20 }>(text).unwrap_err().mend, mend, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[0-9.kMGTiBb ]{0,40}|.{0,12}") {
            let _ = parse(&text);
        }
    }
}
