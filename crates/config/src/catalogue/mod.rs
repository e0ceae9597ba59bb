//! The one table of settings: what each is called in TOML and in the environment, its default, how it is read, and
//! what it does. The README's table, `tidegate config`, the check for unknown names and the reader all look here.

pub(crate) mod other;
pub(crate) mod retry;
pub(crate) mod route;
pub(crate) mod server;
pub(crate) mod table;
pub(crate) mod token;
pub(crate) mod upstream;

use crate::problem::{Privacy, Problem};

/// A setting.
pub(crate) struct Entry<T> {
    /// The TOML path, such as `retry.base`; the variable's name for what only a variable can set.
    pub(crate) path: &'static str,
    /// Its variables, the strongest first.
    pub(crate) env: &'static [&'static str],
    pub(crate) default: Default,
    pub(crate) form: Form<T>,
    pub(crate) privacy: Privacy,
    pub(crate) help: &'static str,
}

/// What holds when nobody says anything.
#[derive(Clone, Copy)]
pub(crate) enum Default {
    /// This text, read as any other.
    Fixed(&'static str),
    /// Nothing, or what other settings imply; the text says so.
    Absent(&'static str),
}

/// How a setting is read, and which TOML values stand for it.
pub(crate) enum Form<T> {
    /// A string. (An integer gets to the parser as its text: it knows best what is missing, such as a unit.)
    Text(fn(&str) -> Result<T, Problem>),
    /// An integer.
    Number(fn(&str) -> Result<T, Problem>),
    /// An integer or a string with a unit.
    Size(fn(&str) -> Result<T, Problem>),
    /// A boolean.
    Flag(fn(&str) -> Result<T, Problem>),
    /// An array of strings, or one string with commas.
    List(fn(&[String]) -> Result<T, Vec<Problem>>),
}

impl<T> Entry<T> {
    pub(crate) const fn new(
        path: &'static str,
        env: &'static [&'static str],
        default: Default,
        form: Form<T>,
        help: &'static str,
    ) -> Self {
        Self { path, env, default, form, privacy: Privacy::Open, help }
    }

    pub(crate) const fn private(mut self, privacy: Privacy) -> Self {
        self.privacy = privacy;
        self
    }
}

/// An entry whatever its type.
pub(crate) trait Known: Sync {
    fn path(&self) -> &'static str;
    fn env(&self) -> &'static [&'static str];
    fn default(&self) -> Default;
    fn help(&self) -> &'static str;

    /// Its section and its key within, if TOML can set it.
    fn toml(&self) -> Option<(&'static str, &'static str)> {
        let path = self.path();
        match path.rsplit_once('.') {
            Some(parts) => Some(parts),
            None if path.starts_with(|c: char| c.is_ascii_uppercase()) => None,
            None => Some(("", path)),
        }
    }
}

impl<T> Known for Entry<T> {
    fn path(&self) -> &'static str {
        self.path
    }

    fn env(&self) -> &'static [&'static str] {
        self.env
    }

    fn default(&self) -> Default {
        self.default
    }

    fn help(&self) -> &'static str {
        self.help
    }
}

/// Every setting that stands by itself, in the order in which people are shown them.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn Known> {
    [upstream::ALL, server::ALL, retry::ALL, token::ALL, other::ALL].into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::preset::Preset;

    #[test]
    fn no_name_stands_for_two_settings() {
        let mut seen = BTreeSet::new();
        for entry in all() {
            assert!(seen.insert(entry.path().to_owned()) || entry.toml().is_none(), "{}", entry.path());
            for name in entry.env() {
                assert!(seen.insert(format!("${name}")), "{name}");
                assert!(name.starts_with("TIDEGATE_") || name.starts_with("PIXIVFE_"), "{name}");
            }
            assert!(!entry.env().is_empty() && !entry.help().is_empty(), "{}", entry.path());
        }
    }

    #[test]
    fn a_preset_sets_what_is_a_setting() {
        for preset in [Preset::Pixiv, Preset::Generic, Preset::Github, Preset::Openai] {
            let set = all().filter(|entry| preset.default(entry.path()).is_some()).count();
            assert_eq!(set, preset.defaults().len(), "{}", preset.as_str());
        }
    }
}
