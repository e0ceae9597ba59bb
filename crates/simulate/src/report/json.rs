use serde_json::{Value, json};

use super::Line;
use crate::world::Traffic;

/// A line of JSON for each line of figures.
pub fn json_lines(lines: &[Line], seeds: u64) -> String {
    lines.iter().map(|line| format!("{}\n", json_line(line, seeds))).collect()
}

fn json_line(line: &Line, seeds: u64) -> Value {
    let mut value = json!({
        "model": line.model,
        "policy": line.policy.as_str(),
        "seeds": seeds,
        "granted_a_second": line.granted,
        "figures": line.figures,
    });
    if let Some(part) = line.part {
        value["part"] = part.as_str().into();
    }
    let name = if matches!(line.traffic, Traffic::Closed { .. }) { "users" } else { "load" };
    value[name] = line.load().into();
    value
}
