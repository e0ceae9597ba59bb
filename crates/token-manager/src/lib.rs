//! A pool of API tokens: which one to lend, how long a refused one rests, and who waits.

mod ask;
mod error;
mod id;
mod lease;
mod manager;
mod params;
mod pool;
mod report;
mod status;
mod token;
mod wait_queue;
pub mod wall;

pub use crate::ask::Ask;
pub use crate::error::{Exhausted, UnknownToken};
pub use crate::id::{IdKey, ParseTokenIdError, TokenId};
pub use crate::lease::{Lease, LeaseStamp};
pub use crate::manager::TokenManager;
pub use crate::params::{Limit, PoolParams, Strategy, UnknownName, WhenExhausted};
pub use crate::report::{Outcome, Report};
pub use crate::status::{Reason, State, StateCounts, TokenStatus};
pub use crate::token::{Token, TokenSpec};
