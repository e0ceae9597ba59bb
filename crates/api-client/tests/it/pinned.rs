//! A request that wants one token of the pool and no other.

use std::time::Duration;

use http::Request;
use tidegate_api_client::{ApiClient, Body, BypassPool, Error, PinnedToken};
use tidegate_token_manager::{IdKey, OnlyToken, PoolParams, State, Token, TokenId, TokenManager, TokenSpec};
use tokio::time::Instant;

use crate::script::{Answer, Call, Transport, answer, status};

fn key() -> IdKey {
    IdKey::from_bytes(b"a key for tests")
}

fn id(token: &str) -> TokenId {
    key().id(&Token::new(token))
}

fn rig(
    script: impl FnMut(usize, &Call) -> Answer + Send + 'static,
) -> (ApiClient<Transport>, Transport, TokenManager) {
    let specs = ["a", "b", "c"]
        .map(|value| TokenSpec { name: Some(format!("the {value}")), ..TokenSpec::new(value) });
    let manager = TokenManager::new("default", PoolParams::default(), specs.into(), key());
    let transport = Transport::new(script);
    let client = ApiClient::builder("http://u").pool(manager.clone()).build_over(transport.clone()).unwrap();
    (client, transport, manager)
}

fn pinned(pin: PinnedToken) -> Request<Body> {
    Request::get("/").extension(pin).body(Body::empty()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_signed_by_the_token_by_id_or_by_name() {
    for pin in [PinnedToken::Id(id("b")), PinnedToken::named("the b")] {
        let (client, transport, _) = rig(|n, _| status(if n < 3 { 503 } else { 200 }));
        assert_eq!(client.request(pinned(pin)).await.unwrap().status().as_u16(), 200);
        assert_eq!(transport.tokens(), ["b", "b", "b"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_token_is_handed_on_without_a_switch() {
    for refusal in [429, 401, 402, 403] {
        let (client, transport, manager) = rig(move |_, _| answer(refusal, &[("retry-after", "7")], "no"));
        let response = client.request(pinned(PinnedToken::named("the b"))).await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["retry-after"]),
            (refusal, &"7".parse().unwrap())
        );
        assert_eq!(response.into_body().bytes().await.unwrap(), "no");
        assert_eq!(transport.tokens(), ["b"], "{refusal}");
        let states: Vec<_> = manager.snapshot().into_iter().map(|token| token.state).collect();
        assert_eq!(states, [State::Ready, State::Cooling, State::Ready], "{refusal}: the pool is told");
    }
}

#[tokio::test(start_paused = true)]
async fn its_rest_is_waited_for_within_the_pools_patience() {
    let (client, transport, _) =
        rig(|n, _| if n == 1 { answer(429, &[("retry-after", "3")], "") } else { status(200) });
    client.request(pinned(PinnedToken::named("the b"))).await.unwrap();
    let response = client.request(pinned(PinnedToken::named("the b"))).await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    assert_eq!(transport.times(), [0, 3000]);
}

#[tokio::test(start_paused = true)]
async fn who_cannot_wait_for_it_is_told_how_it_stands_at_once() {
    let (client, transport, manager) = rig(|_, _| answer(429, &[("retry-after", "60")], ""));
    client.request(pinned(PinnedToken::named("the b"))).await.unwrap();
    manager.disable(id("c")).unwrap();
    let rows =
        [("b", Some(State::Cooling), Some(Duration::from_secs(60))), ("c", Some(State::Disabled), None)];
    for (token, state, retry_in) in rows {
        let began = Instant::now();
        let failure = client.request(pinned(PinnedToken::Id(id(token)))).await.unwrap_err();
        let Error::NoToken(refusal) = failure.error else { panic!("{failure:?}") };
        assert_eq!(refusal.only, Some(OnlyToken { id: id(token), state }));
        assert_eq!((refusal.retry_in, began.elapsed()), (retry_in, Duration::ZERO), "{token}");
    }
    assert_eq!(transport.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_there_is_not_is_an_error_and_nothing_is_sent() {
    let (client, transport, _) = rig(|_, _| status(200));
    let alone = ApiClient::builder("http://u").build_over(transport.clone()).unwrap();
    for (client, pin) in [
        (&client, PinnedToken::named("the z")),
        (&client, PinnedToken::Id(id("z"))),
        (&alone, PinnedToken::named("the a")),
    ] {
        let failure = client.request(pinned(pin.clone())).await.unwrap_err();
        let Error::UnknownToken(unknown) = failure.error else { panic!("{failure:?}") };
        assert_eq!(unknown, pin);
    }
    assert_eq!(transport.calls().len(), 0);
    // What goes outside the pool is signed by none of it.
    let mut outside = pinned(PinnedToken::named("the a"));
    outside.extensions_mut().insert(BypassPool);
    client.request(outside).await.unwrap();
    assert_eq!(transport.tokens(), [""]);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_goes_while_it_is_waited_for_is_unknown() {
    let (client, transport, manager) = rig(|n, _| if n == 1 { status(429) } else { status(200) });
    client.request(pinned(PinnedToken::named("the b"))).await.unwrap();
    let waits = tokio::spawn(async move { client.request(pinned(PinnedToken::named("the b"))).await });
    tokio::task::yield_now().await;
    assert_eq!(manager.waiting(), 1);
    manager.reload(vec![TokenSpec::new("a")]);
    let failure = waits.await.unwrap().unwrap_err();
    assert!(matches!(failure.error, Error::UnknownToken(_)), "{failure:?}");
    assert_eq!(transport.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_whose_token_goes_between_two_attempts_gets_the_last_response() {
    let (client, transport, manager) = rig(|_, _| answer(503, &[], "down"));
    let sent = tokio::spawn(async move { client.request(pinned(PinnedToken::named("the b"))).await });
    while transport.calls().is_empty() {
        tokio::task::yield_now().await;
    }
    manager.reload(vec![TokenSpec::new("a")]);
    let response = sent.await.unwrap().unwrap();
    assert_eq!(response.into_body().bytes().await.unwrap(), "down");
    assert_eq!(transport.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_while_it_waits_leaves_nothing() {
    let (client, _, manager) = rig(|_, _| status(429));
    client.request(pinned(PinnedToken::named("the b"))).await.unwrap();
    let waits = tokio::spawn({
        let client = client.clone();
        async move { client.request(pinned(PinnedToken::named("the b"))).await }
    });
    tokio::task::yield_now().await;
    assert_eq!(manager.waiting(), 1);
    waits.abort();
    assert!(waits.await.unwrap_err().is_cancelled());
    assert_eq!(manager.waiting(), 0);
}
