//! What the crate promises, seen from outside.

mod budget;
#[cfg(feature = "backoff")]
mod compat;
mod domain;
mod golden;
mod strategies;
