//! The pool through the whole gateway.

use crate::client::{request, send};
use crate::gateway::Gateway;
use crate::upstream::{Upstream, reply, status};

#[tokio::test]
async fn a_rule_makes_a_good_status_a_limit() {
    let upstream = Upstream::start(|call| match (call.target.as_str(), call.token()) {
        ("/limit", Some("tokA")) => {
            reply(200, &[("content-type", "application/json")], r#"{"error":"rate limit"}"#)
        }
        ("/credit", _) => reply(400, &[("x-reason", "no credit")], "{}"),
        _ => reply(200, &[("content-type", "application/json")], r#"{"ok":true}"#),
    })
    .await;
    let rules = r#"
[[rule]]
status = 200
body_contains = "rate limit"
verdict = "token_limited"

[[rule]]
status = 400
header = "x-reason=no credit"
verdict = "token_rejected"
"#;
    let gateway = Gateway::start_with(&upstream, &[], &[("tidegate.toml", rules)]).await;
    let answer = gateway.get("/limit").await;
    assert_eq!((answer.status.as_u16(), answer.body.as_ref()), (200, br#"{"ok":true}"#.as_slice()));
    assert_eq!(upstream.tokens(), ["tokA", "tokB"]);
    assert_eq!(upstream.calls()[0].header("accept-encoding"), Some("identity"), "the body must be readable");
    let refused = gateway.get("/credit").await;
    assert_eq!(refused.status.as_u16(), 400);
    let tokens = gateway.tokens().await;
    assert_eq!(tokens[1]["reason"], "rejected", "{tokens}");
}

#[tokio::test]
async fn a_known_limit_is_kept_before_the_upstream_has_to_say_so() {
    let upstream = Upstream::start(|_| status(200)).await;
    let settings = [("TIDEGATE_TOKEN_LIMIT", "3/1h"), ("TIDEGATE_WHEN_EXHAUSTED", "fail")];
    let gateway = Gateway::start(&upstream, &settings).await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(gateway.get("/x").await.status.as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 503, 503]);
    let retry_after = gateway.get("/x").await.header("retry-after").unwrap().parse::<u64>().unwrap();
    assert!((3590..=3600).contains(&retry_after), "{retry_after}");
}

#[tokio::test]
async fn operators_bar_and_free_a_token() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[]).await;
    let id = gateway.tokens().await[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(gateway.admin("POST", &format!("/tokens/{id}/disable")).await.status.as_u16(), 204);
    for _ in 0..3 {
        gateway.get("/x").await;
    }
    assert_eq!(upstream.tokens(), ["tokB"; 3]);
    assert_eq!(gateway.tokens().await[0]["reason"], "operator");
    assert_eq!(gateway.admin("POST", &format!("/tokens/{id}/enable")).await.status.as_u16(), 204);
    gateway.get("/x").await;
    gateway.get("/x").await;
    assert!(upstream.tokens().contains(&"tokA".to_owned()));
    assert_eq!(gateway.admin("POST", "/tokens/0123456789abcdef/reset").await.status.as_u16(), 404);
    assert_eq!(gateway.admin("GET", "/tokens/reset").await.status.as_u16(), 405);
}

#[tokio::test]
async fn a_post_moves_to_another_token_but_is_not_repeated_after_a_fault_of_the_upstream() {
    let upstream = Upstream::start(|call| match (call.target.as_str(), call.token()) {
        ("/moves", Some("tokA")) => status(429),
        ("/fails", _) => status(502),
        _ => status(201),
    })
    .await;
    let gateway = Gateway::start(&upstream, &[]).await;
    assert_eq!(send(gateway.address, request("POST", "/moves", "a=1")).await.status.as_u16(), 201);
    assert_eq!(upstream.tokens(), ["tokA", "tokB"]);
    assert_eq!(send(gateway.address, request("POST", "/fails", "a=1")).await.status.as_u16(), 502);
    assert_eq!(upstream.calls().len(), 3);
}

#[tokio::test]
async fn a_limit_rests_a_token_only_for_the_resource_that_the_response_names() {
    let upstream = Upstream::start(|call| match call.target.as_str() {
        "/search/issues" => reply(429, &[("retry-after", "600"), ("x-ratelimit-resource", "search")], ""),
        _ => reply(200, &[("x-ratelimit-resource", "core")], "{}"),
    })
    .await;
    let settings = [("PIXIVFE_TOKEN", "tokA"), ("TIDEGATE_TOKEN_SCOPE", "header:x-ratelimit-resource")];
    let gateway = Gateway::start(&upstream, &settings).await;
    let mut statuses = Vec::new();
    for target in ["/repos/a", "/search/issues", "/repos/b", "/search/issues", "/repos/a"] {
        statuses.push(gateway.get(target).await.status.as_u16());
    }
    assert_eq!(statuses, [200, 429, 200, 503, 200]);
    assert_eq!(upstream.tokens().len(), 4, "the second search never reaches the upstream");
    let tokens = gateway.tokens().await;
    let scope = &tokens[0]["scopes"][0];
    assert_eq!((&tokens[0]["state"], &scope["scope"]), (&"ready".into(), &"search".into()));
    assert_eq!((&scope["state"], &scope["reason"]), (&"cooling".into(), &"rate_limited".into()));
}
