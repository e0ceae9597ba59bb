//! What each `Cargo.toml` must say.

use std::fs;
use std::io;
use std::path::Path;

use super::Violation;

/// The lines of a manifest with the table they stand in. Enough for manifests as they are written here: a table a
/// heading, a key a line.
fn entries(text: &str) -> impl Iterator<Item = (usize, &str, &str, &str)> {
    let mut table = "";
    text.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim();
        if let Some(heading) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = heading;
            return None;
        }
        let (key, value) = line.split_once('=')?;
        (!line.starts_with('#')).then(|| (index + 1, table, key.trim(), value.trim()))
    })
}

/// The first line on which `table` has `key`, and what it says there.
pub(super) fn find<'a>(text: &'a str, table: &str, key: &str) -> Option<(usize, &'a str)> {
    entries(text)
        .find(|&(_, in_table, name, _)| in_table == table && name == key)
        .map(|(line, _, _, value)| (line, value))
}

/// The line on which a dependency stands; 1 where none does.
pub(super) fn dependency_line(text: &str, package: &str) -> usize {
    entries(text)
        .find(|(_, table, key, _)| table.ends_with("dependencies") && key.split('.').next() == Some(package))
        .map_or(1, |(line, ..)| line)
}

/// The root's: lints that no crate may loosen, panics that stop one request alone.
pub(super) fn workspace(text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut violation = |line, says: &str| found.push(Violation::new("Cargo.toml", line, says));
    match find(text, "workspace.lints.rust", "unsafe_code") {
        Some((_, "\"forbid\"")) => {}
        other => {
            violation(other.map_or(1, |(line, _)| line), "[workspace.lints.rust] must forbid unsafe_code");
        }
    }
    for (line, table, key, value) in entries(text) {
        if table.starts_with("profile.") && key == "panic" && value != "\"unwind\"" {
            violation(line, "panics unwind: one request's fault must not stop the others");
        }
    }
    found
}

/// Reads the files of one crate and checks them. `folder` is relative to `root`.
pub(super) fn check_crate(root: &Path, folder: &str) -> io::Result<Vec<Violation>> {
    let file = format!("{folder}/Cargo.toml");
    let text = fs::read_to_string(root.join(&file))?;
    let mut found = lints(&file, &text);
    if find(&text, "package", "publish").is_none_or(|(_, value)| value != "false") {
        found.extend(package(&file, &text));
        let readme = root.join(folder).join("README.md");
        if fs::read_to_string(readme).map_or(0, |text| text.lines().count()) < 5 {
            let says = "a reader of the crate's page finds no README";
            found.push(Violation::new(&format!("{folder}/README.md"), 1, says));
        }
    }
    if root.join(folder).join("clippy.toml").exists() {
        let says = "a crate's clippy.toml replaces the root's, bans and all; only the root has one";
        found.push(Violation::new(&format!("{folder}/clippy.toml"), 1, says));
    }
    Ok(found)
}

fn lints(file: &str, text: &str) -> Vec<Violation> {
    match find(text, "lints", "workspace") {
        Some((_, "true")) => Vec::new(),
        other => {
            let says = "the workspace's lints are not inherited: [lints] workspace = true";
            vec![Violation::new(file, other.map_or(1, |(line, _)| line), says)]
        }
    }
}

/// What crates.io and a reader there need.
fn package(file: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for key in ["description", "keywords", "categories", "license", "readme", "repository"] {
        let inherited = format!("{key}.workspace");
        let stated = find(text, "package", key).or_else(|| find(text, "package", &inherited));
        if stated.is_none_or(|(_, value)| matches!(value, "\"\"" | "[]")) {
            let line = stated.map_or(1, |(line, _)| line);
            found.push(Violation::new(file, line, format!("[package] has no {key}")));
        }
    }
    for key in ["keywords", "categories"] {
        // crates.io refuses a sixth.
        if let Some((line, value)) =
            find(text, "package", key).filter(|(_, value)| value.split(',').count() > 5)
        {
            found.push(Violation::new(file, line, format!("more than five {key}: {value}")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"[package]
name = "a"
description = "b"
license.workspace = true
readme = "README.md"
repository.workspace = true
keywords = ["c"]
categories = ["d"]

[lints]
workspace = true

[dependencies]
tidegate-config.workspace = true
"#;

    fn said(found: &[Violation]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_manifest_is_fine() {
        assert_eq!(lints("Cargo.toml", GOOD), []);
        assert_eq!(package("Cargo.toml", GOOD), []);
        assert_eq!(dependency_line(GOOD, "tidegate-config"), 14);
        assert_eq!(dependency_line(GOOD, "tidegate"), 1);
    }

    #[test]
    fn each_missing_line_is_told() {
        for key in ["description", "keywords", "categories", "license", "readme", "repository"] {
            let without: String =
                GOOD.lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect();
            assert_eq!(
                said(&package("a/Cargo.toml", &without)),
                [format!("a/Cargo.toml:1: [package] has no {key}")]
            );
        }
        let empty = GOOD.replace(r#"["c"]"#, "[]");
        assert_eq!(said(&package("a/Cargo.toml", &empty)), ["a/Cargo.toml:7: [package] has no keywords"]);
    }

    #[test]
    fn lints_of_its_own_are_told() {
        for (text, line) in
            [("[package]\n", 1), ("[lints]\nworkspace = false\n", 2), ("[lints.rust]\nworkspace = true\n", 1)]
        {
            let found = lints("a/Cargo.toml", text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].line, line, "{text}");
        }
    }

    #[test]
    fn too_many_keywords_are_told() {
        let many = GOOD.replace(r#"["c"]"#, r#"["1", "2", "3", "4", "5", "6"]"#);
        assert_eq!(package("Cargo.toml", &many).len(), 1);
    }

    #[test]
    fn the_workspace_forbids_unsafe_code_and_unwinds() {
        let good =
            "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n[profile.release]\npanic = \"unwind\"\n";
        assert_eq!(workspace(good), []);
        for (text, line) in [
            (good.replace("forbid", "deny"), 2),
            (good.replace("unwind", "abort"), 4),
            (good.replace("unsafe_code", "missing_docs"), 1),
        ] {
            let found = workspace(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].line, line, "{text}");
        }
    }
}
