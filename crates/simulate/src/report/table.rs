use super::figures::{calls, marked, ratio, seconds};
use super::{Bound, Line};
use crate::grid::Part;
use crate::policy::Named;
use crate::world::Traffic;

/// Who is served so nearly always is content.
const CONTENT: f64 = 0.99;

/// All figures, a line a case.
pub fn figures_table(lines: &[Line]) -> String {
    let mut table = Table::new(&[
        "model",
        "load",
        "policy",
        "goodput / limit",
        "served",
        "calls per success",
        "refused",
        "p50",
        "p99",
        "p99 of others",
        "fairness",
    ]);
    for line in lines {
        let it = &line.figures;
        table.row(vec![
            line.model.clone(),
            traffic(line.traffic),
            line.policy.to_string(),
            ratio(it.goodput),
            ratio(it.success),
            calls(it.calls_per_success),
            ratio(it.refused),
            seconds(it.p50),
            seconds(it.p99),
            seconds(it.p99_of_failures),
            ratio(it.fairness),
        ]);
    }
    table.print() + &recoveries(lines)
}

fn recoveries(lines: &[Line]) -> String {
    let told = lines.iter().filter_map(|line| {
        let (recovery, calls_then) = (line.figures.recovery?, line.figures.calls_in_outage?);
        Some(format!(
            "{}, {}: after the outage all is as before in {} s; {} calls a request during it\n",
            line.policy,
            in_words(line.traffic),
            seconds(recovery),
            calls(calls_then),
        ))
    });
    let told: String = told.collect();
    if told.is_empty() { told } else { format!("\n{told}") }
}

/// What can be served: a line a case in requests a second, and the answer in a sentence.
pub fn capacity_table(lines: &[Line]) -> String {
    let mut table = Table::new(&[
        "policy",
        "load",
        "asked / s",
        "served / s",
        "served",
        "p50",
        "p99",
        "calls per success",
        "refused",
    ]);
    for line in lines {
        let it = &line.figures;
        table.row(vec![
            line.policy.to_string(),
            traffic(line.traffic),
            format!("{:.2}", it.offered_a_second),
            format!("{:.2}", it.served_a_second),
            format!("{:.1} %", 100.0 * it.success),
            seconds(it.p50),
            seconds(it.p99),
            calls(it.calls_per_success),
            format!("{:.1} %", 100.0 * it.refused),
        ]);
    }
    let granted = lines.first().map_or(0.0, |line| line.granted);
    format!(
        "{}, {granted:.2} calls a second granted\n\n{}{}\n{}",
        lines.first().map_or("", |line| &line.model),
        table.print(),
        recoveries(lines),
        answer(lines)
    )
}

/// The most that one of us was asked for while nearly all were served.
fn answer(lines: &[Line]) -> String {
    let ours = lines.iter().filter(|line| line.policy == Named::Ours && line.figures.success >= CONTENT);
    let most = ours.max_by(|a, b| a.figures.served_a_second.total_cmp(&b.figures.served_a_second));
    match most {
        Some(line) => format!(
            "Up to {:.2} requests a second ({}) {:.1} % are served, 99 of 100 of them within {} s.\n",
            line.figures.served_a_second,
            in_words(line.traffic),
            100.0 * line.figures.success,
            seconds(line.figures.p99),
        ),
        None => "At none of these are 99 % of the requests served.\n".to_owned(),
    }
}

/// The grid, a table a part: our figures, and beside them what others reach.
pub fn grid_table(lines: &[Line], policies: &[Named]) -> String {
    let parts = Part::ALL.into_iter().map(|part| {
        let lines: Vec<&Line> = lines.iter().filter(|line| line.part == Some(part)).collect();
        if lines.is_empty() {
            String::new()
        } else {
            format!("{}\n\n{}\n", part.title(), part_table(part, &lines, policies))
        }
    });
    let parts: String = parts.collect();
    let misses = lines.iter().any(|line| line.wanted.is_missed_by(&line.figures));
    if misses { parts + "`!`: not what is wanted\n" } else { parts }
}

fn part_table(part: Part, lines: &[&Line], policies: &[Named]) -> String {
    let mut header = vec!["model".to_owned(), "load".to_owned()];
    for policy in policies {
        match (policy, part) {
            (Named::Ours, Part::Outage) => {
                header.extend(
                    ["goodput", "calls per success", "recovery", "calls in outage"].map(str::to_owned),
                );
            }
            (Named::Ours, _) => {
                header.extend(["goodput", "calls per success", "p50", "p99"].map(str::to_owned));
            }
            (Named::Best, _) => header.push("best possible".to_owned()),
            (other, _) => header.push(other.to_string()),
        }
    }
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for row in lines.chunk_by(|a, b| a.model == b.model && a.traffic == b.traffic) {
        let mut cells = vec![row[0].model.clone(), traffic(row[0].traffic)];
        for line in row {
            cells.extend(cells_of(part, line));
        }
        table.row(cells);
    }
    table.print()
}

fn cells_of(part: Part, line: &Line) -> Vec<String> {
    let (it, wanted) = (&line.figures, &line.wanted);
    let in_outage = it.calls_in_outage.unwrap_or_default();
    let recovery = it.recovery.unwrap_or_default();
    let goodput = marked(ratio(it.goodput), it.goodput < wanted.goodput);
    let per_success = marked(calls(it.calls_per_success), it.calls_per_success > wanted.calls);
    match (line.policy, part) {
        (Named::Ours, Part::Outage) => vec![
            goodput,
            per_success,
            marked(seconds(recovery), recovery > wanted.recovery),
            marked(calls(in_outage), in_outage > wanted.calls_in_outage),
        ],
        (Named::Ours, _) => {
            vec![goodput, per_success, seconds(it.p50), marked(seconds(it.p99), it.p99 > wanted.p99)]
        }
        (Named::Best, _) => vec![goodput],
        (_, Part::Outage) => vec![format!("{goodput}, {} s, {}", seconds(recovery), calls(in_outage))],
        _ => vec![format!("{goodput} ({per_success})")],
    }
}

/// The bounds that these figures give, as a file keeps them.
pub fn bounds_table(lines: &[Line]) -> String {
    lines.iter().filter_map(Bound::just_outside).map(|bound| format!("{bound}\n")).collect()
}

fn traffic(traffic: Traffic) -> String {
    match traffic {
        Traffic::Poisson { load } | Traffic::Bursts { load, .. } => {
            let text = format!("{load:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Traffic::Closed { users, .. } => format!("{users} users"),
    }
}

fn in_words(of: Traffic) -> String {
    match of {
        Traffic::Closed { .. } => traffic(of),
        Traffic::Poisson { .. } | Traffic::Bursts { .. } => format!("load {}", traffic(of)),
    }
}

/// A table in Markdown that can be read as it is too.
struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    fn print(&self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                text += &format!("| {cell:width$} ");
            }
            text += "|\n";
            if number == 0 {
                for width in &widths {
                    text += &format!("|{}", "-".repeat(width + 2));
                }
                text += "|\n";
            }
        }
        text
    }
}
