//! placeholder
#![allow(dead_code, unused_imports, reason = "until the stack is put together")]

mod access_log;
mod admin;
mod app;
mod body_limit;
mod client_ip;
mod client_keys;
mod commands;
mod convert;
mod errors;
mod forward;
mod gateway;
mod hygiene;
mod listen;
mod log;
mod metrics;
mod operator;
mod panics;
mod pools;
mod problem;
mod record;
mod reload;
mod request_id;
mod route;
mod server;
mod shed;
mod signals;
mod signing;
mod state;
mod target;
mod trip;

fn main() -> std::process::ExitCode {
    commands::serve::run(None)
}
