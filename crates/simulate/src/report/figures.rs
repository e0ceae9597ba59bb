//! Figures as they are written.

/// A ratio near 1.
pub(super) fn ratio(value: f64) -> String {
    number(value, 3)
}

/// Calls: near 1, or many.
pub(super) fn calls(value: f64) -> String {
    number(value, if value < 9.995 { 2 } else { 1 })
}

/// Seconds.
pub(super) fn seconds(value: f64) -> String {
    number(value, 2)
}

/// With a mark where it is not what is wanted.
pub(super) fn marked(text: String, is_missed: bool) -> String {
    if is_missed { text + " !" } else { text }
}

fn number(value: f64, places: usize) -> String {
    if value.is_finite() { format!("{value:.places$}") } else { "-".to_owned() }
}
