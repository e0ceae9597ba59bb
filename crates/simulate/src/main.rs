//! `cargo xtask simulate`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser};
use tidegate_simulate::policy::{Named, OursSettings};
use tidegate_simulate::report::{
    Line, bounds_table, capacity_table, chart, figures_table, grid_table, json_lines,
};
use tidegate_simulate::world::{Hints, Model, Traffic, World};
use tidegate_simulate::{Plan, rows, run_all};

/// The pool and the retries in virtual time: what they get out of an upstream that limits, and what others get.
///
/// The same seed gives the same figures on every machine. docs/simulation.md says what is simulated, and what a file
/// for --config holds.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask simulate", bin_name = "cargo xtask simulate")]
struct Arguments {
    /// A settings file with a table [simulate] more: what can be served with these tokens?
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["grid", "model", "tokens", "load", "set"])]
    config: Option<PathBuf>,
    /// All models and loads that the project measures itself by.
    #[arg(long)]
    grid: bool,
    /// Of the grid, only the rows in whose part, model and load this text stands: "learned bucket", "0.9".
    #[arg(long, value_name = "TEXT", requires = "grid")]
    only: Option<String>,
    /// Prints the bounds that the grid's figures keep with a little room, for crates/simulate/bounds.txt.
    #[arg(long, requires = "grid")]
    bounds: bool,
    #[command(flatten)]
    world: WorldArguments,
    /// ours, pixivfe-v2, pixivfe-v3, fixed, round-robin, best; or all.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = policies)]
    policy: Vec<Policies>,
    /// How many seeds each figure is the mean of [default: 5, or what the file says].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many minutes are measured, after five of warm-up [default: 30, or what the file says].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    minutes: Option<u64>,
    /// A line of JSON for each case.
    #[arg(long)]
    json: bool,
    /// Draws charts.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// A world in short, where no file describes it.
#[derive(Debug, Args)]
struct WorldArguments {
    /// The limit of each token: "bucket 2/1s burst 10", "window 100/1m", "sliding 100/1m", "block 100/1m for 1m [extend]".
    #[arg(long, default_value = "bucket 2/1s burst 10")]
    model: Model,
    /// How many tokens.
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    tokens: u16,
    /// What is asked for, in parts of what is granted.
    #[arg(long, value_name = "LOADS", value_delimiter = ',', default_value = "0.5,0.9,1,1.5,3")]
    load: Vec<f64>,
    /// The limit is told in headers.
    #[arg(long)]
    told: bool,
    /// The share of calls that find nothing.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    not_found: f64,
    /// The part of a call's latency after which it meets the limit.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = share)]
    arrives_after: f64,
    /// A setting of Tidegate's, such as 'token.max_wait = "2s"'; also for the grid.
    #[arg(long, value_name = "KEY = VALUE")]
    set: Vec<String>,
}

/// One name, or all of them.
#[derive(Clone, Debug)]
struct Policies(Vec<Named>);

fn policies(text: &str) -> Result<Policies, String> {
    if text == "all" {
        return Ok(Policies(Named::ALL.to_vec()));
    }
    text.parse().map(|named| Policies(vec![named])).map_err(|error| format!("{error}, or all"))
}

fn share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("it must be from 0 to 1; write 0.05 for 5 %")
}

fn main() -> ExitCode {
    match simulate(&Arguments::parse()) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("simulate: {error}");
            ExitCode::from(2)
        }
    }
}

fn simulate(arguments: &Arguments) -> Result<String, Box<dyn Error>> {
    let named: Vec<Named> = arguments.policy.iter().flat_map(|policies| policies.0.clone()).collect();
    let seeds = |count: u64| (arguments.seed..arguments.seed.saturating_add(count)).collect::<Vec<u64>>();
    let mut count = arguments.seeds.unwrap_or(5);
    let (lines, text) = if arguments.grid {
        let policies = if named.is_empty() { vec![Named::Ours, Named::Best] } else { named };
        let lines = grid(arguments, &policies, &seeds(count))?;
        let text = if arguments.bounds { bounds_table(&lines) } else { grid_table(&lines, &policies) };
        (lines, text)
    } else {
        let mut plan = match &arguments.config {
            Some(path) => {
                let text =
                    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
                Plan::read(&path.display().to_string(), &text)?
            }
            None => arguments.world.plan()?,
        };
        if !named.is_empty() {
            plan.policies = named;
        }
        if let Some(minutes) = arguments.minutes {
            for world in &mut plan.worlds {
                world.measured = Duration::from_secs(60 * minutes);
            }
        }
        count = arguments.seeds.unwrap_or(plan.seeds);
        let lines = Line::of_plan(&plan, &run_all(&plan.cases(), &seeds(count))?);
        let table = if arguments.config.is_some() { capacity_table } else { figures_table };
        let text = table(&lines);
        (lines, text)
    };
    if let Some(path) = &arguments.svg {
        fs::write(path, chart(&lines)).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(if arguments.json { json_lines(&lines, count) } else { text })
}

fn grid(arguments: &Arguments, policies: &[Named], seeds: &[u64]) -> Result<Vec<Line>, Box<dyn Error>> {
    let settings = arguments.world.settings()?;
    let mut rows = rows();
    if let Some(only) = &arguments.only {
        rows.retain(|row| row.key().replace(" |", "").contains(only.as_str()));
    }
    for row in &mut rows {
        row.world.measured = Duration::from_secs(60 * arguments.minutes.unwrap_or(30));
    }
    let cases: Vec<_> =
        rows.iter().flat_map(|row| policies.iter().map(|policy| row.case(*policy, &settings))).collect();
    Ok(Line::of_grid(&rows, policies, &run_all(&cases, seeds)?))
}

impl WorldArguments {
    fn settings(&self) -> Result<OursSettings, Box<dyn Error>> {
        Ok(OursSettings::from_toml("--set", &self.set.join("\n"))?)
    }

    fn plan(&self) -> Result<Plan, Box<dyn Error>> {
        let world = |load: &f64| World {
            tokens: self.tokens.into(),
            model: self.model,
            not_found: self.not_found,
            arrives_after: self.arrives_after,
            hints: if self.told { Hints::Both } else { Hints::None },
            traffic: Traffic::Poisson { load: *load },
            ..World::default()
        };
        if self.load.iter().any(|load| !(0.0..=1000.0).contains(load)) {
            return Err("--load: each is from 0 to 1000, in parts of what is granted".into());
        }
        let worlds = self.load.iter().map(world).collect();
        Ok(Plan { worlds, policies: vec![Named::Ours], settings: self.settings()?, seeds: 5 })
    }
}
