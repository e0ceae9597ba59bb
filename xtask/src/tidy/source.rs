//! A source file as the checks see it: code alone, without comments, texts and tests.

/// A file whose comments, string contents and test items are blanks. Lines stay where they were.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: String,
    pub(super) code: String,
    /// The `name` of each `#[cfg(test)] mod name;`, whose file is a test as a whole.
    test_modules: Vec<String>,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let mut code = without_texts(text);
        let test_modules = blank_tests(&mut code);
        Self { path: path.to_owned(), code: code.into_iter().collect(), test_modules }
    }

    /// Where the files of this one's modules lie.
    fn modules_folder(&self) -> String {
        let (folder, file) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        match file.strip_suffix(".rs") {
            Some("lib" | "main" | "mod") | None => format!("{folder}/"),
            Some(stem) => format!("{folder}/{stem}/"),
        }
    }
}

/// Leaves out the files that only tests compile.
pub(super) fn without_tests(sources: Vec<Source>) -> Vec<Source> {
    let tests: Vec<String> = sources
        .iter()
        .flat_map(|source| {
            source.test_modules.iter().map(|name| format!("{}{name}", source.modules_folder()))
        })
        .collect();
    let of_a_test = |path: &str| {
        tests.iter().any(|module| {
            path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    };
    sources.into_iter().filter(|source| !of_a_test(&source.path)).collect()
}

/// Blanks comments and the contents of string and character literals.
fn without_texts(text: &str) -> Vec<char> {
    let chars: Vec<char> = text.chars().collect();
    let mut code = chars.clone();
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        for char in &mut code[at..end] {
            if *char != '\n' {
                *char = ' ';
            }
        }
        at = end.max(at + 1);
    }
    code
}

/// Where the comment or literal that begins at `at` ends; `at` itself where none begins.
fn literal_end(chars: &[char], at: usize) -> usize {
    let starts =
        |text: &str| text.chars().enumerate().all(|(offset, char)| chars.get(at + offset) == Some(&char));
    let in_a_word = at > 0 && is_word(chars[at - 1]);
    match chars[at] {
        '/' if starts("//") => find(chars, at, |rest| rest[0] == '\n'),
        '/' if starts("/*") => block_comment_end(chars, at),
        '"' => quoted_end(chars, at + 1, '"'),
        '\'' if starts("'\\") => quoted_end(chars, at + 1, '\''),
        '\'' if chars.get(at + 2) == Some(&'\'') => at + 3,
        'r' | 'b' | 'c' if !in_a_word => raw_string_end(chars, at),
        _ => at,
    }
}

fn find(chars: &[char], from: usize, is_end: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len()).find(|&at| is_end(&chars[at..])).unwrap_or(chars.len())
}

fn block_comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match chars[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// `at` lies behind the opening quote.
fn quoted_end(chars: &[char], mut at: usize, quote: char) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            char if char == quote => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// `r"..."`, `br#"..."#` and the like; `at` itself where it is only a name that begins with such a letter.
fn raw_string_end(chars: &[char], at: usize) -> usize {
    let marks = find(chars, at, |rest| !matches!(rest[0], 'r' | 'b' | 'c'));
    if !chars[at..marks].contains(&'r') {
        return at;
    }
    let open = find(chars, marks, |rest| rest[0] != '#');
    if chars.get(open) != Some(&'"') {
        return at;
    }
    let hashes = open - marks;
    let closes = |rest: &[char]| {
        rest[0] == '"' && rest[1..].iter().take(hashes).filter(|&&char| char == '#').count() == hashes
    };
    (find(chars, open + 1, closes) + 1 + hashes).min(chars.len())
}

/// Blanks every item under `#[cfg(test)]` and returns the names of the modules among them that are files.
fn blank_tests(code: &mut [char]) -> Vec<String> {
    let mut modules = Vec::new();
    let mut at = 0;
    while at < code.len() {
        if code[at] != '#' || !is_test_attribute(&code[at..]) {
            at += 1;
            continue;
        }
        let end = item_end(code, at);
        let item: String = code[at..end].iter().collect();
        if let Some(name) = item.split_once("mod ").and_then(|(_, rest)| rest.trim().strip_suffix(';')) {
            modules.push(name.trim().to_owned());
        }
        for char in &mut code[at..end] {
            if *char != '\n' {
                *char = ' ';
            }
        }
        at = end;
    }
    modules
}

fn is_test_attribute(code: &[char]) -> bool {
    let compact: String = code.iter().filter(|char| !char.is_whitespace()).take(16).collect();
    ["#[cfg(test)", "#[cfg(all(test)", "#[cfg(all(test,"].iter().any(|start| compact.starts_with(start))
}

/// The end of an item that begins with an attribute: its `;` or its closing brace.
fn item_end(code: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, char) in code.iter().enumerate().skip(start) {
        match char {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if *char == '}' && depth == 0 {
                    // `use a::{b};` ends behind its brace.
                    let end = find(code, at + 1, |rest| !rest[0].is_whitespace());
                    return if code.get(end) == Some(&';') { end + 1 } else { at + 1 };
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

pub(super) fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_no_code() {
        for (text, kept) in [
            ("a // b", "a"),
            ("a /* b /* c */ d */ e", "a e"),
            (r#"a("b \" c") d"#, "a( ) d"),
            ("a(r#\"b \" c\"#) d", "a( ) d"),
            ("a(br\"b\\\") d", "a( ) d"),
            ("a('\\'') b", "a( ) b"),
            ("a('\"') b", "a( ) b"),
            ("fn a<'b>(c: &'b str) {}", "fn a<'b>(c: &'b str) {}"),
            ("bar(r) cab", "bar(r) cab"),
            ("let r#type = 1;", "let r#type = 1;"),
        ] {
            let code = Source::new("a.rs", text).code;
            let words: Vec<&str> = code.split_whitespace().collect();
            assert_eq!(words.join(" "), kept, "{text}");
        }
    }

    #[test]
    fn lines_stay_where_they_were() {
        let code = Source::new("a.rs", "/* 1\n2 */ \"3\n4\" five").code;
        assert_eq!(code.lines().count(), 3);
        assert!(code.lines().nth(2).unwrap().ends_with("five"));
    }

    #[test]
    fn tests_are_no_code() {
        let text = "\
use a;
#[cfg(test)]
mod tests {
    fn b() { c([1; 2]) }
}
#[cfg(test)]
use d::{e, f};
#[cfg(not(test))]
use g;
#[cfg(all(test, feature = \"x\"))]
#[expect(unused, reason = \"y\")]
fn h() {}
fn i() {}";
        let code = Source::new("a.rs", text).code;
        let words: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(words.join(" "), "use a; #[cfg(not(test))] use g; fn i() {}");
    }

    #[test]
    fn files_of_test_modules_are_left_out() {
        let sources = vec![
            Source::new("c/src/lib.rs", "#[cfg(test)]\nmod harness;\nmod pool;"),
            Source::new("c/src/harness.rs", ""),
            Source::new("c/src/harness/deep.rs", ""),
            Source::new("c/src/pool.rs", "#[cfg(test)] pub(crate) mod tests;"),
            Source::new("c/src/pool/tests.rs", ""),
            Source::new("c/src/pool/tests_of_nothing.rs", ""),
        ];
        let left: Vec<String> = without_tests(sources).into_iter().map(|source| source.path).collect();
        assert_eq!(left, ["c/src/lib.rs", "c/src/pool.rs", "c/src/pool/tests_of_nothing.rs"]);
    }
}
