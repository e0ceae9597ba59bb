//! Imports run one way: server -> api-client -> token-manager -> backoff-core, and config and store beside them.

use std::fs;

use xshell::{Shell, cmd};

use super::{Violation, manifest};

const PREFIX: &str = "tidegate-";

/// Each crate and those of ours that it may depend on.
const LAYERS: &[(&str, &[&str])] = &[
    ("backoff-core", &[]),
    ("config", &["backoff-core"]),
    ("token-manager", &["backoff-core"]),
    ("store", &["token-manager", "backoff-core"]),
    ("api-client", &["token-manager", "backoff-core"]),
    ("simulate", &["config", "api-client", "token-manager", "backoff-core"]),
    ("server", &["config", "api-client", "store", "token-manager", "backoff-core"]),
];

/// Reads the resolved graphs of all crates. `crates` are folders, `crates/name`.
pub(super) fn check(shell: &Shell, crates: &[String]) -> Result<Vec<Violation>, Box<dyn std::error::Error>> {
    let mut found = Vec::new();
    for folder in crates {
        let file = format!("{folder}/Cargo.toml");
        let text = fs::read_to_string(shell.current_dir().join(&file))?;
        let package = manifest::find(&text, "package", "name").map_or("", |(_, name)| name.trim_matches('"'));
        let direct =
            cmd!(shell, "cargo tree -p {package} -e normal,build --depth 1 --prefix none --all-features")
                .quiet()
                .read()?;
        found.extend(direction(&file, &text, package, &direct));
    }

    let binary = cmd!(shell, "cargo tree -p tidegate-server -e normal --prefix none").quiet().read()?;
    found.extend(unmaintained(&binary));
    let core =
        cmd!(shell, "cargo tree -p tidegate-backoff-core -e normal,build --prefix none").quiet().read()?;
    found.extend(dependencies_of_core(&core));
    Ok(found)
}

/// The packages of a `cargo tree --prefix none`, the root left out.
fn packages(tree: &str) -> impl Iterator<Item = &str> {
    tree.lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty() && !name.starts_with('['))
}

fn direction(file: &str, manifest: &str, package: &str, direct: &str) -> Vec<Violation> {
    let own = package.strip_prefix(PREFIX).unwrap_or(package);
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == own) else {
        let says = format!("the layout knows no crate {package}");
        return vec![Violation::new(file, 1, says)];
    };
    packages(direct)
        .filter(|name| name.strip_prefix(PREFIX).is_some_and(|layer| !allowed.contains(&layer)))
        .map(|name| {
            let line = manifest::dependency_line(manifest, name);
            Violation::new(file, line, format!("{package} must not depend on {name}: imports run one way"))
        })
        .collect()
}

fn unmaintained(binary: &str) -> Option<Violation> {
    packages(binary).any(|name| name == "backoff").then(|| {
        let says = "the binary links the crate backoff, which is unmaintained (RUSTSEC-2025-0012)";
        Violation::new("crates/server/Cargo.toml", 1, says)
    })
}

fn dependencies_of_core(tree: &str) -> Vec<Violation> {
    packages(tree)
        .map(|name| {
            let says = format!("backoff-core has no dependency without features, but links {name}");
            Violation::new("crates/backoff-core/Cargo.toml", 1, says)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "\
[dependencies]
serde.workspace = true
tidegate-backoff-core.workspace = true
tidegate-token-manager = { workspace = true }
";

    #[test]
    fn an_import_against_the_layers_is_told_with_its_line() {
        let tree = "\
tidegate-config v0.1.0 (/x)
serde v1.0.0
tidegate-backoff-core v0.1.0 (/y)
tidegate-token-manager v0.1.0 (/z)
[dev-dependencies]";
        let found = direction("crates/config/Cargo.toml", CONFIG, "tidegate-config", tree);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].to_string(),
            "crates/config/Cargo.toml:4: tidegate-config must not depend on tidegate-token-manager: imports run one way"
        );
    }

    #[test]
    fn imports_along_the_layers_are_fine() {
        let tree = "tidegate-server v0.1.0\ntidegate-config v0.1.0\ntidegate-api-client v0.1.0\naxum v0.8.0";
        assert_eq!(direction("crates/server/Cargo.toml", "", "tidegate-server", tree), []);
    }

    #[test]
    fn a_crate_that_the_layout_does_not_know_is_told() {
        assert_eq!(direction("crates/x/Cargo.toml", "", "tidegate-x", "tidegate-x v0.1.0").len(), 1);
    }

    #[test]
    fn the_binary_does_not_link_what_is_unmaintained() {
        assert_eq!(unmaintained("tidegate-server v0.1.0\ntidegate-backoff-core v0.1.0\nserde v1.0.0"), None);
        assert!(unmaintained("tidegate-server v0.1.0\nbackoff v0.4.0\n").is_some());
    }

    #[test]
    fn a_dependency_of_the_core_is_told() {
        assert_eq!(dependencies_of_core("tidegate-backoff-core v0.1.0 (/x)"), []);
        assert_eq!(dependencies_of_core("tidegate-backoff-core v0.1.0 (/x)\nlibm v0.2.0").len(), 1);
    }
}
