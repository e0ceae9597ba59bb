//! Calls an HTTP API that limits its callers: retries that honour `Retry-After`, mind what may be repeated and keep
//! a budget; a pool of tokens, of which a refused one rests; request bodies that can be sent again.
//!
//! As a client:
//!
//! ```
//! use tidegate_api_client::{ApiClient, Attempts};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let url = upstream::of(&["HTTP/1.1 503 Busy\r\nretry-after: 0", "HTTP/1.1 200 OK"]).await?;
//! let client = ApiClient::builder(url).build()?; // such as https://api.example.com/v2
//! let response = client.get("/items?page=1").await?;
//!
//! // The first answer was 503, so there was a second attempt.
//! assert_eq!(response.status(), 200);
//! assert_eq!(response.extensions().get::<Attempts>().map(Attempts::count), Some(2));
//! println!("{:?}", response.into_body().bytes().await?);
//! # Ok(())
//! # }
//! # mod upstream {
//! #     use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpListener};
//! #     pub async fn of(heads: &'static [&'static str]) -> std::io::Result<String> {
//! #         let listener = TcpListener::bind("127.0.0.1:0").await?;
//! #         let url = format!("http://{}", listener.local_addr()?);
//! #         tokio::spawn(async move {
//! #             for head in heads {
//! #                 let (mut stream, _) = listener.accept().await?;
//! #                 stream.read(&mut [0; 4096]).await?;
//! #                 let answer = format!("{head}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
//! #                 stream.write_all(answer.as_bytes()).await?;
//! #             }
//! #             std::io::Result::Ok(())
//! #         });
//! #         Ok(url)
//! #     }
//! # }
//! ```
//!
//! With a pool, each attempt is signed with a token that is ready; one that the upstream refuses rests, and the
//! request moves to another at once:
//!
//! ```
//! use http::{Request, Response};
//! use tidegate_api_client::{ApiClient, Body, Credential, Error};
//! use tidegate_token_manager::{IdKey, PoolParams, TokenManager, TokenSpec};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Any tower service is a transport; this one stands for an API that has enough of the first token.
//! let upstream = tower::service_fn(|request: Request<Body>| async move {
//!     let status = if request.headers()["x-api-key"] == "first" { 429 } else { 200 };
//!     Response::builder().status(status).body(Body::empty()).map_err(|error| Error::Protocol(error.into()))
//! });
//!
//! let tokens = vec![TokenSpec::new("first"), TokenSpec::new("second")];
//! let pool = TokenManager::new("default", PoolParams::default(), tokens, IdKey::random()?);
//! let client = ApiClient::builder("https://api.example.com")
//!     .pool(pool.clone())
//!     .credential(Credential::Header("x-api-key".parse()?))
//!     .build_over(upstream)?;
//!
//! assert_eq!(client.get("/items").await?.status(), 200);
//! assert!(!pool.snapshot()[0].retry_in.is_zero());
//! # Ok(())
//! # }
//! ```
//!
//! # As layers
//!
//! [`ApiClient`] is [`stack`] and a base URL. The steps are tower layers, each of use on its own:
//!
//! | step | does | request extensions | response extensions |
//! |---|---|---|---|
//! | [`EntryLayer`] | makes the body one that can be sent again, sets the deadline | [`Deadline`], [`Journey`] | [`Attempts`], and a field `tidegate-attempts` |
//! | [`RetryPolicy`] | in tower's `RetryLayer`: repeats, waits, switches | [`Deadline`], [`Repeat`], [`RetryParams`] | |
//! | [`LeaseLayer`] | lends each attempt a token and signs it | [`Deadline`], [`BypassPool`], [`Client`], [`PinnedToken`] | [`SignedBy`] |
//! | [`ClassifyLayer`] | says whose fault an answer is, writes the attempt down | [`Deadline`], [`Pooled`] | [`Verdict`] |
//! | [`AttemptTimeoutLayer`] | gives up an attempt, and a body that falls silent | [`Deadline`], [`Timeouts`] | |
//! | [`transport`], or any service over HTTP | sends | | |
//!
//! [`RetryPolicy`] above [`ClassifyLayer`] is enough for retries over any `Service<http::Request<B>>` whose body can be
//! sent again; `examples/own_stack.rs` is a stack of one's own. Each step keeps tower's contract: it calls the very
//! service that it polled ready.
//!
//! # When a caller goes away
//!
//! Every future may be dropped at any point, and so may every body: the upstream's call is cancelled with it, a leased
//! token goes back without blame, a place among those who wait for a token passes to the next, memory for held bodies is
//! given back. Retries that were granted by the budget stay spent. A token is lent until the response body has ended,
//! failed, or been dropped, not only to the response's head.
//!
//! # What is sent again
//!
//! A request is repeated when the attempt failed by the upstream's fault (a connection that broke, a timeout, 408,
//! 425, 429, 5xx but 501 and 505: the table is at
//! [`StandardClassifier`]), and when repeating is safe: its method is idempotent, or
//! the attempt surely did not reach the application, or it carries an `Idempotency-Key`, or [`UnsafeRepeats`] allows
//! it. Its body must have been held ([`ReplayBody`]), the wait must end before the [`Deadline`], and the
//! [`RetryBudget`] must grant it. Otherwise the caller gets what the last attempt got, body and all.
//!
//! A response that tells a delay ([`told_delay`]) is not asked again before it; one that tells more than
//! [`RetryParams::max_retry_after`] is handed on at once.
//!
//! # Features
//!
//! `reqwest` (on by default) and `hyper` are the two transports. Without either the crate is the layers alone, over
//! any `Service<http::Request<Body>>`.

/// The README's examples run too.
#[cfg(all(doctest, feature = "reqwest"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod body;
mod budget;
mod classify;
mod client;
mod credential;
mod deadline;
mod decision;
mod entry;
mod error;
mod held;
mod idle;
mod journey;
mod judge;
mod lease;
mod observer;
mod overrides;
mod policy;
mod quota;
mod replay;
mod rule;
mod scope;
mod signature;
mod stack;
mod standard;
mod timeout;
mod told;
pub mod transport;
mod upload;
mod verdict;

pub use self::{
    body::{Body, BoxError, Prefix, read_prefix},
    budget::RetryBudget,
    classify::{Answer, Classifier, Pooled},
    client::{ApiClient, Builder},
    credential::{Credential, ExtraCookies},
    deadline::Deadline,
    decision::{RetryParams, UnsafeRepeats},
    entry::{ATTEMPTS_HEADER, Entry, EntryFuture, EntryLayer, EntryParams, Failure},
    error::Error,
    held::held,
    idle::{BodyIdle, idle_limited},
    journey::{Attempt, Attempts, Cause, Ended, Journey},
    judge::{Classify, ClassifyFuture, ClassifyLayer},
    lease::{BypassPool, Client, LeaseFuture, LeaseLayer, LeaseTokens, Pool, SignedBy},
    observer::Observer,
    overrides::{PinnedToken, Repeat},
    policy::RetryPolicy,
    quota::quota_empty,
    replay::{ReplayBody, ReplayMemory, Replayable},
    rule::{Rule, RuleVerdict},
    scope::{Learned, Scoping},
    signature::Signature,
    stack::{Stack, StackParams, stack},
    standard::{RULE_BODY_LIMIT, StandardClassifier},
    timeout::{AttemptFuture, AttemptTimeout, AttemptTimeoutLayer, Timeouts},
    told::told_delay,
    verdict::{Fault, Verdict},
};
