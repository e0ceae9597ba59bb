//! What has limits of its own for a token: a resource of the API, a model, a route.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, Request};

use crate::body::{Body, read_prefix};
use crate::replay::{ReplayBody, ReplayMemory};

/// By what an upstream's limits for one token are told apart. A clone shares what was learned.
///
/// ```
/// use tidegate_api_client::Scoping;
///
/// let by_resource = Scoping::header(http::HeaderName::from_static("x-ratelimit-resource"));
/// let by_model = Scoping::Json("/model".into());
/// # let _ = (by_resource, by_model);
/// ```
#[derive(Clone, Debug, Default)]
pub enum Scoping {
    /// By nothing.
    #[default]
    None,
    /// All requests that come this way are one scope.
    Fixed(Arc<str>),
    /// By this field of the response. Before there is a response it is guessed: by the request's own field of
    /// that name, or by what a request to the like path was answered.
    Header(HeaderName, Arc<Learned>),
    /// By the text or number at this JSON pointer (RFC 6901) in the request's body.
    Json(Arc<str>),
}

/// The scopes that responses have named, by the beginnings of their requests' paths.
#[derive(Debug, Default)]
pub struct Learned(Mutex<HashMap<Box<str>, Arc<str>>>);

/// So many paths are remembered; then it begins anew.
const PATHS: usize = 4096;
/// A body that is longer, or takes longer to come, is in no scope.
const BODY: usize = 1 << 20;
const BODY_TIME: Duration = Duration::from_secs(10);

impl Scoping {
    /// By this field of the response.
    pub fn header(name: HeaderName) -> Self {
        Self::Header(name, Arc::default())
    }

    /// The scope of a request that is to be sent.
    pub(crate) async fn of_request<B>(&self, request: Request<B>) -> (Request<B>, Option<Arc<str>>)
    where
        B: Send + 'static,
    {
        match self {
            Self::None => (request, None),
            Self::Fixed(scope) => (request, Some(Arc::clone(scope))),
            Self::Header(name, learned) => {
                let own = text(request.headers(), name).map(Arc::from);
                let scope = own.or_else(|| learned.guess(request.uri().path()));
                (request, scope)
            }
            Self::Json(pointer) if is_json(request.headers()) => {
                let (parts, mut body) = request.into_parts();
                // Another send from its start: the first is not touched.
                let Some(peek) = held(&mut body).filter(|held| held.is_replayable()).map(|held| held.clone())
                else {
                    return (Request::from_parts(parts, body), None);
                };
                let read = read_prefix(Body::new(peek), BODY, BODY_TIME).await;
                let value: Option<serde_json::Value> = serde_json::from_slice(&read.bytes()).ok();
                let scope = value.as_ref().and_then(|value| value.pointer(pointer)).and_then(name_of);
                if let Some(held) = held(&mut body).filter(|held| !held.is_replayable()) {
                    // It was too long to be held after all: what was read of it is all that there is.
                    *held = ReplayBody::new(read.into_body(), 0, &ReplayMemory::new(0));
                }
                (Request::from_parts(parts, body), scope)
            }
            Self::Json(_) => (request, None),
        }
    }

    /// What [`of_response`](Self::of_response) wants to know of a request.
    pub(crate) fn path_of<B>(&self, request: &Request<B>) -> String {
        match self {
            Self::Header(..) => request.uri().path().to_owned(),
            Self::None | Self::Fixed(_) | Self::Json(_) => String::new(),
        }
    }

    /// The scope that a response names; it is remembered for requests of the like.
    pub(crate) fn of_response(&self, path: &str, headers: &HeaderMap) -> Option<Arc<str>> {
        let Self::Header(name, learned) = self else { return None };
        let scope: Arc<str> = text(headers, name)?.into();
        learned.note(path, &scope);
        Some(scope)
    }
}

impl Learned {
    /// By the path's first two segments, or else by its first.
    fn guess(&self, path: &str) -> Option<Arc<str>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (one, two) = beginnings(path);
        known.get(two).or_else(|| known.get(one)).cloned()
    }

    fn note(&self, path: &str, scope: &Arc<str>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (one, two) = beginnings(path);
        if known.len() >= PATHS {
            known.clear();
        }
        for beginning in [one, two] {
            if known.get(beginning) != Some(scope) {
                known.insert(beginning.into(), Arc::clone(scope));
            }
        }
    }
}

/// `/a` and `/a/b` of `/a/b/c`.
fn beginnings(path: &str) -> (&str, &str) {
    let mut ends = path.match_indices('/').skip(1).map(|(at, _)| at);
    let one = ends.next().unwrap_or(path.len());
    let two = ends.next().unwrap_or(path.len());
    (&path[..one], &path[..two])
}

/// The body, if it is one that is held to be sent again.
fn held<B: 'static>(body: &mut B) -> Option<&mut ReplayBody<Body>> {
    (body as &mut dyn Any).downcast_mut()
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim).filter(|text| !text.is_empty())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = text(headers, &CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

fn name_of(value: &serde_json::Value) -> Option<Arc<str>> {
    match value {
        serde_json::Value::String(text) if !text.is_empty() => Some(text.as_str().into()),
        serde_json::Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http_body_util::BodyExt;

    use super::*;

    fn request(path: &str, kind: &str, body: &str) -> Request<ReplayBody<Body>> {
        request_held(path, kind, body, 1 << 20)
    }

    fn request_held(path: &str, kind: &str, body: &str, memory: usize) -> Request<ReplayBody<Body>> {
        let request = Request::post(path).header(CONTENT_TYPE, kind);
        let body = Body::from(body.to_owned());
        request.body(ReplayBody::new(body, 1 << 20, &ReplayMemory::new(memory))).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_in_the_body_is_the_scope_and_the_body_stays_whole() {
        let scoping = Scoping::Json("/model".into());
        let rows = [
            ("application/json", r#"{"model":"m-1","x":[1]}"#, Some("m-1")),
            ("application/json; charset=utf-8", r#"{"model":7}"#, Some("7")),
            ("application/vnd.x+json", r#"{"model":"m"}"#, Some("m")),
            ("text/plain", r#"{"model":"m"}"#, None),
            ("application/json", r#"{"model":""}"#, None),
            ("application/json", r#"{"model":{"a":1}}"#, None),
            ("application/json", r#"{"other":"m"}"#, None),
            ("application/json", r#"{"model":"m"#, None),
            ("application/json", "", None),
        ];
        for (kind, body, scope) in rows {
            let (request, found) = scoping.of_request(request("/v1/x", kind, body)).await;
            assert_eq!(found.as_deref(), scope, "{kind} {body}");
            assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), body);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_cannot_be_held_is_sent_all_the_same() {
        let text = r#"{"model":"m"}"#;
        let scoping = Scoping::Json("/model".into());
        let (request, scope) = scoping.of_request(request_held("/v1/x", "application/json", text, 4)).await;
        assert_eq!(scope.as_deref(), Some("m"));
        assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), text);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_response_names_is_guessed_for_the_like_path() {
        let name = HeaderName::from_static("x-ratelimit-resource");
        let scoping = Scoping::header(name.clone());
        let answer = |scope| HeaderMap::from_iter([(name.clone(), HeaderValue::from_static(scope))]);
        assert_eq!(
            scoping.of_response("/search/code", &answer("code_search")).as_deref(),
            Some("code_search")
        );
        scoping.of_response("/search/issues", &answer("search"));
        scoping.of_response("/repos/a/b", &answer("core"));
        assert_eq!(scoping.of_response("/repos/a/b", &HeaderMap::new()), None);
        let rows = [
            ("/search/code", Some("code_search")),
            ("/search/issues?q=x", Some("search")),
            ("/search/users", Some("search")),
            ("/repos/c/d", Some("core")),
            ("/graphql", None),
        ];
        for (path, scope) in rows {
            let (_, found) = scoping.of_request(request(path, "text/plain", "")).await;
            assert_eq!(found.as_deref(), scope, "{path}");
        }
        let mut own = request("/graphql", "text/plain", "");
        own.headers_mut().insert(name.clone(), HeaderValue::from_static("own"));
        assert_eq!(scoping.of_request(own).await.1.as_deref(), Some("own"));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let learned = Learned::default();
        for number in 0..10_000 {
            learned.note(&format!("/users/{number}"), &"core".into());
        }
        assert!(learned.0.lock().unwrap().len() <= PATHS + 2);
        assert_eq!(learned.guess("/users/new").as_deref(), Some("core"));
    }
}
