//! The rules of a pace: over the whole domain, by exact figures, and against limits.

extern crate std;

mod loops;
mod properties;
mod rows;
mod trials;
mod world;
