//! What a single request may ask for, as an extension of it.

/// A request extension: whether this request may be sent again, whatever its method says.
///
/// Beside it [`Deadline`](crate::Deadline), [`Timeouts`](crate::Timeouts) and [`RetryParams`](crate::RetryParams) are
/// taken from a request's extensions too, before those of the layers.
///
/// ```
/// use tidegate_api_client::{Body, Repeat};
///
/// // A search is harmless, though it is a POST.
/// let request = http::Request::post("/search").extension(Repeat::Harmless).body(Body::from("q=tide"))?;
/// # let _ = request;
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// It may be repeated as if its method were idempotent.
    Harmless,
    /// It may be repeated only when the upstream surely did not act on it, whatever its method.
    Harmful,
    /// It is sent once: neither repeated nor moved to another token.
    Never,
}
