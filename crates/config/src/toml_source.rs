//! A TOML file as a tree whose every key and value knows its line.

use std::path::PathBuf;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// A TOML file.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) root: Table,
}

/// A table, in the file's order.
pub(crate) type Table = Vec<(String, Item)>;

/// A value, and the line of its key (of itself, in an array).
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) node: Node,
    pub(crate) line: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Boolean(bool),
    /// Its value, and how it was written: `0o660` where the base matters.
    Integer(i128, String),
    Float,
    Text(String),
    Moment,
    Array(Vec<Item>),
    Table(Table),
}

impl Node {
    /// What it is, for a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Boolean(_) => "a boolean",
            Self::Integer(..) => "an integer",
            Self::Float => "a float",
            Self::Text(_) => "a string",
            Self::Moment => "a date or time",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }
}

/// The value under `key`.
pub(crate) fn get<'a>(table: &'a Table, key: &str) -> Option<&'a Item> {
    table.iter().find(|(name, _)| name == key).map(|(_, item)| item)
}

/// Reads a TOML text.
///
/// # Errors
///
/// Every place where it is no TOML: its line, and what was expected. No text of the file is repeated.
pub(crate) fn parse(path: PathBuf, text: &str) -> Result<Document, Vec<(usize, String)>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut told: Vec<_> = errors
            .iter()
            .map(|error| (error.span().map_or(0, |span| lines.of(span.start)), message(error)))
            .collect();
        told.dedup();
        return Err(told);
    }
    Ok(Document { path, root: lines.table(table.into_inner()) })
}

/// The first line of the parser's own message; its `Display` would show the file's line.
fn message(error: &toml::de::Error) -> String {
    error.message().lines().next().unwrap_or_default().to_owned()
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn of(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at) + 1
    }

    fn table(&self, table: DeTable<'_>) -> Table {
        let mut table: Vec<_> = table.into_iter().collect();
        // The parser sorts keys; people read faults in the order of their file.
        table.sort_by_key(|(key, _)| key.span().start);
        table
            .into_iter()
            .map(|(key, value)| {
                let line = self.of(key.span().start);
                (key.into_inner().into_owned(), Item { node: self.node(value.into_inner()), line })
            })
            .collect()
    }

    fn node(&self, value: DeValue<'_>) -> Node {
        match value {
            DeValue::Boolean(value) => Node::Boolean(value),
            // The parser has checked it; what passes 127 bits is past every bound here too.
            DeValue::Integer(value) => {
                let number = i128::from_str_radix(value.as_str(), value.radix()).unwrap_or(i128::MAX);
                Node::Integer(number, value.to_string())
            }
            DeValue::Float(_) => Node::Float,
            DeValue::String(value) => Node::Text(value.into_owned()),
            DeValue::Datetime(_) => Node::Moment,
            DeValue::Table(table) => Node::Table(self.table(table)),
            DeValue::Array(items) => Node::Array(items.into_iter().map(|item| self.item(item)).collect()),
        }
    }

    fn item(&self, item: Spanned<DeValue<'_>>) -> Item {
        let line = self.of(item.span().start);
        Item { node: self.node(item.into_inner()), line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        fn walk(table: &Table, at: &str, out: &mut Vec<String>) {
            for (key, item) in table {
                out.push(format!("{at}{key}:{} {}", item.line, item.node.kind()));
                match &item.node {
                    Node::Table(table) => walk(table, &format!("{at}{key}."), out),
                    Node::Array(items) => {
                        for item in items {
                            out.push(format!("{at}{key}[]:{} {}", item.line, item.node.kind()));
                            if let Node::Table(table) = &item.node {
                                walk(table, &format!("{at}{key}[]."), out);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut out = Vec::new();
        walk(&parse("t.toml".into(), text).unwrap().root, "", &mut out);
        out
    }

    #[test]
    fn every_key_and_value_knows_its_line() {
        let text = "a = 1\n\n[b]\nc.d = \"x\"\nlong = \"\"\"\none\ntwo\"\"\"\nafter = [\n  true,\n  1.5,\n]\n[[r]]\nwhen = 1979-05-27\n[[r]]\ne = { f = 1 }\n";
        let mut found = lines(text);
        found.sort();
        let mut want = [
            "a:1 an integer",
            "b:3 a table",
            "b.c:4 a table",
            "b.c.d:4 a string",
            "b.long:5 a string",
            "b.after:8 an array",
            "b.after[]:9 a boolean",
            "b.after[]:10 a float",
            "r:12 an array",
            "r[]:12 a table",
            "r[].when:13 a date or time",
            "r[]:14 a table",
            "r[].e:15 a table",
            "r[].e.f:15 an integer",
        ];
        want.sort_unstable();
        assert_eq!(found, want);
    }

    #[test]
    fn every_place_that_is_no_toml_is_told_without_its_text() {
        let errors = parse("t.toml".into(), "a = zq81secret\nb = 2\nc = \"zq82\nd = 1\nd = 2\n").unwrap_err();
        let told = format!("{errors:?}");
        assert_eq!(errors.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 5], "{told}");
        assert!(!told.contains("zq8"), "{told}");
    }
}
