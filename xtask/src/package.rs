//! What crates.io would get of each crate.

use xshell::{Shell, cmd};

use crate::{Outcome, api};

/// What every package must hold for a reader who has nothing else.
const FILES: &[&str] = &["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

const CRATES: &[&str] = &["backoff-core", "config", "token-manager", "store", "api-client", "server"];

/// Packages every crate, builds each from its package, and compares the public interfaces with those written down.
///
/// The crates depend on each other, and none need be published yet: cargo resolves them among what it packages.
pub(crate) fn run(shell: &Shell) -> Outcome {
    files(shell)?;
    cmd!(
        shell,
        "cargo package --quiet --workspace --exclude xtask --exclude tidegate-simulate --allow-dirty"
    )
    .run()?;
    Ok(())
}

/// The quick part: what is packed, without building it, and the public interfaces.
pub(crate) fn quick(shell: &Shell) -> Outcome {
    files(shell)?;
    api::check(shell)
}

fn files(shell: &Shell) -> Outcome {
    let mut missing = Vec::new();
    for name in CRATES {
        let package = format!("tidegate-{name}");
        let listed = cmd!(shell, "cargo package --list --allow-dirty -p {package}").quiet().read()?;
        let lacks = |file: &&&str| !listed.lines().any(|line| line == **file);
        missing.extend(FILES.iter().filter(lacks).map(|file| format!("{package} lacks {file}")));
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join("; ").into()) }
}
