//! Who judges a response.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use http::{HeaderMap, StatusCode};

use crate::verdict::Verdict;

/// Whether the request went out with a token of a pool. As a request extension: what a signing step of one's own says
/// to the classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooled {
    /// With a token of the pool: a limit is the token's.
    Yes,
    /// Without: there is no token to blame or to switch.
    No,
}

/// What a classifier judges.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answer<'a> {
    /// The response's status.
    pub status: StatusCode,
    /// Its fields.
    pub headers: &'a HeaderMap,
    /// The body's beginning, where [`Classifier::needs_body`] asked for it.
    pub body: Option<&'a [u8]>,
    /// Whether a token of a pool signed the request.
    pub pooled: Pooled,
    /// The wall clock, for the dates and epochs of a response without a `Date`.
    pub now: SystemTime,
}

impl<'a> Answer<'a> {
    /// An answer of a request outside a pool, judged as if at the epoch; the fields can be set.
    pub const fn new(status: StatusCode, headers: &'a HeaderMap) -> Self {
        Self { status, headers, body: None, pooled: Pooled::No, now: SystemTime::UNIX_EPOCH }
    }
}

/// Judges responses: whose fault an answer is, and how long to wait. [`StandardClassifier`](crate::StandardClassifier)
/// knows the customs of HTTP and of some APIs; write one for an API that has others.
///
/// ```
/// use http::{HeaderMap, StatusCode};
/// use tidegate_api_client::{Answer, Classifier, Fault, StandardClassifier, Verdict};
///
/// /// An API that answers 420 to those who are too fast.
/// #[derive(Debug)]
/// struct EnhanceYourCalm(StandardClassifier);
///
/// impl Classifier for EnhanceYourCalm {
///     fn classify(&self, answer: &Answer<'_>) -> Verdict {
///         let mut usual = *answer;
///         if answer.status.as_u16() == 420 {
///             usual.status = StatusCode::TOO_MANY_REQUESTS;
///         }
///         self.0.classify(&usual)
///     }
/// }
///
/// let classifier = EnhanceYourCalm(StandardClassifier::default());
/// let headers = HeaderMap::new();
/// let verdict = classifier.classify(&Answer::new(StatusCode::from_u16(420)?, &headers));
/// assert_eq!(verdict.fault, Fault::Upstream);
/// # Ok::<(), http::status::InvalidStatusCode>(())
/// ```
pub trait Classifier: fmt::Debug + Send + Sync {
    /// The verdict on a response.
    fn classify(&self, answer: &Answer<'_>) -> Verdict;

    /// Whether some verdict may hang on a body. Requests then ask the upstream for the `identity` encoding.
    fn reads_bodies(&self) -> bool {
        false
    }

    /// Whether the verdict on this head hangs on the body's first [`RULE_BODY_LIMIT`](crate::RULE_BODY_LIMIT) bytes,
    /// which are then read before the response is handed on.
    fn needs_body(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        let _ = (status, headers);
        false
    }
}

impl<C: Classifier + ?Sized> Classifier for Arc<C> {
    fn classify(&self, answer: &Answer<'_>) -> Verdict {
        (**self).classify(answer)
    }

    fn reads_bodies(&self) -> bool {
        (**self).reads_bodies()
    }

    fn needs_body(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        (**self).needs_body(status, headers)
    }
}
