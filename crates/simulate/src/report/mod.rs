//! What runs come to, for people and for machines.

mod bounds;
mod chart;
mod figures;
mod json;
mod table;
#[cfg(test)]
mod tests;

pub use bounds::{Bound, OutageBound, ParseBoundError, read_bounds};
pub use chart::chart;
pub use json::json_lines;
pub use table::{bounds_table, capacity_table, figures_table, grid_table};

use crate::grid::{Part, Row, Wanted};
use crate::measure::Measured;
use crate::plan::Plan;
use crate::policy::Named;
use crate::world::{Traffic, World};

/// One case's figures, and what they are of.
#[derive(Clone, Debug)]
pub struct Line {
    /// The part of the grid, where it is of the grid.
    pub part: Option<Part>,
    /// The model and how many tokens there are.
    pub model: String,
    /// Who calls.
    pub traffic: Traffic,
    /// What all tokens together are granted a second.
    pub granted: f64,
    /// Who spent the tokens.
    pub policy: Named,
    /// What it came to.
    pub figures: Measured,
    /// What is wanted of it.
    pub wanted: Wanted,
}

impl Line {
    /// The lines of a plan, whose cases gave these figures.
    pub fn of_plan(plan: &Plan, figures: &[Measured]) -> Vec<Self> {
        let cases =
            plan.worlds.iter().flat_map(|world| plan.policies.iter().map(move |policy| (world, *policy)));
        let line = |((world, policy), figures)| Self::new(None, world, policy, figures, Wanted::NOTHING);
        cases.zip(figures).map(line).collect()
    }

    /// The lines of the grid, each of whose rows was run under each policy.
    pub fn of_grid(rows: &[Row], policies: &[Named], figures: &[Measured]) -> Vec<Self> {
        let cases = rows.iter().flat_map(|row| policies.iter().map(move |policy| (row, *policy)));
        let line = |((row, policy), figures): ((&Row, Named), &Measured)| {
            // What is wanted is wanted of us.
            let wanted = if policy == Named::Ours { row.wanted } else { Wanted::NOTHING };
            Self::new(Some(row.part), &row.world, policy, figures, wanted)
        };
        cases.zip(figures).map(line).collect()
    }

    fn new(part: Option<Part>, world: &World, policy: Named, figures: &Measured, wanted: Wanted) -> Self {
        Self {
            part,
            model: format!("{} x {}", world.model, world.tokens),
            traffic: world.traffic,
            granted: world.per_second(),
            policy,
            figures: figures.clone(),
            wanted,
        }
    }

    /// In parts of what the upstream grants; of a closed world, how many users there are.
    pub fn load(&self) -> f64 {
        match self.traffic {
            Traffic::Poisson { load } | Traffic::Bursts { load, .. } => load,
            Traffic::Closed { users, .. } => users as f64,
        }
    }
}
