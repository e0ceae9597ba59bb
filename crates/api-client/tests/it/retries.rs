//! Level one through the whole stack, in paused time.

use std::time::Duration;

use http::{Method, Request, StatusCode};
use tidegate_api_client::{
    ApiClient, Attempts, Body, Cause, Deadline, Ended, Error, RetryParams, Timeouts, UnsafeRepeats,
};
use tidegate_backoff_core::{Backoff, Budget, Exponential, Jitter, Ratio};
use tokio::time::Instant;

use crate::script::{Answer, Call, Transport, answer, failure, status};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn plain_retry() -> RetryParams {
    let schedule = Exponential::new(MS(500), MS(8000));
    RetryParams { backoff: Backoff::new(schedule, Jitter::None), ..RetryParams::default() }
}

fn client(
    retry: RetryParams,
    script: impl FnMut(usize, &Call) -> Answer + Send + 'static,
) -> (ApiClient<Transport>, Transport) {
    let transport = Transport::new(script);
    let client =
        ApiClient::builder("http://upstream.test/base").retry(retry).build_over(transport.clone()).unwrap();
    (client, transport)
}

#[tokio::test(start_paused = true)]
async fn waits_are_the_schedules_and_the_attempts_are_told() {
    let (client, transport) = client(plain_retry(), |n, _| status(if n <= 3 { 503 } else { 200 }));
    let response = client.get("/a?b=c").await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["tidegate-attempts"], "4");
    assert_eq!(transport.times(), [0, 500, 1500, 3500]);
    assert_eq!(transport.calls()[3].uri, "http://upstream.test/base/a?b=c");
    let attempts = response.extensions().get::<Attempts>().unwrap();
    let told: Vec<_> = attempts.iter().map(|attempt| (attempt.cause, attempt.wait, attempt.ended)).collect();
    let down = Ended::Status(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        told,
        [
            (Cause::First, MS(0), down),
            (Cause::Retry, MS(500), down),
            (Cause::Retry, MS(1000), down),
            (Cause::Retry, MS(2000), Ended::Status(StatusCode::OK)),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_response_is_handed_on_whole() {
    let bodies = ["one", "two", "three", "four"];
    let (client, transport) =
        client(plain_retry(), move |n, _| answer(502, &[("x-try", "y")], bodies[n - 1]));
    let response = client.get("/").await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["tidegate-attempts"]),
        (502, &"4".parse().unwrap())
    );
    assert_eq!(response.headers()["x-try"], "y");
    assert_eq!(response.into_body().bytes().await.unwrap(), "four");
    assert_eq!(transport.calls().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_body_is_sent_again_byte_for_byte() {
    let (client, transport) = client(plain_retry(), |n, _| status(if n < 3 { 500 } else { 200 }));
    let body: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let request = Request::builder().method(Method::PUT).uri("/p").body(Body::from(body.clone())).unwrap();
    client.request(request).await.unwrap();
    assert_eq!(transport.calls().len(), 3);
    assert!(transport.calls().iter().all(|call| call.body == body));
}

#[tokio::test(start_paused = true)]
async fn a_body_over_the_limit_is_sent_once_and_whole() {
    let transport = Transport::new(|_, _| status(503));
    let client = ApiClient::builder("http://u").replay_limit(999).build_over(transport.clone()).unwrap();
    let body = vec![7_u8; 1000];
    let request = Request::builder().method(Method::PUT).uri("/p").body(Body::from(body.clone())).unwrap();
    let response = client.request(request).await.unwrap();
    assert_eq!((response.status().as_u16(), transport.calls().len()), (503, 1));
    assert_eq!(transport.calls()[0].body, body);
}

#[tokio::test(start_paused = true)]
async fn only_what_is_safe_is_repeated() {
    let reset = || failure(Error::Reset("cut".into()));
    let refused = || failure(Error::Connect("refused".into()));
    type Make = fn() -> Answer;
    let rows: [(&str, Make, Option<&str>, usize); 6] = [
        ("POST, 503", || status(503), None, 1),
        ("POST, reset", reset, None, 1),
        ("POST, never connected", refused, None, 4),
        ("POST, 429 outside a pool", || status(429), None, 4),
        ("POST with a key, 503", || status(503), Some("k"), 4),
        ("POST with a key, reset", reset, Some("k"), 4),
    ];
    for (what, make, key, want) in rows {
        let (client, transport) = client(plain_retry(), move |_, _| make());
        let mut request = Request::post("/p").body(Body::from("x=1")).unwrap();
        if let Some(key) = key {
            request.headers_mut().insert("idempotency-key", key.parse().unwrap());
        }
        let _ = client.request(request).await;
        assert_eq!(transport.calls().len(), want, "{what}");
    }
    let allowed = RetryParams { unsafe_repeats: UnsafeRepeats::Allowed, ..plain_retry() };
    let (client, transport) = client(allowed, |_, _| status(503));
    client.post("/p", "x=1").await.unwrap();
    assert_eq!(transport.calls().len(), 4, "retry_unsafe");
}

#[tokio::test(start_paused = true)]
async fn a_told_delay_is_waited_for_and_a_long_one_is_handed_on() {
    let (short, transport) =
        client(
            plain_retry(),
            |n, _| if n == 1 { answer(503, &[("retry-after", "7")], "") } else { status(200) },
        );
    assert_eq!(short.get("/").await.unwrap().status(), StatusCode::OK);
    assert_eq!(transport.times(), [0, 7000]);
    let (long, transport) = client(plain_retry(), |_, _| answer(503, &[("retry-after", "31")], "later"));
    let response = long.get("/").await.unwrap();
    assert_eq!((response.status().as_u16(), transport.calls().len()), (503, 1));
    assert_eq!(response.headers()["retry-after"], "31");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_hangs_is_given_up_and_tried_again() {
    let transport = Transport::new(|n, _| status(200).after(if n == 1 { MS(60_000) } else { MS(0) }));
    let client = ApiClient::builder("http://u")
        .retry(plain_retry())
        .timeouts(Timeouts { attempt: MS(1000), ..Timeouts::default() })
        .build_over(transport.clone())
        .unwrap();
    assert_eq!(client.get("/").await.unwrap().status(), StatusCode::OK);
    assert_eq!(transport.times(), [0, 1500]);
}

#[tokio::test(start_paused = true)]
async fn nothing_goes_on_past_the_deadline() {
    let (hangs, transport) = client(plain_retry(), |_, _| status(200).after(MS(9_000)));
    let mut request = Request::get("/").body(Body::empty()).unwrap();
    request.extensions_mut().insert(Deadline(Instant::now() + MS(3000)));
    let began = Instant::now();
    let failure = hangs.request(request).await.unwrap_err();
    assert!(matches!(failure.error, Error::Deadline), "{failure:?}");
    assert_eq!((began.elapsed(), failure.attempts.count(), transport.calls().len()), (MS(3000), 1, 1));

    let (fails, transport) = client(plain_retry(), |_, _| status(503));
    let mut request = Request::get("/").body(Body::empty()).unwrap();
    request.extensions_mut().insert(Deadline(Instant::now() + MS(1500)));
    let began = Instant::now();
    assert_eq!(fails.request(request).await.unwrap().status().as_u16(), 503);
    assert_eq!(
        (began.elapsed(), transport.times()),
        (MS(500), vec![0, 500]),
        "the second wait would end with it"
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_after_all_retries_tells_the_attempts() {
    let (client, _) = client(plain_retry(), |_, _| failure(Error::Connect("refused".into())));
    let failure = client.get("/").await.unwrap_err();
    assert_eq!((failure.attempts.count(), failure.to_string().as_str()), (4, "no response after 4 attempts"));
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_not_multiplied() {
    let transport = Transport::new(|_, _| status(503));
    let client = ApiClient::builder("http://u")
        .budget(Budget::new(Ratio::from_millionths(200_000), 1))
        .build_over(transport.clone())
        .unwrap();
    let mut requests = tokio::task::JoinSet::new();
    for _ in 0..500 {
        let client = client.clone();
        requests.spawn(async move { client.get("/").await.unwrap().status() });
    }
    while let Some(done) = requests.join_next().await {
        assert_eq!(done.unwrap().as_u16(), 503);
    }
    let (calls, seconds) = (transport.calls().len(), transport.times().last().unwrap().div_ceil(1000));
    let most = 500 + 100 + 1 + usize::try_from(seconds).unwrap();
    assert!((550..=most).contains(&calls), "{calls} calls in {seconds} s");
}

#[tokio::test(start_paused = true)]
async fn a_long_failed_body_is_handed_on_whole_when_no_retry_follows() {
    let long: &'static str = Box::leak("x".repeat(300_000).into_boxed_str());
    let retry = RetryParams { max_retries: 1, ..plain_retry() };
    let (client, _) = client(retry, move |_, _| answer(503, &[], long));
    let response = client.get("/").await.unwrap();
    assert_eq!(response.into_body().bytes().await.unwrap(), long);
}
