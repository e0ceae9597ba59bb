//! An upstream that answers from a script and writes down what it was sent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// One request as the upstream saw it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The pooled token, where the credential is `cookie:PHPSESSID`.
    pub(crate) fn token(&self) -> Option<&str> {
        let cookies = self.header("cookie")?.split(';');
        cookies.filter_map(|cookie| cookie.trim().strip_prefix("PHPSESSID=")).next()
    }
}

/// What the upstream does about a request.
pub(crate) enum Reply {
    Answer(Response<Full<Bytes>>),
    /// The same after a while.
    Late(Duration, Response<Full<Bytes>>),
    /// It closes the connection without an answer.
    Close,
}

pub(crate) fn reply(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    Reply::Answer(response.body(Full::new(body.into())).unwrap())
}

pub(crate) fn status(status: u16) -> Reply {
    reply(status, &[], "{}")
}

/// The upstream; it ends when it is dropped.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    calls: Arc<Mutex<Vec<Call>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Upstream {
    pub(crate) async fn start(script: impl Fn(&Call) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (script, log) = (Arc::new(script), calls.clone());
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (script, log) = (script.clone(), log.clone());
                let service = service_fn(move |request| answer(request, script.clone(), log.clone()));
                connections.spawn(async move {
                    let server = hyper::server::conn::http1::Builder::new();
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, calls, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) fn tokens(&self) -> Vec<String> {
        self.calls().iter().map(|call| call.token().unwrap_or("-").to_owned()).collect()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// hyper drops the connection for this.
#[derive(Debug, thiserror::Error)]
#[error("as scripted")]
struct Closed;

async fn answer(
    request: Request<Incoming>,
    script: Arc<impl Fn(&Call) -> Reply>,
    log: Arc<Mutex<Vec<Call>>>,
) -> Result<Response<Full<Bytes>>, Closed> {
    let (parts, body) = request.into_parts();
    body.collect().await.map_err(|_| Closed)?;
    let call = Call { target: parts.uri.to_string(), headers: parts.headers };
    log.lock().unwrap().push(call.clone());
    match script(&call) {
        Reply::Answer(response) => Ok(response),
        Reply::Late(wait, response) => {
            tokio::time::sleep(wait).await;
            Ok(response)
        }
        Reply::Close => Err(Closed),
    }
}

/// An answer after `ms` milliseconds.
pub(crate) fn late(ms: u64, status: u16, body: &'static str) -> Reply {
    let response = Response::builder().status(status).body(Full::new(Bytes::from_static(body.as_bytes())));
    Reply::Late(Duration::from_millis(ms), response.unwrap())
}
