//! What is counted, and what it comes to.

mod calls;
mod measured;
mod requests;

pub use calls::Calls;
pub use measured::Measured;
pub use requests::{Outcome, Request, Requests};
