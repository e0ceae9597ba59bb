//! The transport over reqwest: the default for programmers, and the way through a proxy.

mod urls;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use reqwest::{Client, ClientBuilder, NoProxy, redirect};
use tower::Service;

use self::urls::Urls;
use super::{
    Proxy, TransportParams, Version,
    exchange::Exchange,
    failure::{self, Stage},
    outgoing::{Breakage, Outgoing},
    tls,
};
use crate::body::{Body, BoxError};
use crate::error::Error;

/// As in the hyper transport.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// reqwest with all that it does on its own turned off: redirects, referer, retries, decompression, and proxies
/// from the environment. What is left of it: targets are written as the URL standard has them, and a request
/// without `Accept` gets `*/*`. Clones share the connections.
#[derive(Clone)]
pub struct ReqwestTransport(Arc<Inner>);

struct Inner {
    client: Client,
    urls: Urls,
}

impl ReqwestTransport {
    /// A transport with these settings. It needs a tokio runtime from its first request on.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] for a proxy that is no URL, and for an extra root that is no certificate.
    pub fn new(params: &TransportParams) -> Result<Self, Error> {
        let idle_timeout = Some(params.pool_idle_timeout).filter(|timeout| !timeout.is_zero());
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::client_config(params)?)
            .redirect(redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .no_proxy()
            .tcp_nodelay(true)
            .tcp_keepalive(PING_EVERY)
            .pool_idle_timeout(idle_timeout)
            .http2_keep_alive_interval(PING_EVERY)
            .http2_keep_alive_timeout(PING_TIMEOUT);
        if !params.connect_timeout.is_zero() {
            builder = builder.connect_timeout(params.connect_timeout);
        }
        builder = match params.version {
            Version::Negotiated => builder,
            Version::Http1 => builder.http1_only(),
            Version::Http2 => builder.http2_prior_knowledge(),
        };
        let built = with_proxies(builder, &params.proxy).and_then(ClientBuilder::build);
        built.map(Self::from_client).map_err(|error| Error::Configuration(error.without_url().into()))
    }

    /// A transport over a client that was made elsewhere. Its redirects and retries should be off, or they are
    /// not counted, and a redirect may carry the token to another host.
    pub fn from_client(client: Client) -> Self {
        Self(Arc::new(Inner { client, urls: Urls::default() }))
    }
}

fn with_proxies(mut builder: ClientBuilder, proxy: &Proxy) -> Result<ClientBuilder, reqwest::Error> {
    match proxy {
        Proxy::Off => {}
        Proxy::All(url) => builder = builder.proxy(reqwest::Proxy::all(url)?),
        Proxy::Environment { http, https, all, no_proxy } => {
            let except = no_proxy.as_deref().and_then(NoProxy::from_string);
            let given = |url: &Option<String>| url.clone().filter(|url| !url.trim().is_empty());
            // The first that takes a target's scheme wins: the narrow ones stand before the wide one.
            if let Some(url) = given(http) {
                builder = builder.proxy(reqwest::Proxy::http(url)?.no_proxy(except.clone()));
            }
            if let Some(url) = given(https) {
                builder = builder.proxy(reqwest::Proxy::https(url)?.no_proxy(except.clone()));
            }
            if let Some(url) = given(all) {
                builder = builder.proxy(reqwest::Proxy::all(url)?.no_proxy(except));
            }
        }
    }
    Ok(builder)
}

impl fmt::Debug for ReqwestTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // reqwest's own shows proxies, and with them their passwords.
        f.debug_struct("ReqwestTransport").finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for ReqwestTransport
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = ReqwestFuture;

    /// Always ready: connections are made as they are needed.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let url = match self.0.urls.of(&parts.uri) {
            Ok(url) => url,
            Err(error) => return ReqwestFuture(error.into()),
        };
        let body = Body::new(body);
        super::tell_empty(&mut parts, &body);
        let (body, breakage) = match body.into_ready() {
            Ok(bytes) if bytes.is_empty() => (None, Breakage::default()),
            Ok(bytes) => (Some(bytes.into()), Breakage::default()),
            Err(body) => {
                let (body, breakage) = Outgoing::new(body);
                (Some(reqwest::Body::wrap(body)), breakage)
            }
        };
        // A new request, with HTTP/1.1 for its version: the connection decides.
        let mut request = reqwest::Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        *request.body_mut() = body;
        ReqwestFuture(Exchange::Sent { response: (&self.0.client).call(request), breakage })
    }
}

/// A request on its way.
#[must_use = "futures do nothing unless polled"]
pub struct ReqwestFuture(Exchange<<Client as Service<reqwest::Request>>::Future>);

impl Future for ReqwestFuture {
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().0.poll::<reqwest::Body>(cx, |error| {
            // The URL may hold the token.
            let error = error.without_url();
            if error.is_builder() {
                return Error::Configuration(error.into());
            }
            let stage = if error.is_connect() { Stage::Connecting } else { Stage::Sending };
            failure::read(error.into(), stage)
        })
    }
}
