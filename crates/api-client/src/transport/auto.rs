//! Which transport an upstream is reached by: directly, or through a proxy.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use tower::Service;

use super::hyper::HyperFuture;
use super::reqwest::ReqwestFuture;
use super::{HyperTransport, Proxy, ReqwestTransport, TransportParams};
use crate::{Body, Error};

/// hyper's byte-exact transport where an upstream is reached directly, reqwest's where a proxy applies.
#[derive(Clone, Debug)]
pub enum AutoTransport {
    /// No proxy applies.
    Direct(HyperTransport),
    /// One does.
    Proxied(ReqwestTransport),
}

impl AutoTransport {
    /// The transport for `upstream` (its scheme and host tell whether a proxy applies).
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] when the proxy's URL or a certificate is none.
    pub fn new(params: &TransportParams, upstream: &Uri) -> Result<Self, Error> {
        if applies(&params.proxy, upstream) {
            Ok(Self::Proxied(ReqwestTransport::new(params)?))
        } else {
            Ok(Self::Direct(HyperTransport::new(params)?))
        }
    }
}

fn applies(proxy: &Proxy, upstream: &Uri) -> bool {
    match proxy {
        Proxy::Off => false,
        Proxy::All(_) => true,
        Proxy::Environment { http, https, all, no_proxy } => {
            // curl's way to say that no host is reached by a proxy; the matcher does not know it.
            if no_proxy.as_deref().is_some_and(|hosts| hosts.split(',').any(|host| host.trim() == "*")) {
                return false;
            }
            let value = |variable: &Option<String>| variable.clone().unwrap_or_default();
            let matcher = Matcher::builder()
                .all(value(all))
                .http(value(http))
                .https(value(https))
                .no(value(no_proxy))
                .build();
            matcher.intercept(upstream).is_some()
        }
    }
}

impl Service<Request<Body>> for AutoTransport {
    type Response = Response<Body>;
    type Error = Error;
    type Future = AutoFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match self {
            Self::Direct(transport) => Service::<Request<Body>>::poll_ready(transport, cx),
            Self::Proxied(transport) => Service::<Request<Body>>::poll_ready(transport, cx),
        }
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match self {
            Self::Direct(transport) => AutoFuture::Direct(transport.call(request)),
            Self::Proxied(transport) => AutoFuture::Proxied(transport.call(request)),
        }
    }
}

/// A request on its way by either.
#[must_use = "futures do nothing unless polled"]
pub enum AutoFuture {
    /// Directly.
    Direct(HyperFuture),
    /// Through a proxy.
    Proxied(ReqwestFuture),
}

impl Future for AutoFuture {
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Direct(response) => Pin::new(response).poll(cx),
            Self::Proxied(response) => Pin::new(response).poll(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_applies_by_scheme_and_host() {
        let variables = |http: &str, https: &str, all: &str, no: &str| Proxy::Environment {
            http: Some(http.to_owned()),
            https: Some(https.to_owned()),
            all: Some(all.to_owned()),
            no_proxy: Some(no.to_owned()),
        };
        let rows = [
            (Proxy::Off, "http://a.example/", false),
            (Proxy::All("http://p:1".to_owned()), "http://127.0.0.1:9/", true),
            (variables("", "", "", ""), "https://a.example/", false),
            (variables("http://p:1", "", "", ""), "http://a.example/", true),
            (variables("http://p:1", "", "", ""), "https://a.example/", false),
            (variables("", "http://p:1", "", ""), "https://a.example/", true),
            (variables("", "", "http://p:1", ""), "https://a.example/", true),
            (variables("", "", "http://p:1", "example"), "https://a.example/", false),
            (variables("", "", "http://p:1", "*"), "https://a.example/", false),
            (variables("", "", "http://p:1", "127.0.0.0/8"), "http://127.0.0.1:80/", false),
        ];
        for (proxy, upstream, want) in rows {
            assert_eq!(applies(&proxy, &upstream.parse().unwrap()), want, "{proxy:?} {upstream}");
        }
    }
}
