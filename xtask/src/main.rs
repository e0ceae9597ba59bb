//! The project's own commands: `cargo xtask --help`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod api;
mod checks;
// The binary's own command line: the pages describe what it reads, and nothing else.
#[allow(dead_code, reason = "only its shape is of use here")]
#[path = "../../crates/server/src/cli.rs"]
mod cli;
mod dist;
mod man;
mod package;
mod simulate;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use xshell::Shell;

const HELP: &str = "\
The commands of this workspace.

Usage: cargo xtask <command>

  test    unit tests, integration tests and examples in the docs, all features on; then each crate's examples
  lint    formatting, clippy and the docs with warnings denied; licences and sources, where cargo-deny is installed
  tidy    what must be absent: imports against the layers, clocks and locks in the pool, names out of their place
  package what crates.io would get: each crate is packed and built from its package
  api     writes the public interfaces down (crates/*/public-api.txt); ci compares them
  loom    every interleaving of the token pool's threads
  bounds  what the pool gets out of simulated upstreams, against crates/simulate/bounds.txt
  ci      tidy, lint, test, loom, bounds, and the packages' files and interfaces; the others go on where one fails
  bench   the benches; `bench pool` one of them; `bench retry` beside other crates that retry (downloads them)
  simulate  the pool in virtual time, beside others: `simulate --help` tells what it takes
  man     the manual pages of the binary, into target/man
  dist    what is handed out, into target/packages: a tarball of the stripped binary with its manual, completions, licences
          and deployment files, and its checksum
";

/// What a command returns; the text of an error is for people.
type Outcome = Result<(), Box<dyn std::error::Error>>;
type Command = fn(&Shell) -> Outcome;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut command = arguments.next().unwrap_or_default();
    if command == "simulate" {
        return simulate::run(arguments);
    }
    if command == "bench" {
        command.extend(arguments.next().map(|which| format!(" {which}")));
    }
    if let Some(extra) = arguments.next() {
        eprintln!("cargo xtask {command} takes no argument: {extra:?}\n\n{HELP}");
        return ExitCode::from(2);
    }
    match run(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {command}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &str) -> Outcome {
    let shell = Shell::new()?;
    shell.change_dir(root());
    match command {
        "test" => checks::test(&shell),
        "lint" => checks::lint(&shell),
        "tidy" => tidy::run(&shell),
        "package" => package::run(&shell),
        "api" => api::write(&shell),
        "bench" => checks::bench(&shell, None),
        "bench retry" => checks::bench_retry(&shell),
        "loom" => checks::loom(&shell),
        "bounds" => checks::bounds(&shell),
        "man" => man::write(&root().join("target/man")),
        "dist" => dist::run(&shell),
        "ci" => ci(&shell),
        "" | "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other if other.starts_with("bench ") => checks::bench(&shell, other.strip_prefix("bench ")),
        unknown => Err(format!("no such command: {unknown:?}\n\n{HELP}").into()),
    }
}

/// All checks, the quickest first. One that fails does not hide the others.
fn ci(shell: &Shell) -> Outcome {
    let checks: [(&str, Command); 6] = [
        ("tidy", tidy::run),
        ("lint", checks::lint),
        ("test", checks::test),
        ("loom", checks::loom),
        ("bounds", checks::bounds),
        ("package", package::quick),
    ];
    let mut failed = Vec::new();
    for (name, check) in checks {
        if let Err(error) = check(shell) {
            eprintln!("xtask {name}: {error}");
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}

/// The workspace's folder, whatever folder the command was called in.
fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
