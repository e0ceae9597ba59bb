//! Tidegate's crates beside others that retry: `cargo xtask bench retry`.
//!
//! The delays: nanoseconds per next delay. The clients: requests a second and allocations per request, of GETs without
//! a body over one kept connection to a hyper server on another thread of this process. Allocations are those of the
//! client's thread, its connection's task included. Rounds of all contenders alternate; the
//! best is told, as what disturbs a run only makes it slower.

mod clients;
mod delays;
mod upstream;

fn main() {
    delays::run();
    clients::run();
}
