//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use tidegate_config::parse_duration;

const SETTINGS: &str = "\
Settings come from, each before the one after it: the environment, .env, a TOML file (-c, TIDEGATE_CONFIG, or
./tidegate.toml), the preset, the defaults. `tidegate config` shows them all, `tidegate check` what is wrong.

Exit status: 0 all is well, 1 it could not start, 2 the settings or the command line have faults.";

/// A gateway for APIs that limit their callers: it keeps a pool of tokens, rests the refused ones, and retries what is
/// safe to retry.
#[derive(Debug, PartialEq, Parser)]
#[command(name = "tidegate", version, after_help = SETTINGS, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Read this TOML file
    #[arg(short, long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// What to do; to serve, unless something else was said.
    pub(crate) fn command(&self) -> Command {
        self.command.clone().unwrap_or(Command::Serve)
    }
}

/// What the binary can do.
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub(crate) enum Command {
    /// Run the gateway (the default)
    Serve,
    /// Tell every fault of the settings, each with its source and a fix
    Check,
    /// Show the effective settings and where each came from, secrets hidden
    Config,
    /// Show how long retries wait and tokens rest
    Schedule,
    /// Run the gateway in front of a made-up upstream that limits its tokens; needs no settings and no network
    Demo {
        /// End after this time, such as 8s or 1m30s; otherwise with Ctrl-C
        #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
        lasting: Option<Duration>,
    },
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| format!("it {error}; write 8s or 1m30s"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        <Cli as CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_command_is_what_was_said_and_serve_otherwise() {
        let demo = |seconds| Command::Demo { lasting: Some(Duration::from_secs(seconds)) };
        for (line, config, command) in [
            ("tidegate", None, Command::Serve),
            ("tidegate serve", None, Command::Serve),
            ("tidegate -c a.toml", Some("a.toml"), Command::Serve),
            ("tidegate check --config a.toml", Some("a.toml"), Command::Check),
            ("tidegate -c a.toml config", Some("a.toml"), Command::Config),
            ("tidegate schedule", None, Command::Schedule),
            ("tidegate demo", None, Command::Demo { lasting: None }),
            ("tidegate demo --for 8s", None, demo(8)),
            ("tidegate demo --for 1m30s", None, demo(90)),
        ] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert_eq!(
                (cli.config.as_deref(), cli.command()),
                (config.map(std::path::Path::new), command),
                "{line}"
            );
        }
    }

    #[test]
    fn a_faulty_line_says_what_to_write() {
        for (line, said) in [
            ("tidegate demo --for 8", "it has no unit; write 8s or 1m30s"),
            ("tidegate chekc", "check"),
            ("tidegate --port 1", "--port"),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
