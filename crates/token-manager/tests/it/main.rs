//! The pool as its users see it: waiting under a paused clock, futures dropped at every point, and real
//! threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod cancel;
mod converge;
mod ends;
mod fairness;
mod learned;
mod operate;
mod paced;
mod pinned;
mod reload;
mod renewal;
mod scopes;
mod share;
mod support;
mod threads;
mod waiting;
