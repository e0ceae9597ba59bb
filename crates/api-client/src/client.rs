//! The stack as a plain client.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::uri::{PathAndQuery, Uri};
use http::{Method, Request, Response};
use http_body::Body as _;
use http_body_util::BodyExt;
use tidegate_backoff_core::Budget;
use tidegate_token_manager::TokenManager;
use tower::Service;

use crate::body::{Body, BoxError};
use crate::budget::RetryBudget;
use crate::classify::Classifier;
use crate::credential::Credential;
use crate::decision::RetryParams;
use crate::entry::{EntryParams, Failure};
use crate::error::Error;
use crate::lease::Pool;
use crate::observer::Observer;
use crate::replay::ReplayMemory;
use crate::rule::Rule;
use crate::scope::Scoping;
use crate::signature::Signature;
use crate::stack::{Stack, StackParams, stack};
use crate::standard::StandardClassifier;
use crate::timeout::Timeouts;

/// A client for one API: retries, a pool of tokens, deadlines. A clone shares its connections and its budget.
#[derive(Clone, Debug)]
pub struct ApiClient<T> {
    base: Uri,
    stack: Stack<T>,
}

impl ApiClient<()> {
    /// Begins a client for the API at `base`, such as `https://www.pixiv.net` or `http://127.0.0.1:8080/v2`.
    pub fn builder(base: impl Into<String>) -> Builder {
        Builder::new(base.into())
    }
}

impl<T, R> ApiClient<T>
where
    T: Service<Request<Body>, Response = Response<R>> + Clone + Send + 'static,
    T::Error: Into<BoxError>,
    T::Future: Send + 'static,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    /// GETs `path` (with its query) below the base.
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request).
    pub async fn get(&self, path: &str) -> Result<Response<Body>, Failure> {
        self.send(Method::GET, path, Body::empty()).await
    }

    /// POSTs `body` to `path`. It is repeated only where that is surely harmless; an `Idempotency-Key` (see
    /// [`request`](Self::request)) makes it so.
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request).
    pub async fn post(&self, path: &str, body: impl Into<Body>) -> Result<Response<Body>, Failure> {
        self.send(Method::POST, path, body.into()).await
    }

    async fn send(&self, method: Method, path: &str, body: Body) -> Result<Response<Body>, Failure> {
        let request = Request::builder().method(method).uri(path).body(body);
        self.request(request.map_err(|error| Failure::before_any(Error::Configuration(error.into())))?).await
    }

    /// Sends a request of any kind; its URI's path and query are taken below the base.
    ///
    /// # Errors
    ///
    /// When there is no response to hand on: no connection, no answer in time, no token in time. A response of
    /// any status is a response.
    pub async fn request<B>(&self, request: Request<B>) -> Result<Response<Body>, Failure>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let (mut parts, body) = request.into_parts();
        parts.uri = below(&self.base, &parts.uri).map_err(Failure::before_any)?;
        let mut stack = self.stack.clone();
        poll_fn(|cx| Service::<Request<B>>::poll_ready(&mut stack, cx)).await?;
        stack.call(Request::from_parts(parts, body)).await
    }
}

/// `uri`'s path and query under `base`'s origin and path.
fn below(base: &Uri, uri: &Uri) -> Result<Uri, Error> {
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    let mut parts = base.clone().into_parts();
    parts.path_and_query = Some(match base.path().trim_end_matches('/') {
        "" => path,
        prefix => format!("{prefix}{}", path.as_str()).parse().map_err(configuration)?,
    });
    Uri::from_parts(parts).map_err(configuration)
}

fn configuration(error: impl Into<BoxError>) -> Error {
    Error::Configuration(error.into())
}

impl Body {
    /// All bytes to the body's end; trailers are dropped.
    ///
    /// # Errors
    ///
    /// [`Error::ResponseBody`] when the body breaks before its end.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        let mut body = self;
        let Some(first) = body.data().await? else { return Ok(Bytes::new()) };
        let Some(second) = body.data().await? else { return Ok(first) };
        let mut whole = BytesMut::with_capacity(first.len() + second.len());
        whole.extend_from_slice(&first);
        whole.extend_from_slice(&second);
        while let Some(more) = body.data().await? {
            whole.extend_from_slice(&more);
        }
        Ok(whole.freeze())
    }

    /// The next bytes, if the body has more. Most bodies come as one piece, and say so at its end.
    async fn data(&mut self) -> Result<Option<Bytes>, Error> {
        while !self.is_end_stream() {
            match self.frame().await {
                None => break,
                Some(frame) => {
                    if let Ok(data) = frame.map_err(Error::ResponseBody)?.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Collects a client's settings; every one has a default.
#[derive(Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    base: String,
    pool: Option<TokenManager>,
    signature: Signature,
    retry: RetryParams,
    timeouts: Timeouts,
    request_timeout: Duration,
    budget: RetryBudget,
    replay_limit: usize,
    classifier: Arc<dyn Classifier>,
    observer: Option<Arc<dyn Observer>>,
}

impl Builder {
    fn new(base: String) -> Self {
        Self {
            base,
            pool: None,
            signature: Signature::new(Credential::Bearer),
            retry: RetryParams::default(),
            timeouts: Timeouts::default(),
            request_timeout: Duration::from_secs(30),
            budget: RetryBudget::default(),
            replay_limit: 1024 * 1024,
            classifier: Arc::new(StandardClassifier::generic()),
            observer: None,
        }
    }

    /// Signs each attempt with a token of this pool (none by default).
    pub fn pool(mut self, pool: TokenManager) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Where the upstream wants its token (`Authorization: Bearer` by default).
    pub fn credential(mut self, credential: Credential) -> Self {
        self.signature.credential = credential;
        self
    }

    /// When a request is sent again.
    pub fn retry(mut self, retry: RetryParams) -> Self {
        self.retry = retry;
        self
    }

    /// How long an attempt may take.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// How long a request may take to its response head, all attempts and waits together (30 s; zero is for
    /// ever). A [`Deadline`](crate::Deadline) in a request's extensions goes before it.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// The retry budget (a fifth of the requests, and ten a second).
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = RetryBudget::new(budget);
        self
    }

    /// A budget that is shared with other clients of the same upstream.
    pub fn shared_budget(mut self, budget: RetryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The longest request body, in bytes, that is held so that it can be sent again (1 MiB).
    pub fn replay_limit(mut self, bytes: usize) -> Self {
        self.replay_limit = bytes;
        self
    }

    /// Who says whose fault an answer is ([`StandardClassifier::generic`]).
    pub fn classifier(mut self, classifier: impl Classifier + 'static) -> Self {
        self.classifier = Arc::new(classifier);
        self
    }

    /// Rules that come before the table of statuses: a [`StandardClassifier`] with these.
    pub fn rules(self, rules: Vec<Rule>) -> Self {
        self.classifier(StandardClassifier::new(rules))
    }

    /// Who is told of attempts and repeats, as they happen.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// A client over reqwest.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] when the base is no `http` or `https` URL or the TLS settings do not hold.
    #[cfg(feature = "reqwest")]
    pub fn build(self) -> Result<ApiClient<crate::transport::ReqwestTransport>, Error> {
        let transport =
            crate::transport::ReqwestTransport::new(&crate::transport::TransportParams::default())?;
        self.build_over(transport)
    }

    /// A client over any tower service that speaks HTTP.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] when the base is no `http` or `https` URL.
    pub fn build_over<T, R>(self, transport: T) -> Result<ApiClient<T>, Error>
    where
        T: Service<Request<Body>, Response = Response<R>>,
        T::Error: Into<BoxError>,
        R: http_body::Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        let base: Uri = self.base.parse().map_err(configuration)?;
        if !matches!(base.scheme_str(), Some("http" | "https")) || base.query().is_some() {
            return Err(configuration(format!("{base} is not the http or https URL of an API")));
        }
        let signature = self.signature;
        let params = StackParams {
            entry: EntryParams {
                request_timeout: self.request_timeout,
                replay_limit: self.replay_limit,
                replay_memory: ReplayMemory::default(),
                observer: self.observer,
            },
            retry: self.retry,
            budget: self.budget,
            pool: self.pool.map(|manager| Pool { manager, signature, scoping: Scoping::None }),
            classifier: self.classifier,
            timeouts: self.timeouts,
        };
        Ok(ApiClient { base, stack: stack(transport, params) })
    }
}
