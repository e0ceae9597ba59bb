//! A value that is never printed.

use std::fmt;

/// A secret of the settings: a token, a key, a URL with a password in it.
///
/// It has no `Display` and no `Serialize`, and its `Debug` shows nothing of the value, so that neither a log line
/// nor a panic message can carry it. [`expose`](Secret::expose) is the one way to the text, and easy to search for.
///
/// ```
/// use tidegate_config::Secret;
///
/// let key = Secret::new("hunter2");
/// assert_eq!(format!("{key:?}"), "Secret(hidden)");
/// assert_eq!(key.expose(), "hunter2");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Secret(String);

impl Secret {
    /// Hides `value`.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The text itself. Whoever calls this must not print it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_of_itself_not_even_its_length() {
        for text in ["", "a", "zq81secretAlpha"] {
            assert_eq!(
                format!("{:?} {:#?}", Secret::new(text), Some(Secret::from(text))).matches(text).count() > 0,
                text.is_empty(),
                "{text}"
            );
        }
    }
}
