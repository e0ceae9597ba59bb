use crate::problem::Problem;

/// A whole number from `MIN` to `MAX`.
pub(crate) fn count<const MIN: u32, const MAX: u32>(text: &str) -> Result<u32, Problem> {
    let range = || format!("write a whole number from {MIN} to {MAX}");
    let digits = text.strip_prefix('+').unwrap_or(text);
    let negative = text
        .strip_prefix('-')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    if negative {
        return Err(Problem::new("is negative", range()));
    }
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Problem::new("is not a whole number", range()));
    }
    match digits.parse::<u32>() {
        Ok(n) if n < MIN => Err(Problem::new("is too small", range())),
        Ok(n) if n <= MAX => Ok(n),
        Ok(_) | Err(_) => Err(Problem::new("is too large", range())),
    }
}

/// `true` or `false`, in the forms that Go's `ParseBool` takes, and yes, no, on, off.
pub(crate) fn flag(text: &str) -> Result<bool, Problem> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" | "on" => Ok(true),
        "false" | "f" | "0" | "no" | "off" => Ok(false),
        _ => Err(Problem::new("is neither true nor false", "write true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_range_is_told_the_range() {
        for (text, what) in [
            ("-1", "is negative"),
            ("-99999999999999999999", "is negative"),
            ("0", "is too small"),
            ("101", "is too large"),
            ("99999999999999999999", "is too large"),
            ("", "is not a whole number"),
            ("-", "is not a whole number"),
            ("+", "is not a whole number"),
            ("1.5", "is not a whole number"),
            ("1e3", "is not a whole number"),
            ("٣", "is not a whole number"),
            (" 1", "is not a whole number"),
        ] {
            assert_eq!(
                count::<1, 100>(text),
                Err(Problem::new(what, "write a whole number from 1 to 100")),
                "{text}"
            );
        }
        assert_eq!(count::<1, 100>("+007"), Ok(7));
        assert_eq!(count::<0, { u32::MAX }>("4294967295"), Ok(u32::MAX));
    }
}
