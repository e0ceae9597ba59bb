use std::time::Duration;

use serde::Serialize;

use super::{Calls, Outcome, Request};
use crate::world::{Traffic, World};

/// Goodput is looked at over so long to see whether an outage is over for the clients too.
const RECOVERY_WINDOW: Duration = Duration::from_secs(5);
/// It is, where this part of what came before is there again.
const RECOVERED: f64 = 0.95;

/// What one run comes to, or the mean of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// Requests that came in.
    pub offered: f64,
    /// Those that the upstream answered.
    pub served: f64,
    /// Those that came in, a second.
    pub offered_a_second: f64,
    /// Those that were served, a second.
    pub served_a_second: f64,
    /// What could be served: the smaller of what was offered, outside of outages, and what the model can grant.
    pub limit: f64,
    /// `served / limit`.
    pub goodput: f64,
    /// `served / offered`.
    pub success: f64,
    /// Calls that the upstream was sent for each request that was served; infinite where none was.
    pub calls_per_success: f64,
    /// The share of calls that the limit refused.
    pub refused: f64,
    /// Half of those who were served waited less than so many seconds.
    pub p50: f64,
    /// All of them but a hundredth.
    pub p99: f64,
    /// Those who were not served were told so within so many seconds, all but a hundredth.
    pub p99_of_failures: f64,
    /// Jain's index of what clients got of what max-min fairness would give them: 1 is fair.
    pub fairness: f64,
    /// Seconds from an outage's end until the clients were served as before it; the rest of the time where they
    /// never were. None without an outage.
    pub recovery: Option<f64>,
    /// Calls during the outage for each request that came in then.
    pub calls_in_outage: Option<f64>,
}

impl Measured {
    /// The figures of one run.
    pub fn new(world: &World, requests: &[Request], calls: &Calls) -> Self {
        let (from, until) = (world.warm_up, world.warm_up + world.measured);
        let counted: Vec<Request> = requests
            .iter()
            .filter(|request| from <= request.asked && request.asked < until)
            .copied()
            .collect();
        let served = counted.iter().filter(|request| request.outcome == Outcome::Served).count() as f64;
        let offered = counted.len() as f64;
        let in_vain = counted.iter().filter(|request| world.is_out(request.asked)).count() as f64;
        let limit = demand(world, offered - in_vain).min(world.grantable());
        let took = |which: fn(Outcome) -> bool| {
            let mut took: Vec<Duration> = counted
                .iter()
                .filter(|request| which(request.outcome))
                .map(|request| request.ended.saturating_sub(request.asked))
                .collect();
            took.sort_unstable();
            took
        };
        let waits = took(|outcome| outcome == Outcome::Served);
        let outage = calls.outage();
        Self {
            offered,
            served,
            offered_a_second: offered / world.measured.as_secs_f64(),
            served_a_second: served / world.measured.as_secs_f64(),
            limit,
            goodput: served / limit,
            success: served / offered,
            calls_per_success: calls.all as f64 / served,
            refused: calls.refused as f64 / (calls.all.max(1)) as f64,
            p50: quantile(&waits, 500),
            p99: quantile(&waits, 990),
            p99_of_failures: quantile(&took(|outcome| outcome != Outcome::Served), 990),
            fairness: fairness(&counted, world.clients.len()),
            recovery: outage.map(|(began, ended)| recovery(&counted, began, ended, until)),
            calls_in_outage: outage.map(|(began, ended)| {
                let asked = counted.iter().filter(|request| began <= request.asked && request.asked < ended);
                calls.in_outage as f64 / asked.count().max(1) as f64
            }),
        }
    }

    /// The mean of several runs, figure by figure.
    pub fn mean(runs: &[Self]) -> Self {
        let mean = |figure: fn(&Self) -> f64| runs.iter().map(figure).sum::<f64>() / runs.len() as f64;
        let mean_of_some = |figure: fn(&Self) -> Option<f64>| {
            let some: Vec<f64> = runs.iter().filter_map(figure).collect();
            (!some.is_empty()).then(|| some.iter().sum::<f64>() / some.len() as f64)
        };
        Self {
            offered: mean(|run| run.offered),
            served: mean(|run| run.served),
            offered_a_second: mean(|run| run.offered_a_second),
            served_a_second: mean(|run| run.served_a_second),
            limit: mean(|run| run.limit),
            goodput: mean(|run| run.goodput),
            success: mean(|run| run.success),
            calls_per_success: mean(|run| run.calls_per_success),
            refused: mean(|run| run.refused),
            p50: mean(|run| run.p50),
            p99: mean(|run| run.p99),
            p99_of_failures: mean(|run| run.p99_of_failures),
            fairness: mean(|run| run.fairness),
            recovery: mean_of_some(|run| run.recovery),
            calls_in_outage: mean_of_some(|run| run.calls_in_outage),
        }
    }
}

/// What clients would ask for if nothing held them up. Those who wait for answers ask for less when they wait longer.
fn demand(world: &World, offered: f64) -> f64 {
    match world.traffic {
        Traffic::Poisson { .. } | Traffic::Bursts { .. } => offered,
        Traffic::Closed { users, think } => {
            let round = think + world.latency.mean();
            users as f64 * world.measured.as_secs_f64() / round.as_secs_f64()
        }
    }
}

/// The value that so many thousandths do not pass; not a number where there is none.
fn quantile(sorted: &[Duration], thousandths: usize) -> f64 {
    let place = (sorted.len() * thousandths).div_ceil(1000);
    sorted.get(place.saturating_sub(1)).map_or(f64::NAN, Duration::as_secs_f64)
}

/// Jain's index over `served / fair share`.
fn fairness(requests: &[Request], clients: usize) -> f64 {
    let mut offered = vec![0.0; clients];
    let mut served = vec![0.0; clients];
    for request in requests {
        offered[request.client] += 1.0;
        if request.outcome == Outcome::Served {
            served[request.client] += 1.0;
        }
    }
    let shares = max_min(&offered, served.iter().sum());
    let parts: Vec<f64> = served
        .iter()
        .zip(&shares)
        .filter(|(_, share)| **share > 0.0)
        .map(|(served, share)| served / share)
        .collect();
    let (sum, squares) =
        parts.iter().fold((0.0, 0.0), |(sum, squares), part| (sum + part, squares + part * part));
    if squares > 0.0 { sum * sum / (parts.len() as f64 * squares) } else { 1.0 }
}

/// Divides `whole` so that nobody gets more than asked for and who gets less gets as much as anybody.
fn max_min(asked: &[f64], whole: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..asked.len()).collect();
    order.sort_by(|a, b| asked[*a].total_cmp(&asked[*b]));
    let mut shares = vec![0.0; asked.len()];
    let mut left = whole;
    for (done, client) in order.iter().enumerate() {
        let equal = left / (asked.len() - done) as f64;
        shares[*client] = asked[*client].min(equal);
        left -= shares[*client];
    }
    shares
}

/// From the end of the outage to the first moment after which, for the window's length, as great a part of what was
/// asked is served as before.
fn recovery(requests: &[Request], began: Duration, ended: Duration, until: Duration) -> f64 {
    let share = |from: Duration, until: Duration| {
        let within = |at: Duration| from <= at && at < until;
        let asked = requests.iter().filter(|request| within(request.asked)).count();
        let served = requests.iter().filter(|it| it.outcome == Outcome::Served && within(it.ended)).count();
        served as f64 / asked.max(1) as f64
    };
    let before = share(began.saturating_sub(Duration::from_secs(120)), began);
    let mut at = ended;
    while at + RECOVERY_WINDOW < until && share(at, at + RECOVERY_WINDOW) < RECOVERED * before {
        at += Duration::from_millis(100);
    }
    (at - ended).as_secs_f64()
}

#[cfg(test)]
mod tests;
