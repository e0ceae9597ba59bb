use super::*;
use tidegate_backoff_core::Exponential;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn plain() -> RetryParams {
    let schedule = Exponential::new(MS(500), MS(8000));
    RetryParams { backoff: Backoff::new(schedule, Jitter::None), ..RetryParams::default() }
}

struct Case {
    fault: Fault,
    told: Option<Duration>,
    quota: Option<Duration>,
    status: Option<u16>,
    surely_unsent: bool,
    method: Method,
    key: bool,
    held: bool,
    repeat: Option<Repeat>,
    is_pinned: bool,
    retries: u32,
    switches: u32,
    left: Option<Duration>,
    budget: bool,
}

const FAILED_GET: Case = Case {
    fault: Fault::Upstream,
    told: None,
    quota: None,
    status: Some(503),
    surely_unsent: false,
    method: Method::GET,
    key: false,
    held: true,
    repeat: None,
    is_pinned: false,
    retries: 0,
    switches: 0,
    left: None,
    budget: true,
};

fn decide(params: &RetryParams, case: &Case) -> Decision {
    let mut headers = HeaderMap::new();
    if case.key {
        headers.insert("idempotency-key", http::HeaderValue::from_static("k"));
    }
    let now = Instant::now();
    let situation = Situation {
        verdict: Verdict { fault: case.fault, told: case.told, quota: case.quota, remaining: None },
        status: case.status.map(|status| StatusCode::from_u16(status).unwrap()),
        surely_unsent: case.surely_unsent,
        method: &case.method,
        headers: &headers,
        body_is_held: case.held,
        repeat: case.repeat,
        is_pinned: case.is_pinned,
        progress: Progress { retries: case.retries, switches: case.switches, backoff: Duration::ZERO },
        now,
        deadline: case.left.map(|left| now + left),
        entropy: 1,
    };
    params.decide(&situation, || case.budget)
}

#[test]
fn an_upstream_fault_is_retried_only_when_every_condition_holds() {
    use Decision::{Retry, Return};
    let post = || Case { method: Method::POST, ..FAILED_GET };
    let after = |ms| Retry { wait: MS(ms) };
    let rows = [
        ("the first retry", FAILED_GET, after(500)),
        ("pinned to a token", Case { is_pinned: true, ..FAILED_GET }, after(500)),
        ("the third retry", Case { retries: 2, ..FAILED_GET }, after(2000)),
        ("no retries left", Case { retries: 3, ..FAILED_GET }, Return),
        ("the body is gone", Case { held: false, ..FAILED_GET }, Return),
        ("the budget refuses", Case { budget: false, ..FAILED_GET }, Return),
        ("the wait ends with the deadline", Case { left: Some(MS(500)), ..FAILED_GET }, Return),
        ("the wait ends before it", Case { left: Some(MS(501)), ..FAILED_GET }, after(500)),
        ("the deadline has passed", Case { left: Some(MS(0)), ..FAILED_GET }, Return),
        ("PUT and DELETE are idempotent", Case { method: Method::PUT, ..FAILED_GET }, after(500)),
        ("a POST is not", Case { ..post() }, Return),
        ("PATCH is not", Case { method: Method::PATCH, ..FAILED_GET }, Return),
        ("a POST with a key", Case { key: true, method: Method::POST, ..FAILED_GET }, after(500)),
        (
            "a POST that never left",
            Case { surely_unsent: true, status: None, method: Method::POST, ..FAILED_GET },
            after(500),
        ),
        ("a POST that met a 429", Case { status: Some(429), method: Method::POST, ..FAILED_GET }, after(500)),
        ("a told delay is a floor", Case { told: Some(MS(3000)), ..FAILED_GET }, after(3000)),
        ("a short one does not shorten", Case { told: Some(MS(0)), ..FAILED_GET }, after(500)),
        (
            "the reset of an empty quota is a floor too",
            Case { quota: Some(MS(4000)), ..FAILED_GET },
            after(4000),
        ),
        ("a far one rests the token alone", Case { quota: Some(MS(90_000)), ..FAILED_GET }, after(500)),
        ("the longest that is waited for", Case { told: Some(MS(30_000)), ..FAILED_GET }, after(30_000)),
        ("a longer one is not slept", Case { told: Some(MS(30_001)), ..FAILED_GET }, Return),
        (
            "nor one past the deadline",
            Case { told: Some(MS(3000)), left: Some(MS(2000)), ..FAILED_GET },
            Return,
        ),
        ("the request's own fault", Case { fault: Fault::Request, status: Some(404), ..FAILED_GET }, Return),
        ("the settings' fault", Case { fault: Fault::Configuration, status: None, ..FAILED_GET }, Return),
        ("nobody's fault", Case { fault: Fault::None, status: Some(200), ..FAILED_GET }, Return),
    ];
    for (what, case, want) in rows {
        assert_eq!(decide(&plain(), &case), want, "{what}");
    }
    let allowed = RetryParams { unsafe_repeats: UnsafeRepeats::Allowed, ..plain() };
    assert_eq!(decide(&allowed, &Case { method: Method::POST, ..FAILED_GET }), after(500), "retry_unsafe");
}

#[test]
fn a_token_fault_switches_at_once() {
    use Decision::{Return, Switch};
    let limited = || Case { fault: Fault::TokenLimited, status: Some(429), ..FAILED_GET };
    let forbidden = || Case { fault: Fault::Forbidden, status: Some(403), ..FAILED_GET };
    let now = Switch { may_wait: true };
    let rows = [
        ("a GET", Case { ..limited() }, now),
        ("a POST whose body is held", Case { method: Method::POST, ..limited() }, now),
        ("a body that is gone", Case { held: false, ..limited() }, Return),
        ("the first is free", Case { budget: false, ..limited() }, now),
        ("pinned to a token", Case { is_pinned: true, ..limited() }, Return),
        ("the second is not", Case { budget: false, switches: 1, ..limited() }, Return),
        ("the fifth", Case { switches: 4, ..limited() }, now),
        ("five are enough", Case { switches: 5, ..limited() }, Return),
        ("a long told delay is the token's", Case { told: Some(MS(3_600_000)), ..limited() }, now),
        ("401", Case { fault: Fault::TokenRejected, status: Some(401), ..limited() }, now),
        ("403 with Retry-After moves a GET", Case { status: Some(403), ..limited() }, now),
        ("but no POST", Case { status: Some(403), method: Method::POST, ..limited() }, Return),
        ("a lone 403 does not wait", Case { ..forbidden() }, Switch { may_wait: false }),
        ("and moves once", Case { switches: 1, ..forbidden() }, Return),
        ("and only safe methods", Case { method: Method::PUT, ..forbidden() }, Return),
    ];
    for (what, case, want) in rows {
        assert_eq!(decide(&plain(), &case), want, "{what}");
    }
}

#[test]
fn a_told_delay_is_spread_by_a_share_of_the_base_and_only_with_jitter() {
    let case = Case { told: Some(MS(10_000)), ..FAILED_GET };
    let Decision::Retry { wait } = decide(&RetryParams::default(), &case) else { panic!("retried") };
    assert!(wait > MS(10_000) && wait <= MS(10_500), "{wait:?}");
}

#[test]
fn a_request_may_say_itself_whether_it_is_repeated() {
    let post = Case { method: Method::POST, ..FAILED_GET };
    let limited = Case { fault: Fault::TokenLimited, status: Some(429), ..FAILED_GET };
    let retry = Decision::Retry { wait: MS(500) };
    let rows = [
        ("POST", Case { repeat: None, ..post }, Decision::Return),
        ("harmless POST", Case { repeat: Some(Repeat::Harmless), ..post_again() }, retry),
        ("harmful GET", Case { repeat: Some(Repeat::Harmful), ..FAILED_GET }, Decision::Return),
        ("harmful, unsent", Case { repeat: Some(Repeat::Harmful), surely_unsent: true, ..FAILED_GET }, retry),
        (
            "harmful with a key",
            Case { repeat: Some(Repeat::Harmful), key: true, ..FAILED_GET },
            Decision::Return,
        ),
        (
            "never, unsent",
            Case { repeat: Some(Repeat::Never), surely_unsent: true, ..FAILED_GET },
            Decision::Return,
        ),
        ("never switched", Case { repeat: Some(Repeat::Never), ..limited }, Decision::Return),
    ];
    for (what, case, expected) in rows {
        assert_eq!(decide(&plain(), &case), expected, "{what}");
    }
}

fn post_again() -> Case {
    Case { method: Method::POST, ..FAILED_GET }
}
