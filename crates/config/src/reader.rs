//! Looks settings up in the layers, parses them, and keeps the books: faults, notices, and where each value came from.

use std::path::Path;

use crate::{
    Purpose,
    catalogue::{Default as Fallback, Entry},
    decode::{parse_item, parse_text, sentence},
    fault::{Fault, Notice, Source},
    layers::Layers,
    loaded::Row,
    preset::Preset,
    toml_source::{self, Item, Node, Table},
};

/// One setting, read. Without a value where nobody set it and it has no default, or where it is faulty.
pub(crate) struct Read<T> {
    pub(crate) value: Option<T>,
    /// As it was written, or as one would write it.
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) faulty: bool,
}

impl<T> Read<T> {
    /// Whether somebody said so, and not a default.
    pub(crate) fn is_set(&self) -> bool {
        !matches!(self.source, Source::Default | Source::Preset(_))
    }

    /// The value. What stands for a faulty one is never seen: a fault is told instead of the settings.
    pub(crate) fn get(self) -> T
    where
        T: Default,
    {
        self.value.unwrap_or_default()
    }

    /// The same setting with what its value comes to.
    pub(crate) fn with<U>(self, value: Option<U>) -> Read<U> {
        Read { value, name: self.name, source: self.source, faulty: self.faulty }
    }

    /// Where it stands, for a fault.
    pub(crate) fn at(&self) -> Option<Source> {
        Some(self.source.clone())
    }
}

/// Where a setting is looked up.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// In all layers.
    Main,
    /// In one table of the TOML file, by the last part of its path.
    Table(&'a TableScope<'a>),
}

/// A table of the TOML file that is one of many: a pool, a route, a rule.
pub(crate) struct TableScope<'a> {
    /// How it is called, such as `pool.other` or `route[2]`.
    pub(crate) name: String,
    pub(crate) table: &'a Table,
    pub(crate) path: &'a Path,
    pub(crate) line: usize,
}

impl Scope<'_> {
    /// What the setting of this TOML path is called here.
    pub(crate) fn path(self, path: &str) -> String {
        match self {
            Self::Main => path.to_owned(),
            Self::Table(scope) => format!("{}.{}", scope.name, path.rsplit('.').next().unwrap_or(path)),
        }
    }
}

impl TableScope<'_> {
    pub(crate) fn source(&self) -> Source {
        Source::File(self.path.to_owned(), self.line)
    }
}

pub(crate) struct Reader<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) purpose: Purpose,
    pub(crate) preset: Option<Preset>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) rows: Vec<Row>,
}

/// A value that was found, before it is parsed.
enum Written<'a> {
    Text(&'a str),
    Item(&'a Item),
}

struct Found<'a> {
    written: Written<'a>,
    name: String,
    source: Source,
    variable: Option<&'static str>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(layers: &'a Layers, purpose: Purpose) -> Self {
        Self {
            layers,
            purpose,
            preset: None,
            faults: layers.faults.clone(),
            notices: layers.notices.clone(),
            rows: Vec::new(),
        }
    }

    /// Reads a setting from all layers, the preset and the default.
    pub(crate) fn read<T>(&mut self, entry: &'static Entry<T>) -> Read<T> {
        self.read_in(entry, Scope::Main)
    }

    /// Reads a setting from `scope`, or its default.
    pub(crate) fn read_in<T>(&mut self, entry: &'static Entry<T>, scope: Scope<'_>) -> Read<T> {
        let path = scope.path(entry.path);
        if let Some(found) = self.find(entry, scope) {
            return self.parse(entry, path, found);
        }
        let preset = match scope {
            Scope::Main => {
                self.preset.and_then(|preset| Some((preset.default(entry.path)?, Source::Preset(preset))))
            }
            Scope::Table(_) => None,
        };
        let (text, source) = match (preset, entry.default) {
            (Some(preset), _) => preset,
            (None, Fallback::Fixed(text)) => (text, Source::Default),
            (None, Fallback::Absent(said)) => {
                self.row(path.clone(), format!("({})", said.replace('`', "")), Source::Default, None);
                let name = entry.env.first().map_or(path, ToString::to_string);
                return Read { value: None, name, source: Source::Default, faulty: false };
            }
        };
        let name = path.clone();
        self.parse(entry, path, Found { written: Written::Text(text), name, source, variable: None })
    }

    /// The same; where neither somebody nor the preset says anything, it is shown as `absent`.
    pub(crate) fn read_or_say<T>(
        &mut self,
        entry: &'static Entry<T>,
        scope: Scope<'_>,
        absent: &str,
    ) -> Read<T> {
        let read = self.read_in(entry, scope);
        if read.value.is_none() && !read.faulty {
            self.amend_row(&scope.path(entry.path), format!("({absent})"));
        }
        read
    }

    /// Reads a setting from `scope` if it is set there; nothing is shown of one that is not.
    pub(crate) fn read_if_set<T>(&mut self, entry: &'static Entry<T>, scope: Scope<'_>) -> Option<Read<T>> {
        let found = self.find(entry, scope)?;
        Some(self.parse(entry, scope.path(entry.path), found))
    }

    /// Tells a fault.
    pub(crate) fn fault(
        &mut self,
        name: impl Into<String>,
        at: Option<Source>,
        what: impl Into<String>,
        mend: impl Into<String>,
    ) {
        self.faults.push(Fault { name: name.into(), at, what: what.into(), mend: mend.into() });
    }

    /// Tells that something is missing that serving needs, and looking does not.
    pub(crate) fn incomplete(
        &mut self,
        name: impl Into<String>,
        at: Option<Source>,
        what: impl Into<String>,
        mend: impl Into<String>,
    ) {
        let fault = Fault { name: name.into(), at, what: what.into(), mend: mend.into() };
        match self.purpose {
            Purpose::Serve => self.faults.push(fault),
            Purpose::Inspect => self.notices.push(Notice(format!("not enough to serve: {fault}"))),
        }
    }

    pub(crate) fn notice(&mut self, text: impl Into<String>) {
        self.notices.push(Notice(text.into()));
    }

    pub(crate) fn row(
        &mut self,
        path: String,
        value: String,
        source: Source,
        variable: Option<&'static str>,
    ) {
        self.rows.push(Row { path, value, source, variable });
    }

    /// Takes back the row of a setting that another one beats.
    pub(crate) fn drop_row(&mut self, path: &str) {
        self.rows.retain(|row| row.path != path);
    }

    /// Says what a row came to, where that is not what was written.
    pub(crate) fn amend_row(&mut self, path: &str, value: impl Into<String>) {
        if let Some(row) = self.rows.iter_mut().rev().find(|row| row.path == path) {
            row.value = value.into();
        }
    }

    fn find<'s, T>(&mut self, entry: &'static Entry<T>, scope: Scope<'s>) -> Option<Found<'s>>
    where
        'a: 's,
    {
        match scope {
            Scope::Main => {
                let layers = self.layers;
                if let Some(set) = layers.variable(entry.env) {
                    for beaten in &set.beaten {
                        self.notice(format!(
                            "{beaten} is not used, for {} is set too ({})",
                            set.name, set.source
                        ));
                    }
                    let (name, variable) = (set.name.to_owned(), Some(set.name));
                    return Some(Found {
                        written: Written::Text(set.value),
                        name,
                        source: set.source,
                        variable,
                    });
                }
                let document = layers.document.as_ref()?;
                // What only a variable can set has no dot, and its upper case stands in no file that gets past the
                // check for unknown keys.
                let item = match entry.path.split_once('.') {
                    Some((section, key)) => match &toml_source::get(&document.root, section)?.node {
                        Node::Table(table) => toml_source::get(table, key)?,
                        _ => return None,
                    },
                    None => toml_source::get(&document.root, entry.path)?,
                };
                found_item(item, entry.path.to_owned(), &document.path)
            }
            Scope::Table(scope) => {
                let key = entry.path.rsplit('.').next().unwrap_or(entry.path);
                found_item(toml_source::get(scope.table, key)?, format!("{}.{key}", scope.name), scope.path)
            }
        }
    }

    fn parse<T>(&mut self, entry: &'static Entry<T>, path: String, found: Found<'_>) -> Read<T> {
        let parsed = match &found.written {
            Written::Text(text) => {
                parse_text(&entry.form, text).map_err(|problems| (problems, (*text).to_owned()))
            }
            Written::Item(item) => parse_item(&entry.form, &item.node),
        };
        let Found { name, source, variable, .. } = found;
        match parsed {
            Ok((value, shown)) => {
                self.row(path, shown.within(entry.privacy), source.clone(), variable);
                Read { value: Some(value), name, source, faulty: false }
            }
            Err((problems, text)) => {
                for problem in problems {
                    let mut mend = problem.mend.clone();
                    if matches!(source, Source::DotEnv(..)) && text.contains(" #") {
                        mend += "; a comment needs a line of its own";
                    }
                    self.fault(&name, Some(source.clone()), sentence(&problem, entry.privacy, &text), mend);
                }
                Read { value: None, name, source, faulty: true }
            }
        }
    }
}

fn found_item<'a>(item: &'a Item, name: String, path: &Path) -> Option<Found<'a>> {
    match &item.node {
        Node::Text(text) if text.trim().is_empty() => None,
        _ => Some(Found {
            written: Written::Item(item),
            name,
            source: Source::File(path.to_owned(), item.line),
            variable: None,
        }),
    }
}
