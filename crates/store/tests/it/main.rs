//! The stores as they are used: files that are killed, torn and full, and a Redis that is stopped, frozen,
//! restarted and filled with other things.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod figures;
mod file;
mod killed;
mod redis;
mod redis_faults;
mod redis_server;
mod support;
