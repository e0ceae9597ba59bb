//! Proof that backoff-core links `core` and nothing else.
//!
//! A `#![no_std]` crate may still say `extern crate std`, and cargo on a host would build it. So the crate is compiled
//! against a sysroot that holds `core` and its compiler built-ins alone: what needs `std` or `alloc` does not resolve.
//! That needs no other target than the host's. Where an embedded target is installed, cargo builds for it too.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use super::Violation;
use super::paths::paths;
use super::source::Source;

const CRATE: &str = "crates/backoff-core/src/";
const EMBEDDED: &str = "thumbv7m-none-eabi";
/// Implements a trait of a crate that links `std`; compiled under the feature `backoff` alone.
const WITH_STD: &str = "crates/backoff-core/src/compat.rs";

pub(super) fn check(shell: &Shell, sources: &[Source]) -> Result<Vec<Violation>, Box<dyn Error>> {
    let mut found: Vec<Violation> = sources.iter().flat_map(names).collect();
    found.extend(
        sources.iter().filter(|source| source.path == format!("{CRATE}lib.rs")).filter_map(attribute),
    );
    if let Err(error) = build(shell) {
        let says = format!("does not build against a sysroot with core alone: {error}");
        found.push(Violation::new(&format!("{CRATE}lib.rs"), 1, says));
    }
    if embedded_installed(shell)? {
        cmd!(shell, "cargo build -q -p tidegate-backoff-core --target {EMBEDDED}").quiet().run()?;
    }
    Ok(found)
}

fn attribute(lib: &Source) -> Option<Violation> {
    let stated = lib.code.lines().any(|line| line.trim() == "#![no_std]");
    (!stated).then(|| Violation::new(&lib.path, 1, "has no #![no_std]"))
}

fn names(source: &Source) -> Vec<Violation> {
    if !source.path.starts_with(CRATE) || source.path == WITH_STD {
        return Vec::new();
    }
    paths(&source.code)
        .into_iter()
        .filter(|path| path.is_in("std") || path.is_in("alloc"))
        .map(|path| {
            Violation::new(&source.path, path.line, format!("`{}`: backoff-core has core alone", path.text))
        })
        .collect()
}

fn embedded_installed(shell: &Shell) -> xshell::Result<bool> {
    // Prints where the target's libraries would lie, also where they do not.
    let folder = cmd!(shell, "rustc --print target-libdir --target {EMBEDDED}").quiet().read()?;
    Ok(Path::new(&folder).is_dir())
}

fn build(shell: &Shell) -> Result<(), Box<dyn Error>> {
    let out = shell.create_temp_dir()?;
    let sysroot = core_alone(shell, out.path())?;
    let lib = shell.current_dir().join(CRATE).join("lib.rs");
    let output = out.path();
    let run =
        cmd!(shell, "rustc --sysroot {sysroot} --edition 2024 --crate-type lib --crate-name core_alone")
            .args(["--cap-lints", "allow", "--out-dir"])
            .arg(output)
            .arg(lib)
            .quiet()
            .ignore_status()
            .output()?;
    if run.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&run.stderr).into_owned().into())
}

/// Makes a sysroot of links to `core` and `compiler_builtins`.
fn core_alone(shell: &Shell, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let libraries = PathBuf::from(cmd!(shell, "rustc --print target-libdir").quiet().read()?);
    let target =
        libraries.parent().and_then(Path::file_name).ok_or("rustc prints no folder of its libraries")?;
    let sysroot = folder.join("sysroot");
    let own = sysroot.join("lib").join("rustlib").join(target).join("lib");
    fs::create_dir_all(&own)?;
    let mut count = 0;
    for entry in fs::read_dir(&libraries)? {
        let entry = entry?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if text.starts_with("libcore-") || text.starts_with("libcompiler_builtins-") {
            link(&entry.path(), &own.join(&name))?;
            count += 1;
        }
    }
    if count == 0 { Err(format!("no libcore in {}", libraries.display()).into()) } else { Ok(sysroot) }
}

/// The metadata of core alone has 60 MB: a copy only where there is no link.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(from, to);
    #[cfg(not(unix))]
    return fs::copy(from, to).map(drop);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn std_and_alloc_are_told() {
        for (file, code, count) in [
            ("budget.rs", "use core::time::Duration;", 0),
            ("budget.rs", "use std::time::Duration;", 1),
            ("budget.rs", "extern crate alloc;", 1),
            ("budget.rs", "::std::mem::swap(a, b)", 1),
            ("budget.rs", "#[cfg(test)] mod tests { extern crate std; }", 0),
            ("compat.rs", "use std::time::Duration;", 0),
        ] {
            let found = names(&Source::new(&format!("{CRATE}{file}"), code));
            assert_eq!(found.len(), count, "{file}: {code}: {found:?}");
        }
        assert_eq!(names(&Source::new("crates/config/src/lib.rs", "use std::fs;")), []);
    }

    #[test]
    fn a_missing_attribute_is_told() {
        assert_eq!(attribute(&Source::new("lib.rs", "//! Docs.\n#![no_std]\n")), None);
        assert!(attribute(&Source::new("lib.rs", "//! #![no_std]\n#![cfg_attr(x, no_std)]")).is_some());
    }

    #[test]
    fn the_sysroot_of_the_proof_has_no_std() {
        let shell = Shell::new().unwrap();
        let folder = shell.create_temp_dir().unwrap();
        let sysroot = core_alone(&shell, folder.path()).unwrap();
        for (code, builds) in [
            ("#![no_std]", true),
            ("", false),
            ("#![no_std] extern crate std;", false),
            ("#![no_std] extern crate alloc;", false),
        ] {
            let file = folder.path().join("probe.rs");
            fs::write(&file, code).unwrap();
            let output = folder.path();
            let run = cmd!(
                shell,
                "rustc --sysroot {sysroot} --edition 2024 --crate-type lib --out-dir {output} {file}"
            );
            assert_eq!(run.quiet().ignore_stderr().run().is_ok(), builds, "{code}");
        }
    }
}
