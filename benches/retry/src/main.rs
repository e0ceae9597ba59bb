//! Tidegate's crates beside others that retry: `cargo xtask bench retry`.
//!
//! The delays: nanoseconds per next delay. The clients: requests a second and allocations per request, of GETs without
//! a body over one kept connection to a hyper server on another thread of this process. Allocations are those of the
//! client's thread, its connection's task included. Each client's short rounds alternate with those of the bare client
//! that it stands on, and the medians of the ratios are told. `retry-bench NAME` makes one client's requests alone, for
//! a profiler.

mod clients;
mod delays;
mod upstream;

fn main() {
    let only = std::env::args().nth(1);
    if only.is_none() {
        delays::run();
    }
    clients::run(only.as_deref());
}
