//! What must be absent. Each check reads text or `cargo tree` and returns what it found, so that it can be tested on
//! a few lines.

mod layers;
mod manifest;
mod no_std;
mod paths;
mod places;
mod source;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use xshell::Shell;

use self::source::Source;
use crate::Outcome;

/// One thing that stands where it must not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    /// Relative to the workspace, with `/`.
    file: String,
    /// From 1.
    line: usize,
    says: String,
}

impl Violation {
    fn new(file: &str, line: usize, says: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, says: says.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.says)
    }
}

/// Runs every check and prints all that they found.
pub(crate) fn run(shell: &Shell) -> Outcome {
    let root = shell.current_dir();
    let crates = crates(&root)?;
    let mut found = Vec::new();

    found.extend(manifest::workspace(&fs::read_to_string(root.join("Cargo.toml"))?));
    for name in crates.iter().map(String::as_str).chain(["xtask"]) {
        found.extend(manifest::check_crate(&root, name)?);
    }
    found.extend(layers::check(shell, &crates)?);

    let mut sources = Vec::new();
    for name in &crates {
        read(&root, &root.join(name).join("src"), &mut sources)?;
    }
    let sources = source::without_tests(sources);
    found.extend(sources.iter().flat_map(places::check));
    found.extend(no_std::check(shell, &sources)?);

    found.sort();
    for violation in &found {
        println!("{violation}");
    }
    match found.len() {
        0 => {
            println!("tidy: {} files of {} crates", sources.len(), crates.len());
            Ok(())
        }
        count => Err(format!("{count} violations of the layout (ARCHITECTURE.md says why it is so)").into()),
    }
}

/// The folders under `crates`, as `crates/name`, in order.
fn crates(root: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            names.push(relative(root, &path));
        }
    }
    names.sort();
    Ok(names)
}

fn read(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> std::io::Result<()> {
    let mut entries = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<PathBuf>, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            read(root, &path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(Source::new(&relative(root, &path), &fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}
