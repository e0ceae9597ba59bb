//! Level two through the whole stack: tokens, switches and waits, in paused time.

use std::num::NonZeroU32;
use std::time::Duration;

use http::{Method, Request};
use tidegate_api_client::{ApiClient, Body, Error, Failure, RetryParams};
use tidegate_backoff_core::{Backoff, Budget, Exponential, Jitter, Ratio};
use tidegate_token_manager::{IdKey, PoolParams, State, Token, TokenManager, TokenSpec};
use tokio::time::Instant;

use crate::script::{Answer, Call, Transport, answer, status};

fn pool(tokens: &[&str], params: PoolParams) -> TokenManager {
    let specs = tokens.iter().map(|token| TokenSpec {
        value: Token::new(*token),
        name: None,
        weight: NonZeroU32::MIN,
        group: None,
    });
    TokenManager::new("default", params, specs.collect(), IdKey::from_bytes(b"a key for tests"))
}

fn rig(
    tokens: &[&str],
    script: impl FnMut(usize, &Call) -> Answer + Send + 'static,
) -> (ApiClient<Transport>, Transport, TokenManager) {
    let schedule = Exponential::new(Duration::from_millis(500), Duration::from_secs(8));
    let retry = RetryParams { backoff: Backoff::new(schedule, Jitter::None), ..RetryParams::default() };
    let manager = pool(tokens, PoolParams::default());
    let transport = Transport::new(script);
    let client = ApiClient::builder("http://u")
        .pool(manager.clone())
        .retry(retry)
        .budget(Budget::new(Ratio::from_millionths(200_000), 10))
        .build_over(transport.clone())
        .unwrap();
    (client, transport, manager)
}

fn is(call: &Call, token: &str) -> bool {
    call.token.as_deref() == Some(token)
}

fn states(manager: &TokenManager) -> Vec<State> {
    manager.snapshot().into_iter().map(|token| token.state).collect()
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_switched_at_once_for_each_kind_of_refusal() {
    for refusal in [429, 401, 402] {
        for method in [Method::GET, Method::POST] {
            let (client, transport, manager) =
                rig(&["a", "b"], move |_, call| status(if is(call, "a") { refusal } else { 200 }));
            let began = Instant::now();
            let request = Request::builder().method(&method).uri("/x").body(Body::from("held")).unwrap();
            let response = client.request(request).await.unwrap();
            assert_eq!(response.status().as_u16(), 200, "{refusal} {method}");
            assert_eq!((transport.tokens(), began.elapsed()), (vec!["a".into(), "b".into()], Duration::ZERO));
            assert_eq!(states(&manager), [State::Cooling, State::Ready], "{refusal} {method}");
            assert_eq!(manager.snapshot()[0].last_status, Some(refusal));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_upstream_fault_rests_no_token_and_uses_the_next_in_turn() {
    let (client, transport, manager) = rig(&["a", "b"], |n, _| status(if n < 3 { 502 } else { 200 }));
    client.get("/").await.unwrap();
    assert_eq!(transport.times(), [0, 500, 1500]);
    assert!(manager.snapshot().iter().all(|token| token.failures == 0));
}

#[tokio::test(start_paused = true)]
async fn when_all_are_refused_the_request_waits_for_the_first_that_returns() {
    let (client, transport, _) = rig(&["a", "b"], |n, _| status(if n <= 2 { 429 } else { 200 }));
    assert_eq!(client.get("/").await.unwrap().status().as_u16(), 200);
    assert_eq!(transport.times(), [0, 0, 1000], "a's cool-down is 1 s");
}

#[tokio::test(start_paused = true)]
async fn who_cannot_wait_long_enough_gets_the_last_response_with_the_pools_own_prediction() {
    let (client, transport, _) = rig(&["a", "b"], |n, _| {
        answer(429, &[("retry-after", if n == 1 { "40" } else { "90" })], "slow down")
    });
    let began = Instant::now();
    let response = client.get("/").await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (429, &"40".parse().unwrap())
    );
    assert_eq!(response.headers()["tidegate-attempts"], "2");
    assert_eq!(response.into_body().bytes().await.unwrap(), "slow down");
    let failure: Failure = client.get("/").await.unwrap_err();
    let Error::NoToken(exhausted) = &failure.error else { panic!("{failure:?}") };
    assert_eq!((exhausted.retry_in, failure.attempts.count()), (Some(Duration::from_secs(40)), 0));
    assert_eq!((began.elapsed(), transport.calls().len()), (Duration::ZERO, 2));
}

#[tokio::test(start_paused = true)]
async fn waits_for_tokens_are_bounded_over_the_whole_request() {
    // Each probe is refused again, so the waits are 1 s, then 2 s; the third, of 4 s, passes 5 s in all.
    let (client, transport, _) = rig(&["a"], |_, _| status(429));
    let response = client.get("/").await.unwrap();
    assert_eq!((response.status().as_u16(), transport.times()), (429, vec![0, 1000, 3000]));
    assert_eq!(response.headers()["retry-after"], "4");
}

#[tokio::test(start_paused = true)]
async fn a_lone_403_moves_once_and_is_charged_only_when_another_token_does_better() {
    let (client, transport, manager) =
        rig(&["a", "b", "c"], |_, call| status(if is(call, "a") { 403 } else { 404 }));
    assert_eq!(client.get("/").await.unwrap().status().as_u16(), 404);
    assert_eq!(transport.tokens(), ["a", "b"]);
    assert_eq!(states(&manager), [State::Cooling, State::Ready, State::Ready]);

    let (client, transport, manager) = rig(&["a", "b", "c"], |_, _| answer(403, &[], "private"));
    let response = client.get("/").await.unwrap();
    assert_eq!((response.status().as_u16(), transport.calls().len()), (403, 2));
    assert_eq!(response.into_body().bytes().await.unwrap(), "private");
    assert_eq!(states(&manager), [State::Ready; 3]);

    let (client, transport, manager) = rig(&["a"], |_, _| answer(403, &[], "private"));
    let began = Instant::now();
    let response = client.get("/").await.unwrap();
    assert_eq!(
        (response.status().as_u16(), transport.calls().len()),
        (403, 1),
        "nobody else is there to ask"
    );
    assert!(response.headers().get("retry-after").is_none());
    assert_eq!(response.into_body().bytes().await.unwrap(), "private");
    assert_eq!((states(&manager), began.elapsed()), (vec![State::Ready], Duration::ZERO));

    let (client, transport, _) = rig(&["a", "b"], |_, _| status(403));
    client.post("/", "x").await.unwrap();
    assert_eq!(transport.calls().len(), 1, "a 403 does not move an unsafe method");
}

#[tokio::test(start_paused = true)]
async fn an_empty_quota_on_a_good_answer_rests_the_token() {
    let (client, transport, _) = rig(&["a", "b"], |_, call| {
        answer(200, if is(call, "a") { &[("ratelimit", "\"p\";r=0;t=60")] } else { &[] }, "")
    });
    for _ in 0..5 {
        client.get("/").await.unwrap();
    }
    assert_eq!(transport.tokens(), ["a", "b", "b", "b", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_lent_until_the_body_has_ended() {
    let (client, _, manager) = rig(&["a"], |_, _| answer(200, &[], "bytes"));
    let response = client.get("/").await.unwrap();
    assert_eq!(manager.snapshot()[0].in_flight, 1);
    response.into_body().bytes().await.unwrap();
    assert_eq!(manager.snapshot()[0].in_flight, 0);
    let response = client.get("/").await.unwrap();
    drop(response);
    assert_eq!(manager.snapshot()[0].in_flight, 0, "a dropped body frees it too");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_is_nobodys_fault() {
    let (client, transport, manager) = rig(&["a"], |_, _| status(200).after(Duration::from_secs(5)));
    let left = tokio::time::timeout(Duration::from_secs(1), client.get("/")).await;
    assert!(left.is_err());
    let token = &manager.snapshot()[0];
    assert_eq!(
        (token.state, token.failures, token.in_flight, transport.calls().len()),
        (State::Ready, 0, 0, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn switches_after_the_first_are_paid_from_the_budget() {
    let (tokens, free) = (["a", "b", "c", "d"], Budget::new(Ratio::from_millionths(0), 0));
    let manager = pool(&tokens, PoolParams::default());
    let transport = Transport::new(|_, _| status(429));
    let client =
        ApiClient::builder("http://u").pool(manager).budget(free).build_over(transport.clone()).unwrap();
    assert_eq!(client.get("/").await.unwrap().status().as_u16(), 429);
    assert_eq!(transport.tokens(), ["a", "b"]);
}
