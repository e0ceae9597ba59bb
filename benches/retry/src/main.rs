//! Tidegate's crates beside others that retry: `cargo xtask bench retry`.
//!
//! The delays: nanoseconds per next delay. The clients: processor time and allocations per request, of GETs without a
//! body over one kept connection to a hyper server on another thread of this process, both on one core. Allocations are
//! those of the client's thread, its connection's task included. Each client's short rounds alternate with those of the
//! bare client that it stands on, and the medians of the ratios are told. `retry-bench NAME COUNT` makes so many
//! requests of one client alone, for a profiler.

mod clients;
mod delays;
mod upstream;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next().and_then(|count| count.parse().ok())) {
        (Some(name), Some(count)) => clients::run(Some((&name, count))),
        _ => {
            delays::run();
            clients::run(None);
        }
    }
}
