//! Where the state of a token pool outlives the process: a file, or Redis that replicas share.
//!
//! A pool that forgets its cool-downs with each restart lends tokens that the upstream is still holding to a
//! rest, and replicas that do not hear of each other's refusals each pay for the same one. A [`Link`] carries
//! the news between [`TokenManager`](tidegate_token_manager::TokenManager)s and a
//! [`Store`](tidegate_token_manager::Store): a [`FileStore`] for one process, a [`RedisStore`] for several.
//!
//! ```
//! use std::time::Duration;
//! use tidegate_store::{FileStore, Keys, Link};
//! use tidegate_token_manager::{IdKey, Outcome, PoolParams, Report, State, TokenManager, TokenSpec};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("state");
//! let start = || -> std::io::Result<(TokenManager, Link)> {
//!     let specs = vec![TokenSpec::new("first"), TokenSpec::new("second")];
//!     let pool = TokenManager::new("default", PoolParams::default(), specs, IdKey::random()?);
//!     let link = Link::start(FileStore::new(&path), Keys::OfTheStore(Box::new(|_| {})), vec![pool.clone()]);
//!     Ok((pool, link))
//! };
//!
//! let (pool, link) = start()?;
//! link.first_read(Duration::from_secs(5)).await;
//! let mut lease = pool.try_acquire(&[])?;
//! lease.settle(&Report { told: Some(Duration::from_secs(600)), ..Report::new(Outcome::Limited) });
//! link.stop(Duration::from_secs(5)).await;
//!
//! let (pool, link) = start()?;
//! link.first_read(Duration::from_secs(5)).await;
//! assert_eq!(pool.snapshot()[0].state, State::Cooling);
//! # link.stop(Duration::from_secs(5)).await;
//! # Ok(())
//! # }
//! ```
//!
//! Whoever lends tokens never waits for a store. What happens to a token is noted under the pool's lock, at
//! most once for each token however often it changes, and one task tells it. A store that is away is tried
//! again, at most a second apart, and everything that is known is told and read again when it is back.
//!
//! What a store holds of a token is its id, an HMAC; never the token.

/// The README's example runs too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod file;
mod key;
mod link;
mod redis;

pub use crate::file::FileStore;
pub use crate::link::{Counts, Keys, Link, Status};
pub use crate::redis::{AddressError, RedisAddress, RedisStore};
