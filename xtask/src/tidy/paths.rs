//! The paths that code names, `use` groups written out.

use super::source::is_word;

/// `a::b::c` as it stands in the code; a single name is a path too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) line: usize,
    pub(super) text: String,
    /// It stands behind `use` or `extern crate`: there even a single name is a crate's.
    pub(super) imported: bool,
}

impl Path {
    pub(super) fn segments(&self) -> impl Iterator<Item = &str> {
        self.text.split("::")
    }

    /// Whether it is `prefix` or lies in it. A single name counts only where it is imported: elsewhere it may be a
    /// function's or a variable's.
    pub(super) fn is_in(&self, prefix: &str) -> bool {
        match self.text.strip_prefix(prefix) {
            Some("") => self.imported || prefix.contains("::"),
            Some(rest) => rest.starts_with("::"),
            None => false,
        }
    }

    /// Whether its last segments are those of `suffix`.
    pub(super) fn ends_in(&self, suffix: &str) -> bool {
        self.text.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Separator,
    Other(char),
}

/// All paths of `code`, which has no comments and no texts.
pub(super) fn paths(code: &str) -> Vec<Path> {
    let tokens = tokens(code);
    let mut reader = Reader { tokens: &tokens, at: 0, found: Vec::new(), imported: false };
    reader.read();
    reader.found
}

fn tokens(code: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let (token, length) = if is_word(first) {
                let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
                (Token::Word(&rest[..end]), end)
            } else if rest.starts_with("::") {
                (Token::Separator, 2)
            } else {
                (Token::Other(first), first.len_utf8())
            };
            if token != Token::Other(' ') {
                tokens.push((index + 1, token));
            }
            rest = &rest[length..];
        }
    }
    tokens
}

struct Reader<'a> {
    tokens: &'a [(usize, Token<'a>)],
    at: usize,
    found: Vec<Path>,
    imported: bool,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(&(_, token)) = self.tokens.get(self.at) {
            match token {
                Token::Word("use") => (self.imported, self.at) = (true, self.at + 1),
                Token::Word("crate")
                    if self.at > 0 && self.tokens[self.at - 1].1 == Token::Word("extern") =>
                {
                    (self.imported, self.at) = (true, self.at + 1);
                }
                Token::Word(_) => self.path(""),
                // `<T as Trait>::name` and `Vec::<u8>::new`: no path begins behind it.
                Token::Separator if self.at > 0 && self.tokens[self.at - 1].1 == Token::Other('>') => {
                    self.at += 2;
                }
                Token::Other(';') => (self.imported, self.at) = (false, self.at + 1),
                Token::Separator | Token::Other(_) => self.at += 1,
            }
        }
    }

    /// Reads one path, or a group's, behind `prefix`.
    fn path(&mut self, prefix: &str) {
        let mut text = prefix.to_owned();
        let mut line = 0;
        while let Some(&(at_line, token)) = self.tokens.get(self.at) {
            match token {
                Token::Word(word) => {
                    // `{self}` in a group is the group's own path.
                    if word != "self" || text.is_empty() {
                        text.push_str(if text.is_empty() { "" } else { "::" });
                        text.push_str(word);
                    }
                    line = at_line;
                }
                Token::Other('{') => return self.group(&text),
                Token::Other('*') => {
                    text.push_str("::*");
                    line = at_line;
                }
                _ => break,
            }
            self.at += 1;
            match self.tokens.get(self.at..).unwrap_or_default() {
                [(_, Token::Separator), (_, Token::Word(_) | Token::Other('{' | '*')), ..] => self.at += 1,
                _ => break,
            }
        }
        self.found.push(Path { line, text, imported: self.imported });
    }

    fn group(&mut self, prefix: &str) {
        self.at += 1;
        while let Some(&(_, token)) = self.tokens.get(self.at) {
            match token {
                Token::Other('}') => {
                    self.at += 1;
                    return;
                }
                // The new name of `name as other` says nothing.
                Token::Word("as") => self.at += 2,
                Token::Word(_) | Token::Other('*') => self.path(prefix),
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_written_out() {
        for (code, expected) in [
            ("use a::b;", &["a::b"][..]),
            ("use a::{b, c::{self, d as e}, f::*};", &["a::b", "a::c", "a::c::d", "a::f::*"]),
            ("extern crate a;", &["extern", "a"]),
            ("::a::b()", &["a::b"]),
            ("let x = a::b(c);", &["let", "x", "a::b", "c"]),
            ("Vec::<a::b>::new()", &["Vec", "a::b"]),
            ("<a as b::C>::now()", &["a", "as", "b::C"]),
            ("x.a.await", &["x", "a", "await"]),
            ("a!{b}", &["a", "b"]),
        ] {
            let found: Vec<String> = paths(code).into_iter().map(|path| path.text).collect();
            assert_eq!(found, expected, "{code}");
        }
    }

    #[test]
    fn a_path_knows_its_line() {
        let found = paths("use a::{\n    b,\n    c,\n};\nd");
        let lines: Vec<usize> = found.iter().map(|path| path.line).collect();
        assert_eq!(lines, [2, 3, 5]);
    }

    #[test]
    fn a_single_name_is_a_crate_only_where_it_is_imported() {
        for (code, crate_named) in [
            ("use a;", true),
            ("a::b()", true),
            ("use a::b;", true),
            ("extern crate a;", true),
            ("fn a() {}", false),
            ("x.a()", false),
            ("c::a::b()", false),
            ("use b; a()", false),
            ("ab::c()", false),
        ] {
            assert_eq!(paths(code).iter().any(|path| path.is_in("a")), crate_named, "{code}");
        }
    }
}
