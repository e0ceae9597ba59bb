//! The sources as layers of plain text: the environment over `.env` over the TOML file.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsStr,
    path::PathBuf,
};

use crate::{
    dotenv,
    fault::{Fault, Notice, Source},
    sources::Sources,
    toml_source::{self, Document},
};

/// What the sources say, each name once a layer.
#[derive(Default)]
pub(crate) struct Layers {
    environment: BTreeMap<String, String>,
    dotenv: BTreeMap<String, (String, Source)>,
    pub(crate) document: Option<Document>,
    /// Whether a source could not be read, so that what is missing may stand there.
    pub(crate) torn: bool,
    pub(crate) faults: Vec<Fault>,
    pub(crate) notices: Vec<Notice>,
}

/// A variable's value, and where it stands.
pub(crate) struct Set<'a> {
    pub(crate) name: &'static str,
    pub(crate) value: &'a str,
    pub(crate) source: Source,
    /// Weaker names of the same setting that are set in the same layer, and not used.
    pub(crate) beaten: Vec<&'static str>,
}

impl Layers {
    pub(crate) fn new(sources: &Sources) -> Self {
        let mut layers = Self::default();
        layers.add_environment(sources);
        layers.add_dotenv(sources);
        layers.add_file(sources);
        layers
    }

    /// The value of the first of `names` that is set in the strongest layer that sets any; empty is unset.
    pub(crate) fn variable(&self, names: &[&'static str]) -> Option<Set<'_>> {
        type Layer<'a> = Box<dyn Fn(&str) -> Option<(&'a str, Source)> + 'a>;
        let environment: Layer<'_> =
            Box::new(|name| self.environment.get(name).map(|value| (value.as_str(), Source::Environment)));
        let dotenv: Layer<'_> =
            Box::new(|name| self.dotenv.get(name).map(|(value, source)| (value.as_str(), source.clone())));
        [environment, dotenv].iter().find_map(|layer| {
            let mut set = names.iter().filter_map(|name| Some((*name, layer(name)?)));
            let (name, (value, source)) = set.next()?;
            Some(Set { name, value, source, beaten: set.map(|(name, _)| name).collect() })
        })
    }

    /// Every variable that is set, the environment's first, each with where it stands.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str, Source)> {
        let environment =
            self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str(), Source::Environment));
        let dotenv =
            self.dotenv.iter().map(|(name, (value, source))| (name.as_str(), value.as_str(), source.clone()));
        environment.chain(dotenv)
    }

    fn add_environment(&mut self, sources: &Sources) {
        for (name, value) in &sources.env {
            let Some(name) = name.to_str() else { continue };
            match value.to_str() {
                Some(value) if value.trim().is_empty() => {}
                Some(value) => {
                    self.environment.insert(name.to_owned(), value.to_owned());
                }
                None if is_ours(name) => self.faults.push(Fault {
                    name: name.to_owned(),
                    at: Some(Source::Environment),
                    what: "its value is not UTF-8".to_owned(),
                    mend: "write it in UTF-8".to_owned(),
                }),
                None => {}
            }
        }
    }

    fn add_dotenv(&mut self, sources: &Sources) {
        let Some(file) = &sources.dotenv else { return };
        let path = file.path.clone();
        let bytes = match &file.content {
            Ok(bytes) => bytes,
            Err(error) => return self.unreadable(Source::DotEnv(path, 0), error),
        };
        let found = dotenv::parse(bytes);
        for (line, what) in found.faults {
            self.faults.push(Fault {
                name: "a line".to_owned(),
                at: Some(Source::DotEnv(path.clone(), line)),
                what: what.to_owned(),
                mend: "write NAME=value, or # before a comment".to_owned(),
            });
        }
        let mut lines = HashMap::new();
        for variable in found.variables {
            let source = Source::DotEnv(path.clone(), variable.line);
            if let Some(earlier) =
                lines.insert(variable.name.clone(), variable.line).filter(|_| is_ours(&variable.name))
            {
                self.notices.push(Notice(format!(
                    "{} is set twice in {}, in lines {earlier} and {}: the later one holds",
                    variable.name,
                    path.display(),
                    variable.line
                )));
            }
            if variable.value.trim().is_empty() {
                self.dotenv.remove(&variable.name);
            } else {
                self.dotenv.insert(variable.name, (variable.value, source));
            }
        }
    }

    fn add_file(&mut self, sources: &Sources) {
        let Some(file) = &sources.file else { return };
        let path = file.path.clone();
        let text = match file.content.as_ref().map(|bytes| std::str::from_utf8(bytes)) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => return self.unreadable(Source::File(path, 0), "it is not UTF-8"),
            Err(error) => return self.unreadable(Source::File(path, 0), error),
        };
        match toml_source::parse(path.clone(), text) {
            Ok(document) => self.document = Some(document),
            Err(errors) => {
                self.torn = true;
                self.faults.extend(errors.into_iter().map(|(line, error)| Fault {
                    name: "TOML".to_owned(),
                    at: Some(Source::File(path.clone(), line)),
                    what: error,
                    mend: "write key = value, text in quotes".to_owned(),
                }));
            }
        }
    }

    fn unreadable(&mut self, source: Source, error: &str) {
        self.torn = true;
        self.faults.push(Fault {
            name: "the file".to_owned(),
            at: Some(source),
            what: format!("cannot be read: {error}"),
            mend: "check its path and permissions".to_owned(),
        });
    }
}

/// Whether a variable is Tidegate's to judge.
pub(crate) fn is_ours(name: &str) -> bool {
    name.starts_with("TIDEGATE_") || name.starts_with("PIXIVFE_")
}

/// Where the settings' file is, by the variable of that name.
pub(crate) fn config_path(
    env: &[(std::ffi::OsString, std::ffi::OsString)],
    dotenv: Option<&[u8]>,
) -> Option<PathBuf> {
    const NAME: &str = "TIDEGATE_CONFIG";
    let environment =
        env.iter().rev().find(|(name, _)| name == OsStr::new(NAME)).map(|(_, value)| PathBuf::from(value));
    let from_file = || {
        let variables = dotenv::parse(dotenv?).variables;
        variables
            .into_iter()
            .rev()
            .find(|variable| variable.name == NAME)
            .map(|variable| PathBuf::from(variable.value))
    };
    let set = |path: &PathBuf| !path.to_str().is_some_and(|path| path.trim().is_empty());
    environment.filter(set).or_else(from_file).filter(set)
}
