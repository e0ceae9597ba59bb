//! The arithmetic of backing off: how long to wait, how long a token rests, how many retries an upstream can bear.
//!
//! Nothing here reads a clock, draws a random number, allocates or links `std`. Time and entropy come in as
//! arguments, so every rule can be tested without a sleep and without a seed. All of it is integer arithmetic on
//! whole nanoseconds and total over its domain: [`Duration::MAX`](core::time::Duration::MAX), attempt
//! `u32::MAX` and a clock that jumps backwards are ordinary input.
//!
//! | type | answers |
//! |---|---|
//! | [`Exponential`] | the longest wait before retry `n`: `min(base * 2^n, max)` |
//! | [`Backoff`] | the wait itself: a schedule with [`Jitter`], never above `max` |
//! | [`Delays`] | the waits of one operation, one after another |
//! | [`CoolDown`] | how long a token rests after so many failures in a row |
//! | [`Budget`] | whether one more retry is bearable |
//! | [`Deadline`] | whether a wait ends in time |
//! | [`Pace`] | how fast a token may be used, learned from its refusals |
//!
//! ```
//! use core::time::Duration;
//! use tidegate_backoff_core::{Backoff, Exponential, Jitter};
//!
//! let schedule = Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
//! let backoff = Backoff::new(schedule, Jitter::Full);
//!
//! let entropy = 0x9e37_79b9_7f4a_7c15; // 64 bits from the caller's generator
//! let delay = backoff.delay(2, Duration::ZERO, entropy);
//! assert!(delay <= Duration::from_secs(2));
//! ```
//!
//! # Features
//!
//! None is on by default, and they only add. `serde` reads and writes the settings ([`Exponential`], [`Backoff`],
//! [`Jitter`], [`CoolDown`], [`Ratio`]), without std too. `backoff` lets [`Delays`] serve as a `backoff::backoff::Backoff` for code that already
//! uses that crate; it links `std`. The crate is unmaintained (RUSTSEC-2025-0012): the feature is a way out of it.

#![no_std]

/// The README's example runs too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod backoff;
mod budget;
#[cfg(feature = "backoff")]
mod compat;
mod cool_down;
mod deadline;
mod delays;
mod entropy;
mod exponential;
mod jitter;
mod nanos;
mod pace;

pub use crate::backoff::Backoff;
pub use crate::budget::{Budget, Ratio};
pub use crate::cool_down::{CoolDown, MAX_TOLD_REST, Rest};
pub use crate::deadline::Deadline;
pub use crate::delays::Delays;
pub use crate::entropy::{Entropy, SplitMix64};
pub use crate::exponential::Exponential;
pub use crate::jitter::{Jitter, UnknownJitter};
pub use crate::pace::{Bound, LearnedLimit, Lesson, Pace};
