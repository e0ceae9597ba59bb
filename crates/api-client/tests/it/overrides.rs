//! What one request asks for itself, and who is told of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Request;
use tidegate_api_client::{
    ApiClient, Attempt, Attempts, Body, Cause, Ended, Observer, Repeat, RetryParams, Timeouts,
};

use crate::script::{Transport, answer, status};

const MS: fn(u64) -> Duration = Duration::from_millis;

#[tokio::test(start_paused = true)]
async fn a_request_says_whether_it_is_repeated() {
    let few = RetryParams { max_retries: 1, ..RetryParams::default() };
    let rows = [
        ("GET", Request::get("/"), 4),
        ("GET, never", Request::get("/").extension(Repeat::Never), 1),
        ("GET, harmful", Request::get("/").extension(Repeat::Harmful), 1),
        ("POST", Request::post("/"), 1),
        ("POST, harmless", Request::post("/").extension(Repeat::Harmless), 4),
        ("GET, once again", Request::get("/").extension(few), 2),
    ];
    for (what, request, calls) in rows {
        let transport = Transport::new(|_, _| status(503));
        let client = ApiClient::builder("http://u").build_over(transport.clone()).unwrap();
        let response = client.request(request.body(Body::from("x")).unwrap()).await.unwrap();
        let told = response.extensions().get::<Attempts>().map(Attempts::count);
        assert_eq!((transport.calls().len(), told), (calls, Some(calls)), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_brings_its_own_timeouts() {
    for (own, ended) in
        [(None, Ended::Failed("attempt_timeout")), (Some(MS(90_000)), Ended::Failed("deadline"))]
    {
        let transport = Transport::new(|_, _| status(200).after(MS(100_000)));
        let client =
            ApiClient::builder("http://u").request_timeout(MS(60_000)).build_over(transport).unwrap();
        let mut request = Request::get("/").body(Body::empty()).unwrap();
        request.extensions_mut().extend(
            own.map(|attempt| {
                let mut one = http::Extensions::new();
                one.insert(Timeouts { attempt, ..Timeouts::default() });
                one
            })
            .unwrap_or_default(),
        );
        let failure = client.request(request).await.unwrap_err();
        assert_eq!(failure.attempts.iter().next().unwrap().ended, ended);
    }
}

#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Observer for Told {
    fn attempt_ended(&self, attempt: &Attempt) {
        self.0.lock().unwrap().push(format!("{:?} by {:?}", attempt.ended, attempt.fault.unwrap()));
    }

    fn sending_again(&self, cause: Cause, wait: Duration) {
        self.0.lock().unwrap().push(format!("{} after {wait:?}", cause.as_str()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_is_told_each_step() {
    let told = Told::default();
    let transport = Transport::new(|call, _| match call {
        1 => answer(503, &[("retry-after", "2")], ""),
        _ => status(404),
    });
    let retry = RetryParams {
        backoff: tidegate_backoff_core::Backoff::new(
            RetryParams::default().backoff.schedule(),
            tidegate_backoff_core::Jitter::None,
        ),
        ..RetryParams::default()
    };
    let client =
        ApiClient::builder("http://u").retry(retry).observer(told.clone()).build_over(transport).unwrap();
    assert_eq!(client.get("/").await.unwrap().status().as_u16(), 404);
    let expected = ["Status(503) by Upstream", "retry after 2s", "Status(404) by Request"];
    assert_eq!(*told.0.lock().unwrap(), expected);
}
