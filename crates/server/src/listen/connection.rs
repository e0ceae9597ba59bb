use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response, Version};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::sync::watch;
use tokio::time::Instant;
use tower::{Service, ServiceExt as _};

use super::activity::{Activity, InFlight, Limit};
use super::body::{OnBreak, RequestBody, ResponseBody};
use super::executor::{StreamExecutor, Turn, set_turn};
use super::io::{Stream, WatchedIo, later};
use super::serve::ServeParams;

/// Who is at the other end; in every request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Tcp(SocketAddr),
    Unix,
}

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Of both protocols: more than any browser sends, and a bound on what a peer can make us hold.
const MAX_HEAD: u32 = 64 * 1024;
/// hyper's own limit of a target is 64 KiB; the buffer must hold one that is too long, for its 414.
const MAX_BUFFER: usize = 128 * 1024;
const MAX_STREAMS: u32 = 256;
const PING: Duration = Duration::from_secs(20);
/// How long an idle HTTP/2 peer has to take its GOAWAY.
const GOODBYE: Duration = Duration::from_secs(5);
/// When the gateway stops, a connection without a request has no more time than this to finish a head, or to go.
const LEAVE: Duration = Duration::from_secs(1);

pub(super) fn protocol(params: &ServeParams) -> auto::Builder<StreamExecutor> {
    let mut builder = auto::Builder::new(StreamExecutor { body_idle_timeout: params.body_idle_timeout });
    builder
        .http1()
        // hyper would count an idle connection as a late head; `Activity` tells them apart.
        .header_read_timeout(None)
        .max_buf_size(MAX_BUFFER)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEAD);
    builder
}

/// Serves one connection to its end: by the peer, by a timeout, or by `closing`, which lets what runs finish.
pub(super) async fn drive<S, B>(
    stream: Stream,
    peer: Peer,
    service: S,
    protocol: &auto::Builder<StreamExecutor>,
    params: &ServeParams,
    activity: Arc<Activity>,
    mut closing: watch::Receiver<bool>,
) where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let io = TokioIo::new(WatchedIo::new(stream, Arc::clone(&activity), params.body_idle_timeout));
    let service = PeerService {
        service,
        peer,
        activity: Arc::clone(&activity),
        body_idle_timeout: params.body_idle_timeout,
    };
    let mut connection = pin!(protocol.serve_connection(io, service));
    let mut closing = pin!(closing.wait_for(|closing| *closing));
    let mut leaving = false;
    let mut goodbye = None;
    let mut timer = pin!(tokio::time::sleep_until(look_again(params)));
    let ended = poll_fn(|cx| {
        loop {
            // First the connection: a request that is in the socket when the stop comes is still served.
            if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            if !leaving && closing.as_mut().poll(cx).is_ready() {
                leaving = true;
                timer.as_mut().reset(later(LEAVE));
                connection.as_mut().graceful_shutdown();
                continue;
            }
            let limit = match goodbye {
                Some(until) => Limit::Head(until),
                None if leaving => activity.limit(LEAVE, LEAVE),
                None => activity.limit(params.head_timeout, params.idle_timeout),
            };
            if let Limit::Head(until) | Limit::Idle(until) = limit {
                if timer.deadline() != until {
                    timer.as_mut().reset(until);
                }
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            match limit {
                Limit::Head(_) => return Poll::Ready(Ok(())),
                Limit::Idle(_) => {
                    goodbye = Some(later(if leaving { LEAVE } else { GOODBYE }));
                    connection.as_mut().graceful_shutdown();
                }
                // The end of an HTTP/2 stream need not wake this task: look again now and then.
                Limit::Busy | Limit::Never if leaving => timer.as_mut().reset(later(LEAVE)),
                Limit::Busy | Limit::Never => timer.as_mut().reset(look_again(params)),
            }
        }
    })
    .await;
    if let Err(error) = ended {
        // Resets, early ends and malformed heads: a peer's matter, of interest only to who looks for it.
        tracing::debug!(?peer, error = %Chain(&*error), "the connection ended");
    }
}

fn look_again(params: &ServeParams) -> Instant {
    let shortest = [params.head_timeout, params.idle_timeout].into_iter().filter(|t| !t.is_zero()).min();
    later(shortest.unwrap_or(Duration::MAX))
}

/// An error with its causes, in one line.
struct Chain<'a>(&'a (dyn std::error::Error + 'static));

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// Wraps the bodies and says who the peer is.
struct PeerService<S> {
    service: S,
    peer: Peer,
    activity: Arc<Activity>,
    body_idle_timeout: Duration,
}

impl<S, B> hyper::service::Service<Request<Incoming>> for PeerService<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response<ResponseBody<B>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let in_flight: InFlight = self.activity.begin(request.version());
        let on_break = if request.version() == Version::HTTP_10 { OnBreak::Reset } else { OnBreak::Framed };
        let mut request =
            request.map(|body| RequestBody::new(body, self.body_idle_timeout, Arc::clone(&self.activity)));
        request.extensions_mut().insert(self.peer);
        let answer = self.service.clone().oneshot(request);
        Box::pin(async move {
            let response = answer.await?;
            set_turn(Turn::Peers);
            Ok(response.map(|body| ResponseBody::new(body, on_break, in_flight)))
        })
    }
}
