//! The simulator is a program of its own: in an unoptimised one, seconds would be minutes.

use std::process::{Command, ExitCode};

use crate::root;

/// Hands `arguments` on, in the caller's folder, and ends as the program ends, which has said why.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let status = Command::new("cargo")
        .args([
            "run",
            "--quiet",
            "--profile",
            "simulate",
            "--package",
            "tidegate-simulate",
            "--manifest-path",
        ])
        .arg(root().join("Cargo.toml"))
        .arg("--")
        .args(arguments)
        .status();
    match status {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("xtask simulate: cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
