//! Tidegate in virtual time: its own pool, retry policy, budget and layers, over a simulated upstream that limits and
//! simulated clients that call. An hour of traffic takes seconds, and the same seed gives the same figures on every
//! machine.

mod grid;
mod many;
pub mod measure;
mod plan;
pub mod policy;
pub mod report;
mod run;
pub mod world;

pub use grid::{Part, Row, Wanted, rows};
pub use many::run_all;
pub use plan::{Plan, PlanError};
pub use run::{Case, run};
