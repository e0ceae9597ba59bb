//! The operators' listener: the dashboard, probes, metrics, the tokens and what can be done to them.
//!
//! [`router`] needs an [`Operator`], which is what the gateway lets people see and do, and [`AdminParams`], which is
//! whom it lets.

mod access;
mod cross_site;
mod events;
mod host;
mod login;
mod operator;
mod page;
mod routes;
#[cfg(test)]
mod tests;
mod tokens;
mod update;
mod watch;

pub(crate) use access::AdminParams;
pub(crate) use operator::{Operation, Operator, Overview, PoolOverview, Readiness, Reloaded};
pub(crate) use routes::router;
