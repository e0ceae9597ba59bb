//! The crate as its users see it.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod retries;
mod script;
mod switches;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
mod transports;
