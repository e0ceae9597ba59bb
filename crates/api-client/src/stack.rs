//! The inner stack: the one place where the order of the steps stands.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use tower::retry::{Retry, RetryLayer};
use tower::{Layer, Service};

use crate::body::{Body, BoxError};
use crate::budget::RetryBudget;
use crate::classify::Classifier;
use crate::decision::RetryParams;
use crate::entry::{Entry, EntryLayer, EntryParams};
use crate::judge::{Classify, ClassifyLayer};
use crate::lease::{LeaseLayer, LeaseTokens, Pool};
use crate::policy::RetryPolicy;
use crate::standard::StandardClassifier;
use crate::timeout::{AttemptTimeout, AttemptTimeoutLayer, Timeouts};

/// All that the stack is made with.
#[derive(Clone, Debug)]
pub struct StackParams {
    /// What a request gets on its way in.
    pub entry: EntryParams,
    /// When it is sent again.
    pub retry: RetryParams,
    /// What pays for that; shared by all that call one upstream.
    pub budget: RetryBudget,
    /// Where its tokens come from, if it has any.
    pub pool: Option<Pool>,
    /// Whose fault a response is.
    pub classifier: Arc<dyn Classifier>,
    /// How long an attempt may take.
    pub timeouts: Timeouts,
}

impl Default for StackParams {
    /// The defaults of each step, without a pool.
    fn default() -> Self {
        Self {
            entry: EntryParams::default(),
            retry: RetryParams::default(),
            budget: RetryBudget::default(),
            pool: None,
            classifier: Arc::new(StandardClassifier::generic()),
            timeouts: Timeouts::default(),
        }
    }
}

/// The steps between a caller and transport `T`.
pub type Stack<T> = Entry<Retry<RetryPolicy, LeaseTokens<Classify<AttemptTimeout<T>>>>>;

/// Puts the steps around `transport`, outermost first:
/// entry (journey, deadline, replay), retry, lease, classify, attempt timeout.
///
/// The transport may be any service that speaks HTTP, with bodies and errors of its own.
///
/// ```
/// use http::{Request, Response};
/// use tidegate_api_client::{Body, StackParams, stack};
/// use tower::ServiceExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let echo = tower::service_fn(|request: Request<Body>| async { Ok::<_, std::io::Error>(Response::new(request.into_body())) });
/// let response = stack(echo, StackParams::default()).oneshot(Request::put("/").body(Body::from("ping"))?).await?;
/// assert_eq!(response.into_body().bytes().await?, "ping");
/// # Ok(())
/// # }
/// ```
pub fn stack<T, R>(transport: T, params: StackParams) -> Stack<T>
where
    T: Service<Request<Body>, Response = Response<R>>,
    T::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let steps = (
        EntryLayer::new(params.entry),
        RetryLayer::new(RetryPolicy::new(params.retry, params.budget)),
        LeaseLayer::new(params.pool),
        ClassifyLayer::new(params.classifier),
        AttemptTimeoutLayer::new(params.timeouts),
    );
    steps.layer(transport)
}
