use super::*;
use crate::target::RefusedMethod;
use http_body_util::BodyExt;

fn all() -> Vec<(Problem, u16, &'static str, Option<&'static str>)> {
    let idle = RequestBodyError::Idle(Duration::from_secs(120));
    let cause = || -> Box<dyn StdError + Send + Sync> { "cause".into() };
    let wait = |retry_in| Exhausted { total: 2, retry_in, only: None };
    let limit = BodyLimitExceeded { limit: 9 };
    vec![
        (Problem::Target(Refusal::NoPath), 400, "bad-target", None),
        (Problem::Target(Refusal::DotSegment), 400, "bad-target", None),
        (Problem::Target(Refusal::Backslash), 400, "bad-target", None),
        (Problem::Target(Refusal::HostMissing), 400, "bad-host", None),
        (Problem::Target(Refusal::HostDoubled), 400, "bad-host", None),
        (Problem::Target(Refusal::HostInvalid), 400, "bad-host", None),
        (Problem::Target(Refusal::Method(RefusedMethod::Connect)), 405, "method-not-allowed", None),
        (Problem::Target(Refusal::Upgrade), 501, "no-upgrade", None),
        (Problem::ClientKey, 401, "client-key", None),
        (Problem::NotPooled, 403, "not-pooled", None),
        (Problem::OwnCredential, 403, "own-credential", None),
        (Problem::NoRoute, 404, "no-route", None),
        (Problem::BodyTooLarge { limit: 9 }, 413, "body-too-large", None),
        (Problem::ClientRate { client: "web".into(), too_fast: TOO_FAST }, 429, "client-rate", Some("2")),
        (Problem::Shed { limit: 1024 }, 503, "shed", Some("1")),
        (Problem::Stopping, 503, "stopping", Some("1")),
        (Problem::Internal, 500, "internal", None),
        (Problem::from(&Error::Connect(cause())), 502, "upstream-unreachable", None),
        (Problem::from(&Error::Handshake(cause())), 502, "upstream-tls", None),
        (Problem::from(&Error::Certificate(cause())), 502, "upstream-certificate", None),
        (Problem::from(&Error::Reset(cause())), 502, "upstream-reset", None),
        (Problem::from(&Error::RefusedStream(cause())), 502, "upstream-reset", None),
        (Problem::from(&Error::Protocol(cause())), 502, "upstream-protocol", None),
        (Problem::from(&Error::Configuration(cause())), 502, "upstream-configuration", None),
        (
            Problem::from(&Error::AttemptTimeout { timeout: Duration::from_secs(10) }),
            504,
            "upstream-timeout",
            None,
        ),
        (Problem::from(&Error::Deadline), 504, "deadline", None),
        (
            Problem::from(&Error::NoToken(wait(Some(Duration::from_millis(29_001))))),
            503,
            "exhausted",
            Some("30"),
        ),
        (Problem::from(&Error::NoToken(wait(Some(Duration::ZERO)))), 503, "exhausted", Some("1")),
        (Problem::from(&Error::NoToken(wait(None))), 503, "exhausted", None),
        (Problem::from(&Error::RequestBody(cause())), 400, "bad-body", None),
        (Problem::from(&Error::RequestBody(Box::new(idle))), 408, "body-timeout", None),
        (Problem::from(&Error::RequestBody(Box::new(limit))), 413, "body-too-large", None),
        (Problem::from(&Error::Closed), 503, "stopping", Some("1")),
    ]
}

#[tokio::test]
async fn each_problem_is_a_document_of_rfc_9457() {
    for (problem, status, name, retry_after) in all() {
        let response = problem.response("id-1");
        let (head, body) = response.into_parts();
        let document: serde_json::Value =
            serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
        assert_eq!(head.status.as_u16(), status, "{name}");
        assert_eq!(head.headers["content-type"], "application/problem+json", "{name}");
        assert_eq!(head.headers.get("retry-after").map(|v| v.to_str().unwrap()), retry_after, "{name}");
        assert_eq!(document["type"], format!("urn:tidegate:{name}"));
        assert_eq!(document["status"], status, "{name}");
        assert_eq!(document["request_id"], "id-1", "{name}");
        assert!(
            document["title"].as_str().unwrap().len() > 5 && document["detail"].as_str().unwrap().len() > 5,
            "{name}"
        );
    }
}

#[test]
fn what_a_client_may_do_instead_is_said() {
    assert_eq!(Problem::ClientKey.response("").headers()["www-authenticate"], "Bearer realm=\"tidegate\"");
    let refused = Problem::Target(Refusal::Method(RefusedMethod::Trace)).response("");
    assert!(refused.headers()["allow"].to_str().unwrap().contains("GET, HEAD"));
}

const TOO_FAST: TooFast =
    TooFast { quota: 20, window: Duration::from_secs(2), retry_in: Duration::from_millis(1500) };

#[test]
fn a_client_that_is_too_fast_is_told_its_rate() {
    let response = Problem::ClientRate { client: "web-1".into(), too_fast: TOO_FAST }.response("");
    assert_eq!(response.headers()["ratelimit-policy"], "\"web-1\";q=20;w=2");
    assert_eq!(response.headers()["ratelimit"], "\"web-1\";r=0;t=2");
}
