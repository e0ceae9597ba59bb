//! What a parser has against a text, before anyone knows where the text stood.

/// What is wrong with a value, as the end of a sentence that begins with the value, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What is meant, where it is not the whole value.
    pub(crate) subject: Option<String>,
    pub(crate) what: String,
    pub(crate) mend: String,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { subject: None, what: what.into(), mend: mend.into() }
    }

    /// The same about a part of the value.
    pub(crate) fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }
}

/// What may be said of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// All.
    Open,
    /// A URL: all but a user, a password and a query.
    Url,
    /// Nothing.
    Secret,
    /// Nothing but how many there are, with the word for one.
    Counted(&'static str),
}

/// The value in quotes, for a message: escaped, and cut where it is long.
pub(crate) fn quoted(value: &str) -> String {
    const LONGEST: usize = 80;
    match value.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{:?}...", &value[..cut]),
        None => format!("{value:?}"),
    }
}

/// A URL without what may be secret in it: everything before the last `@`, and a query.
pub(crate) fn shown_url(url: &str) -> String {
    // The last `@`, for a password may hold `/`, `?`, `#` or `@` that nobody escaped.
    let (start, rest) = match url.rfind('@') {
        None => (String::new(), url),
        Some(at) => {
            let scheme = url[..at].find("://").map_or("", |end| &url[..end + 3]);
            (format!("{scheme}***@"), &url[at + 1..])
        }
    };
    match rest.find(['?', '#']) {
        None => format!("{start}{rest}"),
        Some(query) => format!("{start}{}{}***", &rest[..query], &rest[query..=query]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        for (url, shown) in [
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            ("http://user:pass@proxy:3128", "http://***@proxy:3128"),
            ("redis://:p/w?x#y@z@host:6379/0", "redis://***@host:6379/0"),
            ("https://host/?key=abc", "https://host/?***"),
            ("user:pass@host", "***@host"),
            ("https://host/#frag", "https://host/#***"),
            ("", ""),
        ] {
            assert_eq!(shown_url(url), shown, "{url}");
        }
    }

    #[test]
    fn a_value_is_quoted_in_one_short_line() {
        assert_eq!(quoted("a\nb\t\u{1b}[31m"), r#""a\nb\t\u{1b}[31m""#);
        assert_eq!(quoted(&"é".repeat(81)), format!("\"{}\"...", "é".repeat(80)));
    }
}
