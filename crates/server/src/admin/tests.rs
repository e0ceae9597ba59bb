//! What an operator, a program and a foreign page get.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tidegate_config::Secret;
use tidegate_token_manager::{Reason, State, TokenId, TokenStatus, UnknownToken};
use tower::ServiceExt;

use super::*;
use crate::listen::Peer;
use crate::live::Live;

pub(super) struct Gateway {
    done: Mutex<Vec<String>>,
    disabled: Mutex<Option<TokenId>>,
    readiness: Readiness,
    reloaded: Reloaded,
    pub(super) live: Live,
    pub(super) ended: AtomicBool,
}

fn status(id: u8, name: Option<&str>, state: State, reason: Option<Reason>) -> TokenStatus {
    TokenStatus {
        id: TokenId::from_bytes([id; 8]),
        name: name.map(str::to_owned),
        state,
        failures: 2,
        until: None,
        retry_in: std::time::Duration::from_millis(1870),
        in_flight: 1,
        reason,
        last_status: Some(429),
        requests: 17,
        successes: 15,
        rate_limited: 2,
        rejected: 0,
        cooldowns: [2, 0, 0, 0],
        last_used: None,
        pace: None,
        scopes: Vec::new(),
    }
}

impl Gateway {
    pub(super) fn disable(&self, id: TokenId) {
        *self.disabled.lock().unwrap() = Some(id);
    }
}

impl Operator for Gateway {
    fn readiness(&self) -> Readiness {
        self.readiness
    }

    fn tokens(&self) -> Vec<(String, Vec<TokenStatus>)> {
        let cooling = status(0x7f, None, State::Cooling, Some(Reason::RateLimited));
        let mut ready = status(0x1d, Some("<main>"), State::Ready, None);
        if *self.disabled.lock().unwrap() == Some(ready.id) {
            ready.state = State::Disabled;
        }
        vec![("default".to_owned(), vec![cooling]), ("other".to_owned(), vec![ready])]
    }

    fn reset_all(&self) {
        self.done.lock().unwrap().push("reset all".to_owned());
    }

    fn operate(&self, id: TokenId, operation: Operation) -> Result<(), UnknownToken> {
        if id != TokenId::from_bytes([0x7f; 8]) {
            return Err(UnknownToken { id });
        }
        self.done.lock().unwrap().push(format!("{operation:?} {id}"));
        Ok(())
    }

    fn reload(&self) -> Pin<Box<dyn Future<Output = Reloaded> + Send + '_>> {
        Box::pin(async { self.reloaded.clone() })
    }

    fn metrics(&self) -> String {
        "tidegate_in_flight 0\n".to_owned()
    }

    fn live(&self) -> &Live {
        &self.live
    }

    fn overview(&self) -> Overview {
        let predicted_wait = Some(std::time::Duration::from_millis(1870));
        Overview {
            pools: vec![PoolOverview { name: "default".to_owned(), waiting: 3, predicted_wait }],
            budgets: vec![("https://up.example".to_owned(), 10)],
            in_flight: 2,
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

pub(super) fn gateway() -> Gateway {
    Gateway {
        done: Mutex::default(),
        disabled: Mutex::default(),
        readiness: Readiness::Ready,
        reloaded: Ok(vec![]),
        live: Live::new(),
        ended: AtomicBool::new(false),
    }
}

fn open(gateway: Gateway) -> (Router, Arc<Gateway>) {
    let gateway = Arc::new(gateway);
    (router(gateway.clone(), AdminParams::default()).unwrap(), gateway)
}

fn locked() -> Router {
    let params = AdminParams { key: Some(Secret::new("the key")), names: vec![] };
    router(Arc::new(gateway()), params).unwrap()
}

async fn send(
    router: &Router,
    line: &str,
    fields: &[(&str, &str)],
    body: &'static str,
) -> (u16, HeaderMap, String) {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(path);
    if !fields.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "127.0.0.1:8283");
    }
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let response = router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    (head.status.as_u16(), head.headers, text)
}

#[tokio::test]
async fn each_page_answers_its_methods_and_no_others() {
    let (router, gateway) = open(gateway());
    for (line, want) in [
        ("GET /", 200),
        ("HEAD /", 200),
        ("HEAD /events", 200),
        ("POST /events", 405),
        ("GET /style.css", 200),
        ("GET /healthz", 200),
        ("GET /readyz", 200),
        ("GET /metrics", 200),
        ("GET /tokens", 200),
        ("GET /login", 303),
        ("POST /login", 303),
        ("POST /tokens/reset", 204),
        ("POST /tokens/7f7f7f7f7f7f7f7f/reset", 204),
        ("POST /tokens/7f7f7f7f7f7f7f7f/disable", 204),
        ("POST /tokens/7f7f7f7f7f7f7f7f/enable", 204),
        ("POST /tokens/7f7f7f7f7f7f7f7f/burn", 404),
        ("POST /tokens/ffffffffffffffff/reset", 404),
        ("POST /tokens/7F7F7F7F7F7F7F7F/reset", 404),
        ("POST /tokens/x/reset", 404),
        ("POST /reload", 200),
        ("GET /reload", 405),
        ("GET /tokens/reset", 405),
        ("POST /tokens", 405),
        ("DELETE /tokens/7f7f7f7f7f7f7f7f/reset", 405),
        ("GET /nothing", 404),
    ] {
        let (status, headers, body) = send(&router, line, &[], "").await;
        assert_eq!(status, want, "{line}");
        assert_eq!(headers["cache-control"], "no-store", "{line}");
        assert!(
            headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none';"),
            "{line}"
        );
        if status >= 400 {
            assert_eq!(headers["content-type"], "application/problem+json", "{line}");
            assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["status"], want, "{line}");
        }
    }
    let done = gateway.done.lock().unwrap().join(", ");
    assert_eq!(done, "reset all, Reset 7f7f7f7f7f7f7f7f, Disable 7f7f7f7f7f7f7f7f, Enable 7f7f7f7f7f7f7f7f");
}

#[tokio::test]
async fn tokens_are_shown_in_the_order_of_the_settings() {
    let (router, _) = open(gateway());
    let (_, _, body) = send(&router, "GET /tokens", &[], "").await;
    let cooling = json!({"id": "7f7f7f7f7f7f7f7f", "pool": "default", "name": null, "state": "cooling", "failures": 2,
        "until": null, "retry_in_ms": 1870, "in_flight": 1, "reason": "rate_limited", "last_status": 429,
        "requests": 17, "successes": 15, "rate_limited": 2, "rejected": 0, "last_used": null});
    let shown: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(shown[0], cooling);
    assert_eq!(
        json!([shown[1]["pool"], shown[1]["name"], shown[1]["reason"]]),
        json!(["other", "<main>", null])
    );

    let (_, headers, page) = send(&router, "GET /", &[], "").await;
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    assert!(!page.contains("7f7f7f7f7f7f7f7f"), "the page itself says nothing of the gateway");
    let (_, headers, _) = send(&router, "GET /metrics", &[], "").await;
    assert_eq!(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
}

#[tokio::test]
async fn readiness_says_whether_to_send_requests_here() {
    for (readiness, want) in [
        (Readiness::Ready, (200, "ready\n")),
        (Readiness::Starting, (503, "starting\n")),
        (Readiness::Stopping, (503, "stopping\n")),
    ] {
        let (router, _) = open(Gateway { readiness, ..gateway() });
        let (status, _, body) = send(&router, "GET /readyz", &[], "").await;
        assert_eq!((status, body.as_str()), want);
        assert_eq!(send(&router, "GET /healthz", &[], "").await.0, 200, "{readiness:?}");
    }
}

#[tokio::test]
async fn a_reload_says_what_is_wrong() {
    let faults = vec!["PIXIVFE_PORT (environment): is no port; write 1 to 65535".to_owned()];
    let (router, _) = open(Gateway { reloaded: Err(faults.clone()), ..gateway() });
    let (status, _, body) = send(&router, "POST /reload", &[], "").await;
    let document: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &document["faults"]), (422, &json!(faults)));
}

#[tokio::test]
async fn a_rebound_name_is_refused_but_for_probes() {
    let (router, _) = open(gateway());
    for (line, host, want) in [
        ("GET /tokens", "evil.example:8283", 403),
        ("POST /tokens/reset", "evil.example", 403),
        ("GET /tokens", "localhost:8283", 200),
        ("GET /tokens", "[::1]:8283", 200),
        ("GET /healthz", "tidegate:8283", 200),
        ("GET /readyz", "tidegate:8283", 200),
    ] {
        assert_eq!(send(&router, line, &[("host", host)], "").await.0, want, "{line} {host}");
    }
    let mut request = Request::get("/tokens").header("host", "x").body(Body::empty()).unwrap();
    request.extensions_mut().insert(Peer::Unix);
    assert_eq!(router.oneshot(request).await.unwrap().status(), 200, "no browser comes over a socket file");
}

#[tokio::test]
async fn a_page_of_another_site_cannot_act() {
    let (router, gateway) = open(gateway());
    for (fields, want) in [
        (&[("origin", "http://evil.example")][..], 403),
        (&[("sec-fetch-site", "cross-site")], 403),
        (&[("origin", "http://127.0.0.1:8283"), ("sec-fetch-site", "same-origin")], 204),
        (&[], 204),
    ] {
        assert_eq!(send(&router, "POST /tokens/reset", fields, "").await.0, want, "{fields:?}");
    }
    assert_eq!(gateway.done.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_key_is_needed_where_one_is_set_but_for_probes() {
    let router = locked();
    for (line, fields, want) in [
        ("GET /healthz", &[][..], 200),
        ("GET /readyz", &[], 200),
        ("GET /style.css", &[], 200),
        ("GET /tokens", &[], 401),
        ("GET /events", &[], 401),
        ("GET /metrics", &[], 401),
        ("GET /nothing", &[], 401),
        ("POST /tokens/reset", &[], 401),
        ("GET /tokens", &[("authorization", "Bearer the ke")], 401),
        ("GET /tokens", &[("authorization", "Basic dGhlIGtleQ==")], 401),
        ("GET /tokens", &[("cookie", "tidegate_admin=the key")], 401),
        ("GET /tokens", &[("authorization", "Bearer the key")], 200),
        ("GET /metrics", &[("authorization", "Bearer the key"), ("host", "tidegate.internal")], 200),
        ("POST /tokens/reset", &[("authorization", "Bearer the key")], 204),
    ] {
        let (status, headers, body) = send(&router, line, fields, "").await;
        assert_eq!(status, want, "{line} {fields:?}");
        assert_eq!(headers.contains_key("www-authenticate"), status == 401, "{line} {fields:?}");
        assert!(!body.contains("the key"), "{line}");
    }
}

#[tokio::test]
async fn a_login_gives_a_cookie_that_is_not_the_key() {
    let router = locked();
    let html = [("accept", "text/html,*/*")];
    let (status, _, form) = send(&router, "GET /", &html, "").await;
    assert!(status == 401 && form.contains("<form method=\"post\" action=\"/login\">"), "{form}");
    assert_eq!(send(&router, "POST /login", &[], "key=wrong").await.0, 401);
    assert_eq!(send(&router, "POST /login", &[("sec-fetch-site", "cross-site")], "key=the+key").await.0, 403);

    let (status, headers, _) = send(&router, "POST /login", &[], "key=the+key").await;
    let cookie = headers["set-cookie"].to_str().unwrap();
    assert_eq!((status, &headers["location"]), (303, &"/".parse().unwrap()));
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("the key"),
        "{cookie}"
    );
    let sent = [("cookie", cookie.split(';').next().unwrap())];
    assert_eq!(send(&router, "GET /", &sent, "").await.0, 200);
    assert_eq!(send(&locked(), "GET /", &sent, "").await.0, 401, "another process does not know it");
}
