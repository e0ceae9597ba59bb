//! Tokens as the settings hold them, and the file that lists them.

use std::{
    collections::{HashMap, HashSet},
    num::NonZeroU32,
};

use crate::secret::Secret;

/// One token of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenEntry {
    /// The token itself.
    pub value: Secret,
    /// How logs and metrics name it: letters, digits, `_`, `-` and `.`, at most 64.
    pub name: Option<String>,
    /// How often it is chosen against the others; 1 unless said, at most 1000.
    pub weight: NonZeroU32,
    /// What it shares with others, such as an account.
    pub group: Option<String>,
}

impl TokenEntry {
    /// A token without a name, of weight 1.
    pub fn new(value: impl Into<Secret>) -> Self {
        Self { value: value.into(), name: None, weight: NonZeroU32::MIN, group: None }
    }
}

/// What is wrong with a line of a token file. It holds nothing of the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}; {mend}")]
pub struct TokenFileFault {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub mend: &'static str,
}

/// Reads a token file: one token a line, as `value` or `name=value`, then `weight=3` and `group=org1` if wanted. What
/// begins with `#`, at a line's begin or after a blank, is a comment. A text whose only `=` stand at its end is a
/// value (Base64 ends so).
///
/// A token that stands there twice is there once, as it stands first.
///
/// # Errors
///
/// Every faulty line, in order.
///
/// ```
/// let text = "# two accounts\nfirst=abc123 weight=3\nZm9vYmE= group=org1\n";
/// let tokens = tidegate_config::parse_token_file(text).unwrap();
/// assert_eq!(tokens[0].name.as_deref(), Some("first"));
/// assert_eq!((tokens[1].value.expose(), tokens[1].group.as_deref()), ("Zm9vYmE=", Some("org1")));
/// ```
pub fn parse_token_file(text: &str) -> Result<Vec<TokenEntry>, Vec<TokenFileFault>> {
    let mut values = HashSet::new();
    let tokens = parse_lines(text)?.into_iter().map(|(_, token)| token);
    Ok(tokens.filter(|token| values.insert(token.value.clone())).collect())
}

/// The same, each token with its line, and those that stand there again.
pub(crate) fn parse_lines(text: &str) -> Result<Vec<(usize, TokenEntry)>, Vec<TokenFileFault>> {
    let (mut tokens, mut faults) = (Vec::new(), Vec::new());
    let (mut values, mut names) = (HashSet::new(), HashMap::new());
    for (n, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line_number = n + 1;
        let mut fault = |what: String, mend| faults.push(TokenFileFault { line: line_number, what, mend });
        match parse_line(line) {
            Ok(None) => {}
            Err((what, mend)) => fault(what.to_owned(), mend),
            Ok(Some(token)) => {
                if !values.insert(token.value.clone()) {
                    tokens.push((line_number, token));
                    continue;
                }
                let earlier = token.name.clone().and_then(|name| names.insert(name, line_number));
                match earlier {
                    Some(line) => {
                        fault(format!("it has the name of line {line}"), "give each token its own name");
                    }
                    None => tokens.push((line_number, token)),
                }
            }
        }
    }
    if faults.is_empty() { Ok(tokens) } else { Err(faults) }
}

fn parse_line(line: &str) -> Result<Option<TokenEntry>, (&'static str, &'static str)> {
    const NAME: &str = "a name has letters, digits, _, - and ., at most 64 of them";
    let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
    let Some(first) = words.next() else { return Ok(None) };
    let (name, value) = match first.split_once('=') {
        // Only what has an `=` before its closing ones has a name.
        Some((name, value)) if first.trim_end_matches('=').contains('=') => (Some(name), value),
        _ => (None, first),
    };
    if name.is_some_and(|name| !is_name(name)) {
        return Err(("its name is none", NAME));
    }
    if value.contains(char::is_control) {
        return Err(("it holds a control character", "write one token a line"));
    }
    let (mut weight, mut group) = (None, None);
    for word in words {
        match word.split_once('=') {
            Some(("weight", _)) if weight.is_some() => return Err(("it has two weights", "write one")),
            Some(("weight", text)) => {
                let number = text.parse::<NonZeroU32>().ok().filter(|weight| weight.get() <= 1000);
                weight = Some(number.ok_or(("its weight is no number from 1 to 1000", "write weight=3"))?);
            }
            Some(("group", _)) if group.is_some() => return Err(("it has two groups", "write one")),
            Some(("group", text)) if is_name(text) => group = Some(text.to_owned()),
            Some(("group", _)) => return Err(("its group's name is none", NAME)),
            _ => {
                return Err((
                    "something else than weight and group follows the token",
                    "write VALUE weight=3 group=NAME",
                ));
            }
        }
    }
    let weight = weight.unwrap_or(NonZeroU32::MIN);
    Ok(Some(TokenEntry { value: value.into(), name: name.map(str::to_owned), weight, group }))
}

/// Whether it can name a token, a group, a client or a pool: it goes into logs and metrics as it is.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_a_value_perhaps_with_a_name_a_weight_and_a_group() {
        for (line, value, name, weight, group) in [
            ("abc", "abc", None, 1, None),
            ("  abc  ", "abc", None, 1, None),
            ("abc\r", "abc", None, 1, None),
            ("abc==", "abc==", None, 1, None),
            ("first=abc", "abc", Some("first"), 1, None),
            ("first=abc==", "abc==", Some("first"), 1, None),
            ("first=a=b", "a=b", Some("first"), 1, None),
            ("abc weight=3", "abc", None, 3, None),
            ("abc\tgroup=org1   weight=2", "abc", None, 2, Some("org1")),
            ("abc # a comment = here", "abc", None, 1, None),
            ("a#b", "a#b", None, 1, None),
            ("\u{feff}abc", "abc", None, 1, None),
            ("fir$t,x", "fir$t,x", None, 1, None),
        ] {
            let tokens = parse_token_file(line).unwrap();
            let token = &tokens[0];
            let found =
                (token.value.expose(), token.name.as_deref(), token.weight.get(), token.group.as_deref());
            assert_eq!(found, (value, name, weight, group), "{line:?}");
        }
        assert!(parse_token_file("\n# none\n   # here\n").unwrap().is_empty());
    }

    #[test]
    fn every_faulty_line_is_told_without_its_text() {
        let text = "good\n=zq1\na/b=zq2\nzq3 weight=0\nzq4 weight=x\nzq5 wieght=3\nzq6 group=\nzq7 zq8\nn=zq9\nn=zq10\nzq11\u{7}\nzq12 weight=1001\nzq13 weight=3 weight=4\nzq14 group=a weight=2 group=a\n";
        let faults = parse_token_file(text).unwrap_err();
        assert_eq!(
            faults.iter().map(|fault| fault.line).collect::<Vec<_>>(),
            [2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14]
        );
        let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
        assert!(!told.join("\n").contains("zq"), "{told:#?}");
        assert_eq!(told[10], "line 13: it has two weights; write one");
        assert_eq!(told[11], "line 14: it has two groups; write one");
        assert_eq!(told[7], "line 10: it has the name of line 9; give each token its own name");
    }

    #[test]
    fn a_token_that_stands_there_twice_is_there_once() {
        let tokens = parse_token_file("a weight=2\nb\na\nname=a\n").unwrap();
        assert_eq!((tokens.len(), tokens[0].weight.get()), (2, 2));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([a-z=# \t\n]|weight=|group=|.){0,60}") {
            let _ = parse_token_file(&text);
        }
    }
}
