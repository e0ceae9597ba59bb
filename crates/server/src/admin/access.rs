use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{ACCEPT, HOST, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, Method, StatusCode};
use tidegate_config::Secret;

use super::cross_site::is_cross_site;
use super::routes::{Shared, problem};
use super::{host, page};
use crate::client_keys::{bearer_tokens, same};
use crate::listen::Peer;

/// Whom the listener lets in.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdminParams {
    /// Sent as `Authorization: Bearer`, or given to the login form. Without one, who reaches the listener may use it.
    pub(crate) key: Option<Secret>,
    /// The names under which it is reached, beside addresses and `localhost`: the one that it was bound by.
    pub(crate) names: Vec<String>,
}

/// Open to everyone: they say nothing that is worth a key, and machines call them without one.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];
/// The way to become known.
const LOGIN: [&str; 2] = ["/login", "/style.css"];

/// Lets a request through, or says why not.
///
/// Without a key, the Host field tells a rebound name from ours. With one, a page under a rebound name has neither the
/// key nor the cookie, which is bound to our name, and operators may use any name they like.
pub(super) async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if PROBES.contains(&path) {
        return next.run(request).await;
    }
    let headers = request.headers();
    let by_key = has_key(shared.params.key.as_ref(), headers);
    let known = match shared.params.key {
        None if !is_own_host(&request, &shared.params.names) => {
            return problem(
                StatusCode::FORBIDDEN,
                "foreign-host",
                "This is not the host that was asked for",
                FOREIGN,
            );
        }
        None => true,
        Some(_) => by_key || shared.session.is_in(headers) || LOGIN.contains(&path),
    };
    if !known {
        return stranger(&request);
    }
    // A page cannot add the key of another site to what it makes a browser send.
    if !request.method().is_safe() && !by_key && is_cross_site(headers) {
        return problem(
            StatusCode::FORBIDDEN,
            "cross-site",
            "The request comes from another site",
            CROSS_SITE,
        );
    }
    next.run(request).await
}

const FOREIGN: &str = "use an address, localhost, or the name in admin.listen; or set admin.key";
const CROSS_SITE: &str = "a page of another site may not act here";

fn has_key(key: Option<&Secret>, headers: &HeaderMap) -> bool {
    key.is_some_and(|key| bearer_tokens(headers).any(|sent| same(key.expose().as_bytes(), sent)))
}

fn is_own_host(request: &Request, names: &[String]) -> bool {
    if request.extensions().get::<Peer>() == Some(&Peer::Unix) {
        return true;
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let said = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        (None, _) => request.uri().authority().map(http::uri::Authority::as_str),
        (Some(_), Some(_)) => None,
    };
    said.is_some_and(|said| host::is_own(said, names))
}

/// The login form for people, a problem for programs.
fn stranger(request: &Request) -> Response {
    let accepts_html = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_page =
        *request.method() == Method::GET && accepts_html.is_some_and(|accept| accept.contains("text/html"));
    let mut response = if is_page {
        (StatusCode::UNAUTHORIZED, page::login("")).into_response()
    } else {
        problem(
            StatusCode::UNAUTHORIZED,
            "admin-key",
            "The admin key is needed",
            "send it as Authorization: Bearer",
        )
    };
    response
        .headers_mut()
        .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tidegate admin\""));
    response
}
