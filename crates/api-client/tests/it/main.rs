//! The crate as its users see it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod cancel;
mod contract;
mod overrides;
mod pinned;
mod retries;
mod script;
mod switches;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
mod transports;
