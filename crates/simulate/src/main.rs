//! `cargo xtask simulate`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use serde_json::json;
use tidegate_simulate::measure::Measured;
use tidegate_simulate::policy::{Named, OursSettings};
use tidegate_simulate::world::{Hints, Model, Traffic, World};
use tidegate_simulate::{Case, Part, Wanted, rows, run_all};

/// Simulates Tidegate and others in virtual time.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask simulate")]
struct Arguments {
    /// Every model and load.
    #[arg(long)]
    grid: bool,
    /// With --grid: only rows whose part, model or load holds this text.
    #[arg(long)]
    only: Option<String>,
    /// How many seeds each figure is the mean of.
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The upstream's limit for each token.
    #[arg(long, default_value = "bucket 2/1s burst 10")]
    model: Model,
    /// How many tokens.
    #[arg(long, default_value_t = 10)]
    tokens: usize,
    /// In parts of what the upstream grants; several with commas.
    #[arg(long, value_delimiter = ',', default_value = "0.9")]
    load: Vec<f64>,
    /// Who spends the tokens: ours, pixivfe-v2, pixivfe-v3, fixed, round-robin, best; several with commas.
    #[arg(long, value_delimiter = ',', default_value = "ours")]
    policy: Vec<Named>,
    /// The upstream tells its limit in headers.
    #[arg(long)]
    told: bool,
    /// The share of 404s.
    #[arg(long, default_value_t = 0.0)]
    not_found: f64,
    /// The part of a call's latency after which it meets the limit.
    #[arg(long, default_value_t = 0.1)]
    arrives_after: f64,
    /// A setting of Tidegate's, such as token.max_wait="2s"; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// How many minutes are measured, after five of warm-up.
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// JSON, a line a row.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match simulate(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simulate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn simulate(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let settings = OursSettings::from_toml("--set", &arguments.set.join("\n"))?;
    let measured = Duration::from_secs(60 * arguments.minutes);
    let mut labels = Vec::new();
    let mut cases = Vec::new();
    if arguments.grid {
        for mut row in rows()? {
            row.world.measured = measured;
            let label = (row.part, row.name.clone(), row.load(), Some(row.wanted));
            let text = format!("{} {} {}", label.0.as_str(), label.1, label.2);
            if arguments.only.as_ref().is_some_and(|only| !text.contains(only.as_str())) {
                continue;
            }
            for policy in &arguments.policy {
                labels.push(label.clone());
                cases.push(row.case(*policy, &settings));
            }
        }
    } else {
        for load in &arguments.load {
            let world = World {
                tokens: arguments.tokens,
                model: arguments.model,
                not_found: arguments.not_found,
                arrives_after: arguments.arrives_after,
                hints: if arguments.told { Hints::Both } else { Hints::None },
                traffic: Traffic::Poisson { load: *load },
                measured,
                ..World::default()
            };
            for policy in &arguments.policy {
                labels.push((
                    Part::Learned,
                    format!("{} x {}", arguments.model, arguments.tokens),
                    *load,
                    None,
                ));
                let settings = settings.clone();
                let best_waits = Duration::from_secs(2);
                cases.push(Case { world: world.clone(), policy: *policy, settings, best_waits });
            }
        }
    }
    let seeds: Vec<u64> = (arguments.seed..arguments.seed + arguments.seeds).collect();
    let measured = run_all(&cases, &seeds)?;
    if !arguments.json {
        println!(
            "{:8} {:32} {:>5} {:12} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>6} {:>8}",
            "part",
            "model",
            "load",
            "policy",
            "goodput",
            "success",
            "calls",
            "refused",
            "p50",
            "p99",
            "fair",
            "recovery"
        );
    }
    for (((part, name, load, wanted), case), figures) in labels.iter().zip(&cases).zip(&measured) {
        if arguments.json {
            println!(
                "{}",
                json!({ "part": part.as_str(), "model": name, "load": load, "policy": case.policy.as_str(), "seeds": seeds.len(), "figures": figures })
            );
        } else {
            println!("{}", line(*part, name, *load, case.policy, figures, *wanted));
        }
    }
    Ok(())
}

fn line(part: Part, name: &str, load: f64, policy: Named, it: &Measured, wanted: Option<Wanted>) -> String {
    let mark = |missed: bool| if missed { "!" } else { "" };
    let wanted = wanted.filter(|_| policy == Named::Ours);
    let missed = |test: fn(&Measured, Wanted) -> bool| mark(wanted.is_some_and(|wanted| test(it, wanted)));
    format!(
        "{:8} {:32} {:>5} {:12} {:>8} {:>8.3} {:>8} {:>8.3} {:>7.3} {:>7} {:>6.3} {:>8}",
        part.as_str(),
        name,
        load,
        policy,
        format!("{}{:.3}", missed(|it, wanted| it.goodput < wanted.goodput), it.goodput),
        it.success,
        format!("{}{:.3}", missed(|it, wanted| it.calls_per_success > wanted.calls), it.calls_per_success),
        it.refused,
        it.p50,
        format!("{}{:.3}", missed(|it, wanted| it.p99 > wanted.p99), it.p99),
        it.fairness,
        match (it.recovery, it.calls_in_outage) {
            (Some(recovery), Some(calls)) => format!("{recovery:.1}s {calls:.2}"),
            _ => String::new(),
        },
    )
}
