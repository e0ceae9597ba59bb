//! The moment by which a request's response head must be there.

use http::Request;
use tokio::time::Instant;

use crate::journey::Journey;

/// A request extension: no attempt and no wait of this request goes on past this moment.
///
/// [`Entry`](crate::Entry) sets one from its timeout where the request has none.
///
/// ```
/// use std::time::Duration;
/// use tidegate_api_client::{Body, Deadline};
/// use tokio::time::Instant;
///
/// let soon = Instant::now() + Duration::from_secs(2);
/// let request = http::Request::get("https://api.example.com/").extension(Deadline(soon)).body(Body::empty())?;
/// assert_eq!(Deadline::of(&request), Some(soon));
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub Instant);

impl Deadline {
    /// The deadline that holds for a request: its own extension, else the one that it got on its way in.
    pub fn of<B: 'static>(request: &Request<B>) -> Option<Instant> {
        match request.extensions().get::<Self>() {
            Some(own) => Some(own.0),
            None => Journey::of(request)?.deadline(),
        }
    }
}
