//! The stores as they are used: files that are killed, torn and full, and a Redis that is stopped, frozen,
//! restarted and filled with other things.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests fail by a panic, and say what they skip and measure"
)]

mod figures;
mod file;
mod killed;
mod redis;
mod redis_faults;
mod redis_server;
mod support;
