//! The byte-exact transport: hyper-util's pooled client.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body as HttpBody;
use hyper_rustls::HttpsConnector;
use hyper_util::{
    client::legacy::{Client, ResponseFuture, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tower::Service;

use super::{
    Proxy, TransportParams, Version,
    exchange::Exchange,
    failure::{self, Stage},
    outgoing::Outgoing,
    tls,
};
use crate::body::{Body, BoxError};
use crate::error::Error;

/// How often a connection without traffic is asked whether it still stands, and how long it may take to say so.
/// TCP alone would take a quarter of an hour to notice that the other side is gone.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// hyper's pooled client. A target goes out byte for byte as it is; clones share the connections.
///
/// A request that was never written to a kept connection, because the upstream had just closed it, goes to
/// another connection. Nothing else is sent twice, no redirect is followed, nothing is added but `Host` and
/// the body's framing.
#[derive(Clone)]
pub struct HyperTransport {
    /// Shared as a whole: a clone of the client itself copies all of its settings, for each request.
    client: Arc<Client<Bounded<HttpsConnector<HttpConnector>>, Outgoing>>,
}

impl HyperTransport {
    /// A transport with these settings. It needs a tokio runtime from its first request on.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] for an extra root that is no certificate, and for a proxy: this transport knows
    /// none.
    pub fn new(params: &TransportParams) -> Result<Self, Error> {
        // An environment may name proxies that do not apply here; a proxy for everything always does.
        if matches!(params.proxy, Proxy::All(_)) {
            return Err(Error::Configuration("the hyper transport does not know proxies".into()));
        }
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(PING_EVERY));
        let tls = Arc::new(tls::client_config(params)?);
        let connector =
            Bounded { connector: HttpsConnector::from((tcp, tls)), timeout: params.connect_timeout };
        let idle_timeout = Some(params.pool_idle_timeout).filter(|timeout| !timeout.is_zero());
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle_timeout)
            .http2_only(params.version == Version::Http2)
            .http2_keep_alive_interval(PING_EVERY)
            .http2_keep_alive_timeout(PING_TIMEOUT)
            .build(connector);
        Ok(Self { client: Arc::new(client) })
    }
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransport").finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for HyperTransport
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = HyperFuture;

    /// Always ready: connections are made as they are needed.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        if let Err(error) = super::check_target(&parts.uri) {
            return HyperFuture(error.into());
        }
        // The connection decides; a request that came in as HTTP/2 must not ask for it here.
        parts.version = http::Version::HTTP_11;
        let (body, breakage) = Outgoing::new(Body::new(body));
        super::tell_empty(&mut parts, &body);
        let response = self.client.request(Request::from_parts(parts, body));
        HyperFuture(Exchange::Sent { response, breakage })
    }
}

/// A request on its way.
#[must_use = "futures do nothing unless polled"]
pub struct HyperFuture(Exchange<ResponseFuture>);

impl Future for HyperFuture {
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().0.poll(cx, |error| {
            let stage = if error.is_connect() { Stage::Connecting } else { Stage::Sending };
            failure::read(error.into(), stage)
        })
    }
}

/// Bounds the whole of a connection's making: name, TCP and TLS. `HttpConnector`'s own timeout is TCP's alone.
#[derive(Clone)]
struct Bounded<C> {
    connector: C,
    timeout: Duration,
}

#[derive(Debug, thiserror::Error)]
#[error("no connection within {0:?}")]
struct ConnectTimeout(Duration);

impl<C> Service<Uri> for Bounded<C>
where
    C: Service<Uri, Error = BoxError>,
    C::Future: Send + 'static,
    C::Response: Send,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let (connected, timeout) = (self.connector.call(target), self.timeout);
        if timeout.is_zero() {
            return Box::pin(connected);
        }
        Box::pin(async move {
            tokio::time::timeout(timeout, connected).await.map_err(|_| ConnectTimeout(timeout))?
        })
    }
}
