//! The binary from outside: started with settings, in front of a scripted upstream, on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests fail by a panic, and say what they skip and measure"
)]

mod browser;
mod client;
mod commands;
mod dashboard;
mod deploy;
mod gateway;
mod life;
mod need;
mod pool;
mod presets;
mod readme;
#[path = "../../../store/tests/it/redis_server.rs"]
mod redis_server;
mod secrets;
mod store;
mod upstream;
mod wire;
