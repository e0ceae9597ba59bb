//! placeholder
#![allow(dead_code, unused_imports, reason = "until the stack is put together")]

mod hygiene;
mod listen;
mod route;
mod target;

fn main() {}
