//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use tidegate_config::parse_duration;

const SETTINGS: &str = "\
Settings come from, each before the one after it: the environment, .env, a TOML file (-c, TIDEGATE_CONFIG, or
./tidegate.toml), the preset, the defaults. `tidegate config` shows them all, `tidegate check` what is wrong.

Exit status: 0 all is well; 1 it could not be done: the gateway did not start, did not answer, or is not well; 2 the
settings or the command line have faults.";

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
        /// Show the dashboard in the browser
        #[arg(long)]
        open: bool,
    },
    /// List the tokens of the running gateway, or operate them, through its admin listener
    Tokens {
        #[command(subcommand)]
        operation: Option<TokensCommand>,
    },
    /// Ask the running gateway, through its admin listener, whether it is well; made for containers
    Healthcheck {
        /// Ask whether it wants requests (/readyz), not only whether it lives (/healthz)
        #[arg(long)]
        ready: bool,
    },
    /// Write the completions for a shell to standard output
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// What can be done to the tokens of the running gateway. A token is named by its name or its id.
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub(crate) enum TokensCommand {
    /// Show each token's state (what `tokens` alone does)
    List {
        /// As the gateway's JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a token's failures and end its rest
    Reset {
        /// Which token; or --all
        #[arg(value_name = "NAME|ID", required_unless_present = "all", conflicts_with = "all")]
        token: Option<String>,
        /// Every token of every pool
        #[arg(long)]
        all: bool,
    },
    /// Lend a token no more, until it is enabled
    Disable {
        /// Which token
        #[arg(value_name = "NAME|ID")]
        token: String,
    },
    /// Lend a disabled token again
    Enable {
        /// Which token
        #[arg(value_name = "NAME|ID")]
        token: String,
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
        let demo = |seconds| Command::Demo { lasting: Some(Duration::from_secs(seconds)), open: false };
        let tokens = |operation| Command::Tokens { operation: Some(operation) };
        let web = || "web".to_owned();
        for (line, config, command) in [
            ("tidegate", None, Command::Serve),
            ("tidegate serve", None, Command::Serve),
            ("tidegate -c a.toml", Some("a.toml"), Command::Serve),
            ("tidegate check --config a.toml", Some("a.toml"), Command::Check),
            ("tidegate -c a.toml config", Some("a.toml"), Command::Config),
            ("tidegate schedule", None, Command::Schedule),
            ("tidegate demo", None, Command::Demo { lasting: None, open: false }),
            ("tidegate demo --open", None, Command::Demo { lasting: None, open: true }),
            ("tidegate tokens", None, Command::Tokens { operation: None }),
            ("tidegate tokens list --json", None, tokens(TokensCommand::List { json: true })),
            ("tidegate tokens reset --all", None, tokens(TokensCommand::Reset { token: None, all: true })),
            (
                "tidegate tokens reset web",
                None,
                tokens(TokensCommand::Reset { token: Some(web()), all: false }),
            ),
            (
                "tidegate -c a.toml tokens disable web",
                Some("a.toml"),
                tokens(TokensCommand::Disable { token: web() }),
            ),
            ("tidegate tokens enable web", None, tokens(TokensCommand::Enable { token: web() })),
            ("tidegate healthcheck", None, Command::Healthcheck { ready: false }),
            ("tidegate healthcheck --ready", None, Command::Healthcheck { ready: true }),
            ("tidegate completions fish", None, Command::Completions { shell: Shell::Fish }),
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
            ("tidegate tokens reset", "<NAME|ID>"),
            ("tidegate tokens reset web --all", "--all"),
            ("tidegate completions tcsh", "fish"),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
