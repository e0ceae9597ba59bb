//! `tidegate completions`: what a shell needs to complete a command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::say;
use crate::cli::Cli;

/// 0 and the script.
pub(crate) fn run(shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut <Cli as CommandFactory>::command(), "tidegate", &mut script);
    say(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}
