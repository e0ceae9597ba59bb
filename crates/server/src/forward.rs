//! One request, from its route to its stack and back: what is refused, what goes along, what comes back.

use std::sync::Arc;

use http::header::{COOKIE, REFERER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, Version};
use http_body::Body as _;
use hyper::ext::ReasonPhrase;
use tidegate_api_client::{
    ATTEMPTS_HEADER, Body, BypassPool, Client, Credential, Error, Failure, Fault, SignedBy,
};
use tidegate_config::ClientCredential;
use tokio::time::Instant;
use tower::ServiceExt;

use crate::body_limit::LimitedBody;
use crate::client_ip::client_ip;
use crate::client_keys::{ClientKeys, Identity};
use crate::errors::chain;
use crate::gateway::{Gateway, Route};
use crate::hygiene::{
    ClientAuthorization, ClientCookies, RequestHygiene, ResponseHygiene, Sensitive, SetCookie, TrailerFilter,
    clean_request, clean_response, remove_forged,
};
use crate::listen::{Peer, RequestBody};
use crate::problem::Problem;
use crate::request_id::REQUEST_ID;

use crate::target;
use crate::trip::{Known, Trip};

/// Where an upstream's own request id is shown, since `X-Request-Id` is ours.
const UPSTREAM_REQUEST_ID: &str = "tidegate-upstream-request-id";

/// Why the gateway answers a request itself, and how often it had called the upstream by then.
pub(crate) struct Refused {
    pub(crate) problem: Problem,
    pub(crate) attempts: Option<usize>,
}

impl<P: Into<Problem>> From<P> for Refused {
    fn from(problem: P) -> Self {
        Self { problem: problem.into(), attempts: None }
    }
}

/// Whose credential a request goes out with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signed {
    /// A token of the route's pool.
    Pooled,
    /// The client's own; the pool has no part in it.
    Own,
    /// None: the route has no pool.
    Bare,
}

/// Takes `request` to its upstream.
pub(crate) async fn forward(
    gateway: &Gateway,
    request: Request<RequestBody>,
    trip: &Trip,
) -> Result<Response<Body>, Refused> {
    let (mut parts, body) = request.into_parts();
    let target = target::check(&parts.method, &parts.uri, parts.version, &parts.headers)?;
    let route = gateway.routes.find(target.path()).ok_or(Problem::NoRoute)?;
    trip.set_route(route.destination.label());
    let client = admit(gateway, route, &parts, trip)?;
    gateway.client_keys.strip(&mut parts.headers);
    let body = LimitedBody::new(body, gateway.settings.server.max_body)?;
    // A target and a base path that are too long together are the client's doing: the base path is short.
    let uri = route.destination.target(&target).map_err(|_| Problem::Target(target::Refusal::NoPath))?;
    let signed = signed(route, &parts)?;
    if let (Signed::Pooled, Some(pool)) = (signed, &route.pool) {
        if !pool.signing.signs(parts.method.as_str(), uri.path()) {
            return Err(Problem::NotPooled.into());
        }
    }
    let hygiene = hygiene(route, signed, &gateway.client_keys, &parts.headers);
    let id = parts.headers.get(REQUEST_ID).cloned();
    clean_request(&mut parts.headers, &hygiene);
    // It is ours by now: the client's Connection field has no say in it.
    parts.headers.extend(id.map(|id| (REQUEST_ID, id)));
    if signed == Signed::Own {
        join_cookies(&mut parts.headers);
        parts.extensions.insert(BypassPool);
    }
    parts.uri = uri;
    // The version is the connection's to choose.
    parts.version = Version::HTTP_11;
    parts.extensions.insert(trip.journey());
    parts.extensions.insert(Client(client));
    match route.stack.clone().oneshot(Request::from_parts(parts, body)).await {
        Ok(response) => Ok(shown(response, gateway, route, signed)),
        Err(Failure { error, attempts }) => {
            tell(&error);
            Err(Refused { problem: Problem::from(&error), attempts: Some(attempts.count()) })
        }
    }
}

/// The operator's own faults are told aloud; what upstreams and callers do is everyday.
fn tell(error: &Error) {
    match error.fault() {
        Fault::Configuration => tracing::error!("no response: {}", chain(error)),
        _ => tracing::debug!("no response: {}", chain(error)),
    }
}

/// Who asks: the name of its key, which may be too fast, else its address.
fn admit(gateway: &Gateway, route: &Route, parts: &Parts, trip: &Trip) -> Result<Arc<str>, Problem> {
    match gateway.client_keys.identify(&parts.headers) {
        Identity::Client(name) => {
            trip.set_client(name, Known::ByKey);
            gateway
                .client_keys
                .admit(name, Instant::now())
                .map_err(|too_fast| Problem::ClientRate { client: name.clone(), too_fast })?;
            return Ok(name.clone());
        }
        Identity::Stranger if !route.destination.settings().public => return Err(Problem::ClientKey),
        Identity::Stranger | Identity::Anyone => {}
    }
    let peer = parts.extensions.get::<Peer>().copied().unwrap_or(Peer::Unix);
    let ip = client_ip(peer, &parts.headers, &gateway.settings.server.trusted_proxies);
    let client = ip.map_or_else(|| "unix".into(), |ip| ip.to_string().into());
    trip.set_client(&client, Known::ByAddress);
    Ok(client)
}

fn signed(route: &Route, parts: &Parts) -> Result<Signed, Problem> {
    match &route.pool {
        None => Ok(Signed::Bare),
        Some(pool) if !pool.credential.carries(parts) => Ok(Signed::Pooled),
        Some(pool) => match pool.client_credential {
            ClientCredential::Pass => Ok(Signed::Own),
            ClientCredential::Refuse => Err(Problem::OwnCredential),
            // The pool's token takes its place when the request is signed.
            ClientCredential::Replace => Ok(Signed::Pooled),
        },
    }
}

fn hygiene(route: &Route, signed: Signed, keys: &ClientKeys, sent: &HeaderMap) -> RequestHygiene {
    let own = signed == Signed::Own;
    let signs_authorization = signed == Signed::Pooled
        && route.pool.as_ref().is_some_and(|pool| matches!(pool.credential, Credential::Bearer));
    let mut set = route.headers.clone();
    if own {
        // It goes as it is: ours only fill in what it does not say. Its Referer never goes along.
        for name in sent.keys().filter(|name| *name != REFERER) {
            set.remove(name);
        }
    }
    RequestHygiene {
        cookies: if own { ClientCookies::Pass } else { ClientCookies::Drop },
        authorization: if signs_authorization {
            ClientAuthorization::Drop
        } else {
            ClientAuthorization::Pass
        },
        client_keys: keys.are_set() && !own,
        set,
    }
}

/// HTTP/2 may split the Cookie field; HTTP/1.1 wants it whole (RFC 9113, section 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let crumbs: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if crumbs.len() > 1 {
        let joined = HeaderValue::from_bytes(&crumbs.join(&b"; "[..]));
        if let Ok(mut whole) = joined {
            whole.set_sensitive(true);
            headers.insert(COOKIE, whole);
        }
    }
}

/// A Location back under its route's prefix; one that names an upstream outside of it may lie under another's.
fn map_location(gateway: &Gateway, route: &Route, location: &str) -> Option<String> {
    let others = || gateway.routes.iter().find_map(|other| other.destination.map_location(location));
    let own = route.destination.map_location(location);
    if own.is_none() && !location.starts_with('/') { others() } else { own }
}

/// The upstream's answer as the client may see it.
fn shown(response: Response<Body>, gateway: &Gateway, route: &Route, signed: Signed) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let hygiene = ResponseHygiene {
        set_cookie: if signed == Signed::Pooled { SetCookie::Drop } else { SetCookie::Pass },
        sensitive: match parts.extensions.get::<SignedBy>() {
            Some(SignedBy(token)) => Sensitive::new(token.expose()),
            None => Sensitive::default(),
        },
    };
    let phrase = parts.extensions.get::<ReasonPhrase>();
    if phrase.is_some_and(|phrase| hygiene.sensitive.is_in(phrase.as_bytes())) {
        parts.extensions.remove::<ReasonPhrase>();
    }
    let ours = parts.headers.remove(ATTEMPTS_HEADER);
    remove_forged(&mut parts.headers);
    let upstreams_id = parts.headers.remove(REQUEST_ID);
    let added = [(ATTEMPTS_HEADER, ours), (UPSTREAM_REQUEST_ID, upstreams_id)];
    clean_response(&mut parts.headers, &hygiene, |location| map_location(gateway, route, location));
    for (name, value) in added {
        if let Some(value) = value {
            parts.headers.insert(name, value);
        }
    }
    let body = if body.is_end_stream() { body } else { Body::new(TrailerFilter::new(body, hygiene)) };
    Response::from_parts(parts, body)
}
