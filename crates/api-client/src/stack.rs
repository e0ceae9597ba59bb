//! The inner stack: the one place where the order of the steps stands.

use tower::retry::{Retry, RetryLayer};
use tower::util::MapRequest;
use tower::{Layer, Service};

use http::{Request, Response};

use crate::body::{Body, BoxError};
use crate::classify::Classifier;
use crate::decision::RetryParams;
use crate::entry::{Entry, EntryLayer, EntryParams};
use crate::error::Error;
use crate::judge::{Classify, ClassifyLayer};
use crate::lease::{LeaseLayer, LeaseTokens, Pool};
use crate::policy::RetryPolicy;
use crate::replay::ReplayBody;
use crate::timeout::{AttemptTimeout, AttemptTimeoutLayer, Timeouts};

/// All that the stack is made with.
#[derive(Clone, Debug)]
pub struct StackParams {
    /// What a request gets on its way in.
    pub entry: EntryParams,
    /// When it is sent again.
    pub retry: RetryParams,
    /// Where its tokens come from, if it has any.
    pub pool: Option<Pool>,
    /// Whose fault a response is.
    pub classifier: Classifier,
    /// How long an attempt may take.
    pub timeouts: Timeouts,
}

/// The steps between a caller and transport `T`.
pub type Stack<T> = Entry<Retry<RetryPolicy, MapRequest<LeaseTokens<Classify<AttemptTimeout<T>>>, BoxBody>>>;

type BoxBody = fn(Request<ReplayBody<Body>>) -> Request<Body>;

/// Puts the steps around `transport`, outermost first:
/// entry (journey, deadline, replay), retry, lease, classify, attempt timeout.
pub fn stack<T, R>(transport: T, params: StackParams) -> Stack<T>
where
    T: Service<Request<Body>, Response = Response<R>>,
    T::Error: Into<Error>,
    R: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let policy = RetryPolicy::new(params.retry, params.entry.budget.clone());
    let steps = (
        EntryLayer::new(params.entry),
        RetryLayer::new(policy),
        tower::util::MapRequestLayer::new((|request| request.map(Body::new)) as BoxBody),
        LeaseLayer::new(params.pool),
        ClassifyLayer::new(params.classifier),
        AttemptTimeoutLayer::new(params.timeouts),
    );
    steps.layer(transport)
}
