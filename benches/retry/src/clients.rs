//! Time and allocations per request.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use cpu_time::{ProcessTime, ThreadTime};
use http::{Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use reqwest_middleware::ClientBuilder;
use reqwest_retry::{RetryTransientMiddleware, policies::ExponentialBackoff};
use tidegate_api_client::transport::{HyperTransport, ReqwestTransport, TransportParams};
use tidegate_api_client::{ApiClient, Body, EntryParams, StackParams, Timeouts, stack};
use tower::retry::Retry;
use tower::{Service, ServiceExt};

use crate::upstream;

/// Many short rounds: what else the machine does then hits both of a pair, or one pair of many.
const ROUNDS: usize = 300;
const REQUESTS: u32 = 200;

type Requests = Pin<Box<dyn Future<Output = ()>>>;
type Contender = (&'static str, Box<dyn Fn(u32) -> Requests>);

/// What a client is measured beside: a bare one, and for ours one with the same bounds too.
fn beside(name: &str) -> &'static [&'static str] {
    match name {
        name if name.ends_with("hyper-util") || name == HYPER => &[HYPER],
        WITHOUT_BOUNDS => &[REQWEST],
        name if name.starts_with("tidegate") => &[REQWEST, REQWEST_BOUNDED],
        _ => &[REQWEST],
    }
}

const HYPER: &str = "hyper-util, bare";
const REQWEST: &str = "reqwest, bare";
const REQWEST_BOUNDED: &str = "reqwest with the same timeouts";
const WITHOUT_BOUNDS: &str = "tidegate stack over reqwest without timeouts";

/// All of them, or so many requests of `only` one, for a profiler.
pub fn run(only: Option<(&str, u32)>) {
    pin();
    let address = upstream::start();
    let url = format!("http://{address}/items?page=1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let contenders = runtime.block_on(async { contenders(&url) });
    if let Some((only, count)) = only {
        let (_, requests) = contenders.iter().find(|(name, _)| *name == only).expect("one of the list");
        return runtime.block_on(requests(count));
    }
    let measure = |requests: &dyn Fn(u32) -> Requests| {
        let (process, thread) = (ProcessTime::now(), ThreadTime::now());
        let counted = allocation_counter::measure(|| runtime.block_on(requests(REQUESTS)));
        let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(REQUESTS);
        Measured {
            process: each(process.elapsed()),
            thread: each(thread.elapsed()),
            allocations: counted.count_total as f64 / f64::from(REQUESTS),
        }
    };
    // The first makes the connection.
    contenders.iter().for_each(|(_, requests)| runtime.block_on(requests(REQUESTS)));
    println!(
        "clients: medians of {ROUNDS} rounds of {REQUESTS} requests, each between two rounds of the client beside it;\n\
         microseconds of the processor for a request, and their ratio: client and server (the inverse is the ratio of\n\
         requests a second on a core), the client's thread alone; allocations"
    );
    let find = |wanted: &str| contenders.iter().find(|(name, _)| *name == wanted).expect("one of the list");
    for (name, requests) in &contenders {
        for beside in beside(name) {
            let (_, bare) = find(beside);
            let rounds: Vec<_> =
                (0..ROUNDS).map(|_| (measure(bare), measure(requests), measure(bare))).collect();
            let ratio = |of: fn(&Measured) -> f64| {
                median(rounds.iter().map(|(before, own, after)| of(own) / (of(before) * of(after)).sqrt()))
            };
            let own = |of: fn(&Measured) -> f64| median(rounds.iter().map(|(_, own, _)| of(own)));
            let column = |of: fn(&Measured) -> f64| format!("{:5.2} ({:5.3})", own(of), ratio(of));
            println!(
                "  {}  {}  {:2.0}  {name} beside {beside}",
                column(|measured| measured.process),
                column(|measured| measured.thread),
                own(|measured| measured.allocations),
            );
        }
    }
}

/// Client and server take turns on one core: on two, most of a request's time goes into waking the other, which hides
/// the client's own and changes with all else that the machine does.
fn pin() {
    let core = core_affinity::get_core_ids().and_then(|mut cores| cores.pop());
    if !core.is_some_and(core_affinity::set_for_current) {
        println!("not on one core: the times are those of waking up");
    }
}

/// A round, per request: microseconds of the processor, of the process and of the client's thread; allocations.
/// Processor time stands still while others have the core, so that other work on the machine changes the ratios little.
struct Measured {
    process: f64,
    thread: f64,
    allocations: f64,
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

macro_rules! contender {
    ($name:expr, |$($own:ident),+| $request:expr) => {
        ($name, Box::new(move |count: u32| {
            $(let $own = $own.clone();)+
            Box::pin(async move {
                $(#[allow(unused_mut)] let mut $own = $own;)+
                for _ in 0..count {
                    let bytes: Bytes = $request;
                    assert_eq!(bytes, "hello");
                }
            }) as Requests
        }) as Box<dyn Fn(u32) -> Requests>)
    };
}

fn contenders(url: &str) -> Vec<Contender> {
    let url = url.to_owned();
    let uri: Uri = url.parse().unwrap();
    let bare: Client<HttpConnector, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let transport = HyperTransport::new(&TransportParams::default()).unwrap();
    let over_hyper = stack(transport, StackParams::default());

    let tls = rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let builder = || reqwest::Client::builder().tls_backend_preconfigured(tls.clone()).no_proxy();
    let reqwest = builder().build().unwrap();
    let Timeouts { attempt, body_idle } = Timeouts::default();
    let bounded = builder().timeout(attempt).read_timeout(body_idle).build().unwrap();
    let middleware = ClientBuilder::new(reqwest.clone())
        .with(RetryTransientMiddleware::new_with_policy(
            ExponentialBackoff::builder().build_with_max_retries(3),
        ))
        .build();
    let tower = Retry::new(Three(3), reqwest.clone());
    let ours = ReqwestTransport::from_client(reqwest.clone());
    let over_reqwest = stack(ours.clone(), StackParams::default());
    let unbounded = StackParams {
        entry: EntryParams { request_timeout: Duration::ZERO, ..EntryParams::default() },
        timeouts: Timeouts { attempt: Duration::ZERO, body_idle: Duration::ZERO },
        ..StackParams::default()
    };
    let without_bounds = stack(ours.clone(), unbounded);
    let (base, _) = url.split_once("/items").unwrap();
    let api_client = ApiClient::builder(base).build_over(ours).unwrap();
    let (url1, url2, url3, url4) = (url.clone(), url.clone(), url.clone(), url);
    let (uri2, uri3, uri4) = (uri.clone(), uri.clone(), uri.clone());

    vec![
        contender!(HYPER, |bare, uri| {
            let request = Request::get(uri.clone()).body(Full::default()).unwrap();
            bare.request(request).await.unwrap().into_body().collect().await.unwrap().to_bytes()
        }),
        contender!("tidegate stack over hyper-util", |over_hyper, uri2| {
            let request = Request::get(uri2.clone()).body(Body::empty()).unwrap();
            ready(&mut over_hyper).await.call(request).await.unwrap().into_body().bytes().await.unwrap()
        }),
        contender!(REQWEST, |reqwest, url1| {
            reqwest.get(&url1).send().await.unwrap().bytes().await.unwrap()
        }),
        contender!(REQWEST_BOUNDED, |bounded, url4| {
            bounded.get(&url4).send().await.unwrap().bytes().await.unwrap()
        }),
        contender!("reqwest-middleware + reqwest-retry", |middleware, url2| {
            middleware.get(&url2).send().await.unwrap().bytes().await.unwrap()
        }),
        contender!("tower's Retry over reqwest", |tower, url3| {
            let request = reqwest::Request::new(http::Method::GET, url3.parse().unwrap());
            tower.ready().await.unwrap().call(request).await.unwrap().bytes().await.unwrap()
        }),
        contender!("tidegate stack over reqwest", |over_reqwest, uri3| {
            let request = Request::get(uri3.clone()).body(Body::empty()).unwrap();
            ready(&mut over_reqwest).await.call(request).await.unwrap().into_body().bytes().await.unwrap()
        }),
        contender!(WITHOUT_BOUNDS, |without_bounds, uri4| {
            let request = Request::get(uri4.clone()).body(Body::empty()).unwrap();
            ready(&mut without_bounds).await.call(request).await.unwrap().into_body().bytes().await.unwrap()
        }),
        contender!("tidegate ApiClient over reqwest", |api_client| {
            api_client.get("/items?page=1").await.unwrap().into_body().bytes().await.unwrap()
        }),
    ]
}

/// The service, ready for a request: kept, as a client keeps it.
async fn ready<S>(service: &mut S) -> &mut S
where
    S: Service<Request<Body>, Error: Debug>,
{
    service.ready().await.unwrap()
}

/// The least that a policy for tower's `Retry` can be.
#[derive(Clone)]
struct Three(u32);

impl tower::retry::Policy<reqwest::Request, reqwest::Response, reqwest::Error> for Three {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut reqwest::Request,
        result: &mut Result<reqwest::Response, reqwest::Error>,
    ) -> Option<Self::Future> {
        let failed = result.as_ref().map_or(true, |response| response.status().is_server_error());
        (failed && self.0 > 0).then(|| {
            self.0 -= 1;
            std::future::ready(())
        })
    }

    fn clone_request(&mut self, request: &reqwest::Request) -> Option<reqwest::Request> {
        request.try_clone()
    }
}
