//! The crate as its users see it.

mod retries;
mod script;
mod switches;
#[cfg(any(feature = "hyper", feature = "reqwest"))]
mod transports;
