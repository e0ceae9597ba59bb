//! `.env` as PixivFE's users write it, read by dotenvy.
//!
//! There a value is the rest of its line: trimmed, matching quotes taken off, nothing expanded, so that `a, b`, `a$b`
//! and `a # b` are literal. dotenvy reads a richer language: it expands `$`, refuses blanks, cuts comments and joins
//! lines. So each value is written in dotenvy's own quotes before dotenvy sees it. dotenvy's errors print the line,
//! which may hold a secret, and are dropped for our own.

/// A variable that a `.env` file sets.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) line: usize,
}

/// The variables of a `.env` file in their order, and the lines that are none.
pub(crate) struct DotEnv {
    pub(crate) variables: Vec<Variable>,
    /// Each line that cannot be read, and what is wrong with it, without its text.
    pub(crate) faults: Vec<(usize, &'static str)>,
}

/// Reads the bytes of a `.env` file.
pub(crate) fn parse(bytes: &[u8]) -> DotEnv {
    let mut found = DotEnv { variables: Vec::new(), faults: Vec::new() };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for (n, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        match std::str::from_utf8(line).map_err(|_| "is not UTF-8").and_then(parse_line) {
            Ok(Some((name, value))) => found.variables.push(Variable { name, value, line: n + 1 }),
            Ok(None) => {}
            Err(what) => found.faults.push((n + 1, what)),
        }
    }
    found
}

fn parse_line(line: &str) -> Result<Option<(String, String)>, &'static str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with(char::is_whitespace) && !rest.trim_start().starts_with('=') => {
            rest.trim_start()
        }
        _ => line,
    };
    let (name, value) = line.split_once('=').ok_or("is not NAME=value")?;
    let name = name.trim_end();
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !first || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.') {
        // Another program's, such as `my-name=x`: no name that is looked for here can look like it.
        return if name.is_empty() || name.contains(char::is_whitespace) {
            Err("is not NAME=value")
        } else {
            Ok(None)
        };
    }
    let line = format!("{name}={}\n", quote(unquoted(value.trim())));
    match dotenvy::from_read_iter(line.as_bytes()).next() {
        Some(Ok(variable)) => Ok(Some(variable)),
        Some(Err(_)) | None => Err("cannot be read"),
    }
}

/// The value without the quotes around it, if they match.
fn unquoted(value: &str) -> &str {
    ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(value)
}

/// The value in dotenvy's double quotes, with all that means something in them escaped.
fn quote(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for c in value.chars() {
        if matches!(c, '"' | '\\' | '$') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Vec<(String, usize)> {
        parse(text.as_bytes()).variables.into_iter().map(|variable| (variable.value, variable.line)).collect()
    }

    #[test]
    fn a_value_is_the_rest_of_its_line() {
        for (line, value) in [
            ("A=plain", "plain"),
            ("A = spaced ", "spaced"),
            ("A=fir$t, second", "fir$t, second"),
            ("A=${HOME}/$USER", "${HOME}/$USER"),
            ("A=a # no comment", "a # no comment"),
            ("A=a#b", "a#b"),
            ("A=#", "#"),
            ("A=", ""),
            ("A=\"in quotes\"", "in quotes"),
            ("A='in quotes'", "in quotes"),
            ("A=\" kept \"", " kept "),
            ("A=\"\"", ""),
            ("A=\"", "\""),
            ("A=\"one", "\"one"),
            ("A=one\"", "one\""),
            ("A=\"one'", "\"one'"),
            ("A=\"a\" # b", "\"a\" # b"),
            ("A=a\\nb\\", "a\\nb\\"),
            ("A='it''s'", "it''s"),
            ("A=a=b==", "a=b=="),
            ("export A=x", "x"),
            ("  export\tA = x", "x"),
            ("export=x", "x"),
            ("export =x", "x"),
            ("A=秘密 ключ", "秘密 ключ"),
            ("\u{feff}A=after a mark", "after a mark"),
            ("A=windows\r", "windows"),
        ] {
            assert_eq!(values(line), [(value.to_owned(), 1)], "{line:?}");
        }
    }

    #[test]
    fn lines_are_counted_and_comments_are_none() {
        let text = "# one\r\n\r\nA=1\r\n  # four\nB=\"2\nC=3";
        assert_eq!(values(text), [("1".into(), 3), ("\"2".into(), 5), ("3".into(), 6)]);
    }

    #[test]
    fn a_line_that_is_no_variable_is_told_without_its_text() {
        let found = parse(b"A=1\nno equals sign\n=x\nmy-name=x\nB C=2\nD=\xff\nE=5\n");
        assert_eq!(found.variables.len(), 2);
        assert_eq!(
            found.faults,
            [
                (2, "is not NAME=value"),
                (3, "is not NAME=value"),
                (5, "is not NAME=value"),
                (6, "is not UTF-8")
            ]
        );
    }

    proptest! {
        /// What one writes comes back byte for byte, in quotes or, where there is nothing to trim, without.
        #[test]
        fn what_one_writes_comes_back(value in "[^\n]{0,40}", name in "[A-Z_][A-Z0-9_]{0,8}") {
            for text in [format!("{name}=\"{value}\""), format!("{name}='{value}'\n"), format!("export {name} = '{value}'\r\n")] {
                prop_assert_eq!(values(&text), vec![(value.clone(), 1)], "{:?}", text);
            }
            if value.trim() == value && unquoted(&value) == value {
                prop_assert_eq!(values(&format!("{name}={value}")), vec![(value.clone(), 1)]);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
