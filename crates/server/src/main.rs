//! `tidegate`: a gateway for APIs that limit their callers.
//!
//! The binary is thin: it composes `tidegate-config`, `tidegate-api-client` and `tidegate-token-manager` as tower
//! services. [`app`] is the outer stack, [`gateway`] builds everything from the settings, [`server`] runs it.

mod access_log;
mod admin;
mod app;
mod body_limit;
mod cli;
mod client_ip;
mod client_keys;
mod client_rate;
mod commands;
mod convert;
mod demo;
mod errors;
mod forward;
mod gateway;
mod hygiene;
mod listen;
mod live;
mod log;
mod metrics;
mod notify;
mod operator;
mod panics;
mod pools;
mod problem;
mod record;
mod reload;
mod request_id;
mod route;
mod server;
mod shed;
mod signals;
mod state;
mod store;
mod target;
mod trip;

use clap::Parser;
use cli::{Cli, Command};

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let command = cli.command();
    match command {
        Command::Serve => commands::serve::run(cli.config),
        Command::Check => commands::check::run(cli.config),
        Command::Config => commands::config::run(cli.config),
        Command::Schedule => commands::schedule::run(cli.config),
        Command::Demo { lasting, open } => commands::demo::run(lasting, open),
        Command::Tokens { operation } => commands::tokens::run(cli.config, operation),
        Command::Healthcheck { ready } => commands::healthcheck::run(cli.config, ready),
        Command::Completions { shell } => commands::completions::run(shell),
    }
}
