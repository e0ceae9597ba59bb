//! What the crate promises, seen from outside.

mod budget;
#[cfg(feature = "backoff")]
mod compat;
mod contention;
mod domain;
mod golden;
#[cfg(feature = "serde")]
mod serde;
mod strategies;
