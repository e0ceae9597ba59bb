//! The simulator as a whole.

#![allow(clippy::unwrap_used, reason = "tests fail by a panic")]

mod grid;
mod runs;
