//! The moment by which a request's response head must be there.

use http::Extensions;
use tokio::time::Instant;

/// A request extension: no attempt and no wait of this request goes on past this moment.
///
/// [`Entry`](crate::Entry) sets one from its timeout where the request has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub Instant);

impl Deadline {
    /// The deadline among a request's extensions.
    pub fn of(extensions: &Extensions) -> Option<Instant> {
        extensions.get::<Self>().map(|deadline| deadline.0)
    }
}
