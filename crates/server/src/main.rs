//! placeholder
#![allow(dead_code, unused_imports, reason = "until the stack is put together")]

mod access_log;
mod body_limit;
mod client_ip;
mod client_keys;
mod hygiene;
mod listen;
mod log;
mod metrics;
mod problem;
mod request_id;
mod route;
mod target;

fn main() {}
