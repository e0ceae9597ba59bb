//! The binary from outside: started with settings, in front of a scripted upstream, on loopback.

#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod browser;
mod client;
mod commands;
mod dashboard;
mod deploy;
mod gateway;
mod life;
mod need;
mod pool;
mod readme;
#[path = "../../../store/tests/it/redis_server.rs"]
mod redis_server;
mod secrets;
mod store;
mod upstream;
mod wire;
