use crate::problem::Problem;

const FORMS: &str = "write a status such as 429, a class such as 5xx, or a range such as 500-599";

/// `429`, `5xx` or `500-599`, as an inclusive range.
pub(crate) fn status(text: &str) -> Result<(u16, u16), Problem> {
    let text = text.trim();
    let problem = || Problem::new("is no status of HTTP", FORMS).about(format!("{text:?}"));
    let number = |text: &str| text.trim().parse().ok().and_then(|n| status_number(n).ok()).map(|(n, _)| n);
    let lower = text.to_ascii_lowercase();
    if let Some(class) = lower.strip_suffix("xx") {
        let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class)).ok_or_else(problem)?;
        return Ok((class * 100, class * 100 + 99));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok((first, last)),
        _ => Err(problem()),
    }
}

/// A status as a number.
pub(crate) fn status_number(number: i128) -> Result<(u16, u16), Problem> {
    match u16::try_from(number) {
        Ok(status) if (100..=999).contains(&status) => Ok((status, status)),
        _ => Err(Problem::new("is no status of HTTP", FORMS).about(number.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_number_a_class_or_a_range() {
        for (text, want) in [
            ("429", Some((429, 429))),
            ("5xx", Some((500, 599))),
            ("4XX", Some((400, 499))),
            ("500-504", Some((500, 504))),
            ("520 - 524", Some((520, 524))),
            ("504-500", None),
            ("99", None),
            ("1000", None),
            ("6xx", None),
            ("xx", None),
            ("5x", None),
            ("-5", None),
            ("", None),
        ] {
            assert_eq!(status(text).ok(), want, "{text}");
        }
    }
}
