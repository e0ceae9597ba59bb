//! A pool of API tokens: which one to lend, how long a refused one rests, and who waits.
//!
//! An API that limits its callers counts by token. A [`TokenManager`] lends a token to each attempt, learns
//! from what came of it, and keeps a token that was refused away from the upstream: exponentially longer each
//! time, and never for less than the upstream asked. When no token is ready, requests wait their turn, or are
//! told at once how long that would take.
//!
//! ```
//! use tidegate_token_manager::{Ask, IdKey, Outcome, PoolParams, Report, TokenManager, TokenSpec};
//! use std::time::Duration;
//!
//! # /// What an upstream answers: a status and what `Retry-After` says.
//! # async fn call(token: &str) -> (u16, Option<Duration>) {
//! #     if token == "first" { (429, Some(Duration::from_secs(30))) } else { (200, None) }
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let specs = vec![TokenSpec::new("first"), TokenSpec::new("second")];
//! let pool = TokenManager::new("default", PoolParams::default(), specs, IdKey::random()?);
//!
//! let mut tried = Vec::new();
//! let status = loop {
//!     let mut lease = pool.acquire(Ask { tried: &tried, ..Ask::default() }).await?;
//!     let (status, retry_after) = call(lease.token().expose()).await;
//!     let outcome = match status {
//!         429 => Outcome::Limited,
//!         401 | 402 => Outcome::Rejected,
//!         500.. => Outcome::Unaffected,
//!         _ => Outcome::Success,
//!     };
//!     lease.settle(&Report { status: Some(status), told: retry_after, ..Report::new(outcome) });
//!     match outcome {
//!         Outcome::Limited | Outcome::Rejected => tried.push(lease.id()),
//!         Outcome::Success | Outcome::Unaffected => break status,
//!     }
//! };
//!
//! assert_eq!(status, 200);
//! assert_eq!(pool.snapshot()[0].retry_in.as_secs_f64().ceil(), 30.0);
//! # Ok(())
//! # }
//! ```
//!
//! # A token's life
//!
//! | state | lent | leaves it by |
//! |---|---|---|
//! | [`Ready`](State::Ready) | as its limits allow | a refusal, or an empty quota: `Cooling` |
//! | [`Cooling`](State::Cooling) | no | its end: `Probing` |
//! | [`Probing`](State::Probing) | once | a success: `Ready`; one refusal more: `Cooling`, for longer; anything else: lent once more |
//! | [`Unavailable`](State::Unavailable) | no | its end: `Probing`. Entered by more than `max_retries` failures in a row, or two rejections |
//! | [`Disabled`](State::Disabled) | no | an operator |
//!
//! Results of leases that were out when a rest began (or an operator stepped in) neither count as failures
//! nor end the rest: ten refusals of one burst are one failure. A longer rest that they were told is still
//! kept. After a limit a token comes back by two leases at a time, and by one more for each success.
//!
//! Tokens of one group take their rests together, and so does the whole pool where the caller's address is
//! limited: one rest, and one probe for all. With a [scope](Ask::scope), limits are kept for each thing that is
//! asked for.
//!
//! # How it is built
//!
//! The pool is a synchronous state machine that is told the time; it costs O(1) or O(log n) to lend and to
//! settle, whatever the number of tokens, and allocates nothing for it. Around it stands one lock, never held
//! across an await and left alone by the successes of healthy tokens, and a queue of those who wait, by turns
//! between clients. A token that is freed is handed to the first of them by
//! whoever frees it, so that nobody is overtaken and nobody is woken in vain. Every moment is
//! [`tokio::time::Instant`]'s: a paused test clock drives all of it.

/// The README's example runs too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod ask;
mod entry;
mod error;
mod id;
mod lease;
#[cfg(all(test, loom))]
mod loom_tests;
mod manager;
mod news;
mod params;
mod pool;
mod renewal;
mod report;
mod status;
mod store;
mod sync;
mod token;
mod wait_queue;
pub mod wall;

pub use crate::ask::Ask;
pub use crate::error::{Exhausted, OnlyToken, UnknownToken, whole_seconds};
pub use crate::id::{IdKey, ParseTokenIdError, TokenId};
pub use crate::lease::{Lease, LeaseStamp};
pub use crate::manager::TokenManager;
pub use crate::news::{Bar, BarNews, Clock, LearnedNews, News, RestNews, Stamp};
pub use crate::params::{Limit, Pacing, PoolParams, Strategy, UnknownName, WhenExhausted};
pub use crate::renewal::{Fetched, RenewParams, TokenSource};
pub use crate::report::{Outcome, Remaining, Report};
pub use crate::status::{Reason, ScopeStatus, State, StateCounts, TokenStatus};
pub use crate::store::{Place, Store, StoreError};
pub use crate::token::{Token, TokenSpec};
