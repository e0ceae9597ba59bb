//! What the presets' APIs say in bodies of their own, through the whole gateway.

use crate::gateway::Gateway;
use crate::upstream::{Call, Upstream, reply, status};

fn bearer(call: &Call) -> &str {
    call.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default()
}

/// An upstream that answers the first token so, and everybody else well.
async fn refuses_the_first(refusal: u16, headers: &'static [(&str, &str)], body: &'static str) -> Upstream {
    let json = [("content-type", "application/json; charset=utf-8")];
    Upstream::start(move |call| match bearer(call) {
        "tokA" => reply(refusal, &[&json, headers].concat(), body),
        _ => status(200),
    })
    .await
}

async fn behind(preset: &str, upstream: &Upstream, rules: &str) -> Gateway {
    let settings =
        [("TIDEGATE_PRESET", preset), ("TIDEGATE_CREDENTIAL", "bearer"), ("TIDEGATE_TOKEN_SCOPE", "none")];
    Gateway::start_with(upstream, &settings, &[("tidegate.toml", rules)]).await
}

const SECONDARY: &str = r#"{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}"#;
const NO_CREDIT: &str = r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}"#;
const TOO_FAST: &str = r#"{"error":{"type":"requests","code":"rate_limit_exceeded"}}"#;

/// The preset; what the token is refused with: status, fields, body; and how it then stands: state, reason, its rest in
/// seconds at least.
type Row = (
    &'static str,
    u16,
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static str,
    &'static str,
    u64,
);

#[tokio::test]
async fn a_body_is_read_as_the_presets_api_means_it() {
    let rows: [Row; 7] = [
        ("github", 403, &[], SECONDARY, "cooling", "rate_limited", 55),
        ("github", 429, &[], SECONDARY, "cooling", "rate_limited", 55),
        ("github", 403, &[("retry-after", "300")], SECONDARY, "cooling", "rate_limited", 295),
        // A 403 to which another token then has a better answer rests its token for a cool-down.
        ("generic", 403, &[], SECONDARY, "cooling", "rate_limited", 0),
        ("openai", 429, &[], NO_CREDIT, "cooling", "rejected", 0),
        ("openai", 429, &[], TOO_FAST, "cooling", "rate_limited", 0),
        ("generic", 429, &[], NO_CREDIT, "cooling", "rate_limited", 0),
    ];
    for row in rows {
        let (preset, refusal, headers, body, state, reason, rest) = row;
        let upstream = refuses_the_first(refusal, headers, body).await;
        // A cool-down that outlasts the look at it.
        let gateway = behind(preset, &upstream, "[token]\nbase = \"20s\"\n").await;
        assert_eq!(gateway.get("/x").await.status.as_u16(), 200, "{row:?}");
        let calls = upstream.calls();
        assert_eq!(calls.iter().map(bearer).collect::<Vec<_>>(), ["tokA", "tokB"], "{row:?}");
        let readable = calls[0].header("accept-encoding") == Some("identity");
        assert_eq!(readable, preset != "generic", "{row:?}");
        let token = &gateway.tokens().await[0];
        assert_eq!((&token["state"], &token["reason"]), (&state.into(), &reason.into()), "{row:?}: {token}");
        let retry_in = token["retry_in_ms"].as_u64().unwrap() / 1000;
        assert!(retry_in >= rest && (rest > 0 || retry_in <= 20), "{row:?}: {token}");
    }
}

#[tokio::test]
async fn a_rule_of_the_settings_goes_before_the_presets() {
    let upstream = refuses_the_first(429, &[], NO_CREDIT).await;
    let rules = "[[rule]]\nstatus = 429\nbody_contains = \"insufficient_quota\"\nverdict = \"request\"\n";
    let gateway = behind("openai", &upstream, rules).await;
    let answer = gateway.get("/x").await;
    assert_eq!((answer.status.as_u16(), answer.body.as_ref()), (429, NO_CREDIT.as_bytes()));
    assert_eq!(upstream.calls().len(), 1);
}

#[tokio::test]
async fn a_route_to_another_host_without_the_pool_is_judged_by_http_alone() {
    let upstream = Upstream::start(|_| status(200)).await;
    let other = refuses_the_first(403, &[], SECONDARY).await;
    let route = format!("[[route]]\nprefix = \"/other/\"\nupstream = \"{}\"\npool = \"none\"\n", other.url());
    let gateway = behind("github", &upstream, &route).await;
    gateway.get("/x").await;
    gateway.get("/other/x").await;
    let encoding = |upstream: &Upstream| upstream.calls()[0].header("accept-encoding").map(str::to_owned);
    assert_eq!((encoding(&upstream).as_deref(), encoding(&other)), (Some("identity"), None));
}
