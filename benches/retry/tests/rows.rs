//! The rows of docs/comparison.md: what each crate does, run. `cargo xtask bench retry` runs them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use backoff::backoff::Backoff as _;
use backon::BackoffBuilder as _;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::{RetryTransientMiddleware, policies::ExponentialBackoff};
use retry_policies::{RetryDecision, RetryPolicy as _};
use tidegate_api_client::{ApiClient, Body, RetryParams, transport::ReqwestTransport};
use tidegate_backoff_core::{Backoff, Budget, Exponential, Jitter, Ratio, SplitMix64};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const S: fn(u64) -> Duration = Duration::from_secs;
const MS: fn(u64) -> Duration = Duration::from_millis;

/// What an upstream got, head and body of each request as one text.
type Calls = Arc<Mutex<Vec<String>>>;

/// Answers each request with `answer`, or resets the connection where that is `None`.
async fn upstream(answer: impl Fn(usize) -> Option<String> + Send + 'static) -> (String, Calls) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let calls = Calls::default();
    let told = calls.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !is_whole(&request) && stream.read_buf(&mut request).await.unwrap_or(0) > 0 {}
            let call = {
                let mut calls = told.lock().unwrap();
                calls.push(String::from_utf8_lossy(&request).into_owned());
                calls.len()
            };
            match answer(call) {
                Some(head) => {
                    let answer = format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                    let _ = stream.write_all(answer.as_bytes()).await;
                }
                // Dropped with nothing written: the client sees the connection end before a head.
                None => {}
            }
        }
    });
    (url, calls)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    if head.contains("transfer-encoding: chunked") {
        return body.ends_with("0\r\n\r\n");
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

fn reqwest_client() -> reqwest::Client {
    let tls = rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy().build().unwrap()
}

/// reqwest-retry with three retries a few milliseconds apart.
fn theirs() -> ClientWithMiddleware {
    let policy = ExponentialBackoff::builder().retry_bounds(MS(1), MS(4)).build_with_max_retries(3);
    ClientBuilder::new(reqwest_client()).with(RetryTransientMiddleware::new_with_policy(policy)).build()
}

/// Ours with the same waits.
fn ours(url: &str) -> ApiClient<ReqwestTransport> {
    let retry = RetryParams {
        backoff: Backoff::new(Exponential::new(MS(1), MS(4)), Jitter::Full),
        ..RetryParams::default()
    };
    ApiClient::builder(url).retry(retry).build().unwrap()
}

fn count(calls: &Calls) -> usize {
    calls.lock().unwrap().len()
}

#[test]
fn cap_after_jitter() {
    let longest = |delays: &mut dyn Iterator<Item = Duration>| delays.take(1000).max().unwrap();
    let backon = backon::ExponentialBuilder::default();
    let mut backon =
        backon.with_min_delay(S(1)).with_max_delay(S(10)).with_jitter().without_max_times().build();
    assert!(longest(&mut backon) > S(19), "backon: nearly twice its maximum");
    let mut backoff = backoff::ExponentialBackoffBuilder::new()
        .with_max_interval(S(10))
        .with_max_elapsed_time(None)
        .build();
    let mut backoff = std::iter::from_fn(|| backoff.next_backoff());
    assert!(longest(&mut backoff) > S(14), "backoff: one and a half times its maximum");
    let ours = Backoff::new(Exponential::new(S(1), S(10)), Jitter::Full);
    let mut delays = ours.delays(SplitMix64::new(1));
    assert!(longest(&mut delays) <= S(10));
    assert!(delays.take(1000).any(|delay| delay < S(5)), "and still spread there");
}

#[test]
fn huge_attempts() {
    let ours = Backoff::new(Exponential::new(S(1), S(10)), Jitter::None);
    assert_eq!(ours.delay(u32::MAX, S(0), 0), S(10));
    let theirs = retry_policies::policies::ExponentialBackoff::builder()
        .jitter(retry_policies::Jitter::None)
        .retry_bounds(S(1), S(10))
        .build_with_max_retries(u32::MAX);
    let now = SystemTime::now();
    let RetryDecision::Retry { execute_after } = theirs.should_retry(now, u32::MAX - 1) else {
        panic!("no retry")
    };
    assert!(execute_after.duration_since(now).unwrap() <= S(11), "retry-policies saturates too");
}

#[tokio::test]
async fn retry_after_in_each_form() {
    let date = |seconds| format!("date: Sun, 06 Nov 1994 08:49:{:02} GMT", 37 + seconds);
    let rows = [
        ("seconds", "retry-after: 1".to_owned()),
        ("a fraction", "retry-after: 1.0".to_owned()),
        ("a date", format!("{}\r\nretry-after: Sun, 06 Nov 1994 08:49:38 GMT", date(0))),
        ("milliseconds", "retry-after-ms: 1000".to_owned()),
        ("the IETF's", "ratelimit: \"a\";r=0;t=1".to_owned()),
    ];
    for (form, field) in rows {
        let answer = {
            let field = field.clone();
            move |call| Some(if call == 1 { format!("429 Slow\r\n{field}") } else { "200 OK".to_owned() })
        };
        let (url, calls) = upstream(answer.clone()).await;
        let began = tokio::time::Instant::now();
        assert_eq!(ours(&url).get("/").await.unwrap().status(), 200);
        assert!(began.elapsed() >= S(1) && count(&calls) == 2, "ours waits as told: {form}");
        let (url, calls) = upstream(answer).await;
        let began = tokio::time::Instant::now();
        assert_eq!(theirs().get(&url).send().await.unwrap().status(), 200);
        assert!(began.elapsed() < MS(900) && count(&calls) == 2, "reqwest-retry does not: {form}");
    }
}

#[tokio::test]
async fn post_after_a_reset() {
    let (url, calls) = upstream(|_| None).await;
    assert!(theirs().post(&url).body("pay").send().await.is_err());
    assert_eq!(count(&calls), 4, "reqwest-retry sends a POST four times");
    let (url, calls) = upstream(|_| None).await;
    assert!(ours(&url).post("/", "pay").await.is_err());
    assert_eq!(count(&calls), 1);
}

#[tokio::test]
async fn not_implemented() {
    let (url, calls) = upstream(|_| Some("501 Not Implemented".to_owned())).await;
    assert_eq!(theirs().get(&url).send().await.unwrap().status(), 501);
    assert_eq!(count(&calls), 4, "reqwest-retry asks again");
    let (url, calls) = upstream(|_| Some("501 Not Implemented".to_owned())).await;
    assert_eq!(ours(&url).get("/").await.unwrap().status(), 501);
    assert_eq!(count(&calls), 1);
}

#[tokio::test]
async fn cross_origin_redirect_with_an_api_key() {
    for theirs_turn in [true, false] {
        let (elsewhere, calls) = upstream(|_| Some("200 OK".to_owned())).await;
        let (url, _) = upstream(move |_| Some(format!("307 Elsewhere\r\nlocation: {elsewhere}/"))).await;
        if theirs_turn {
            let sent = theirs().get(&url).header("x-api-key", "secret").send().await.unwrap();
            assert_eq!(sent.status(), 200);
            assert!(calls.lock().unwrap()[0].contains("x-api-key: secret"), "reqwest follows, key and all");
        } else {
            let request = http::Request::get("/").header("x-api-key", "secret").body(Body::empty()).unwrap();
            assert_eq!(ours(&url).request(request).await.unwrap().status(), 307);
            assert_eq!(count(&calls), 0, "ours hands the redirect on");
        }
    }
}

#[tokio::test]
async fn streaming_body() {
    let answer = |call| Some(if call == 1 { "503 Busy" } else { "200 OK" }.to_owned());
    let pieces = || http_body_util::StreamBody::new(tokio_stream());
    let (url, calls) = upstream(answer).await;
    let sent = theirs().put(&url).body(reqwest::Body::wrap(pieces())).send().await;
    assert!(sent.is_err() && count(&calls) == 0, "reqwest-retry refuses a stream before it is sent");
    let (url, calls) = upstream(answer).await;
    let request = http::Request::put("/").body(Body::new(pieces())).unwrap();
    assert_eq!(ours(&url).request(request).await.unwrap().status(), 200);
    let calls = calls.lock().unwrap();
    let bodies: Vec<_> = calls.iter().map(|call| call.split_once("\r\n\r\n").unwrap().1).collect();
    assert!(bodies.len() == 2 && bodies.iter().all(|body| body.contains("one") && body.contains("two")));
}

/// Two pieces that come one after the other.
fn tokio_stream() -> impl futures_core::Stream<Item = Result<hyper::body::Frame<bytes::Bytes>, std::io::Error>>
{
    let mut pieces = vec!["two", "one"];
    futures_util::stream::poll_fn(move |_| {
        let piece = pieces.pop().map(|piece| Ok(hyper::body::Frame::data(bytes::Bytes::from(piece))));
        std::task::Poll::Ready(piece)
    })
}

#[tokio::test]
async fn outage_with_a_budget() {
    const REQUESTS: usize = 200;
    let (url, calls) = upstream(|_| Some("503 Down".to_owned())).await;
    let client = theirs();
    for _ in 0..REQUESTS {
        assert_eq!(client.get(&url).send().await.unwrap().status(), 503);
    }
    assert_eq!(count(&calls), 4 * REQUESTS, "reqwest-retry multiplies an outage by four");
    let (url, calls) = upstream(|_| Some("503 Down".to_owned())).await;
    let retry = RetryParams {
        backoff: Backoff::new(Exponential::new(MS(1), MS(4)), Jitter::Full),
        ..RetryParams::default()
    };
    let budget = Budget::new(Ratio::from_millionths(200_000), 0);
    let client = ApiClient::builder(url).retry(retry).budget(budget).build().unwrap();
    for _ in 0..REQUESTS {
        assert_eq!(client.get("/").await.unwrap().status(), 503);
    }
    assert_eq!(count(&calls), REQUESTS + REQUESTS / 5, "a fifth more");
}
