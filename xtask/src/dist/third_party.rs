//! The licences of what is linked into the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use xshell::{Shell, cmd};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// What cargo knows of the workspace and of every crate that it stands on.
pub(super) fn metadata(shell: &Shell) -> Fallible<Value> {
    let text = cmd!(shell, "cargo metadata --locked --format-version 1").quiet().read()?;
    Ok(serde_json::from_str(&text)?)
}

/// Each crate of others in the binary with its licence, and each licence text once.
pub(super) fn notices(shell: &Shell, metadata: &Value) -> Fallible<String> {
    let tree = cmd!(shell, "cargo tree --locked -p tidegate-server -e normal --prefix none --format")
        .arg("{p}|{l}")
        .quiet()
        .read()?;
    let linked = linked(&tree);
    let mut page = String::from("Tidegate's binary holds code of these crates:\n\n");
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, version, licence) in &linked {
        writeln!(page, "  {name} {version}: {licence}")?;
        let package = metadata["packages"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|package| package["name"] == name.as_str() && package["version"] == version.as_str());
        let manifest = package.and_then(|package| package["manifest_path"].as_str());
        let folder = Path::new(manifest.ok_or_else(|| format!("cargo knows no {name} {version}"))?).parent();
        for text in licence_texts(folder.ok_or("a manifest in no folder")?)? {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    for (text, names) in texts {
        let names: Vec<_> = names.into_iter().collect();
        write!(page, "\n{}\n{}\n\n{text}\n", "=".repeat(100), names.join(", "))?;
    }
    Ok(page)
}

/// Name, version and licence of each line of `cargo tree` that is not ours.
fn linked(tree: &str) -> BTreeSet<(String, String, String)> {
    let read = |line: &str| {
        let (package, licence) = line.trim_end_matches(" (*)").split_once('|')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        // Ours have a folder behind their version.
        let is_ours = words.next().is_some_and(|place| place.starts_with("(/"));
        (!is_ours).then(|| (name.to_owned(), version.to_owned(), licence.to_owned()))
    };
    tree.lines().filter_map(read).collect()
}

fn licence_texts(folder: &Path) -> Fallible<Vec<String>> {
    let mut files: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let is_licence = |file: &fs::DirEntry| {
        let name = file.file_name().to_string_lossy().to_ascii_uppercase();
        let begins = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"];
        begins.iter().any(|word| name.starts_with(word)) && file.path().is_file()
    };
    let texts = files.iter().filter(|file| is_licence(file)).map(|file| fs::read_to_string(file.path()));
    Ok(texts.map(|text| text.map(|text| text.trim().to_owned())).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_others_is_listed_and_once() {
        let tree = "tidegate-server v0.1.0 (/src/crates/server)|MIT OR Apache-2.0\n\
                    bytes v1.12.0|MIT\nserde_derive v1.0.2 (proc-macro)|MIT OR Apache-2.0\nbytes v1.12.0|MIT (*)\n";
        let listed: Vec<_> = linked(tree).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(listed, ["bytes", "serde_derive"]);
    }
}
