//! Real sockets: what a peer sees.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use tidegate_config::{Host, Listen};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::*;

type Answer = UnsyncBoxBody<Bytes, std::io::Error>;

const SHORT: Duration = Duration::from_millis(100);
/// No test waits that long; one that would is broken.
const LONG: Duration = Duration::from_secs(30);
const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

fn full(text: &'static str) -> Answer {
    Full::new(Bytes::from_static(text.as_bytes())).map_err(|never| match never {}).boxed_unsync()
}

fn params() -> ServeParams {
    ServeParams { max_connections: 16, head_timeout: LONG, idle_timeout: LONG, body_idle_timeout: LONG }
}

struct Gateway {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Served>,
}

async fn start<F, A>(params: ServeParams, grace: Duration, answer: F) -> Gateway
where
    F: Fn(Request<RequestBody>) -> A + Clone + Send + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let bound = bind(&loopback()).await.unwrap();
    let address = bound.tcp_addresses()[0];
    let service = tower::service_fn(move |request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(Response::new(answer.await)) }
    });
    let (stop, stopped) = oneshot::channel();
    let stopped = async {
        let _ = stopped.await;
    };
    let ended = tokio::spawn(serve(bound, service, params, stopped, grace));
    Gateway { address, stop, ended }
}

fn loopback() -> Listen {
    Listen::Tcp { host: Host::Ip(Ipv4Addr::LOCALHOST.into()), port: 0 }
}

async fn hello(_: Request<RequestBody>) -> Answer {
    full("hello")
}

async fn connect(gateway: &Gateway) -> TcpStream {
    TcpStream::connect(gateway.address).await.unwrap()
}

async fn send(stream: &mut TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).await.unwrap();
}

/// All that comes before the end; a reset is an error.
async fn rest(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut said = Vec::new();
    tokio::time::timeout(LONG, stream.read_to_end(&mut said)).await.expect("the connection stays open")?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

async fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut said = Vec::new();
    while !said.ends_with(end.as_bytes()) {
        said.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(said).unwrap()
}

#[tokio::test]
async fn a_peer_that_does_not_send_a_whole_head_is_closed() {
    let sent: [&[u8]; 6] = [
        b"",
        b"P",
        b"PRI * HTTP/2.0\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: ",
    ];
    let gateway = start(ServeParams { head_timeout: SHORT, ..params() }, LONG, hello).await;
    for head in sent {
        let mut stream = connect(&gateway).await;
        send(&mut stream, head).await;
        let said = rest(&mut stream).await;
        assert!(said.as_ref().map_or(true, |said| !said.contains("hello")), "{head:?}: {said:?}");
    }
    // A trickle of header bytes does not prolong the time.
    let mut stream = connect(&gateway).await;
    send(&mut stream, b"GET / HTTP/1.1\r\n").await;
    let trickle = async {
        while stream.write_all(b"x: y\r\n").await.is_ok() {
            tokio::time::sleep(SHORT / 10).await;
        }
    };
    tokio::time::timeout(LONG, trickle).await.expect("a trickle keeps the connection");
}

#[tokio::test]
async fn a_second_head_that_is_slow_is_closed_and_an_idle_connection_too() {
    let quick = ServeParams { head_timeout: SHORT, ..params() };
    let gateway = start(quick, LONG, hello).await;
    let mut stream = connect(&gateway).await;
    send(&mut stream, GET).await;
    until(&mut stream, "hello").await;
    send(&mut stream, b"GET / HT").await;
    assert_eq!(rest(&mut stream).await.unwrap(), "");

    let gateway = start(ServeParams { idle_timeout: SHORT, ..params() }, LONG, hello).await;
    let mut stream = connect(&gateway).await;
    send(&mut stream, GET).await;
    until(&mut stream, "hello").await;
    assert_eq!(rest(&mut stream).await.unwrap(), "");
}

#[tokio::test]
async fn a_slow_answer_is_no_idle_connection() {
    let both = ServeParams { head_timeout: SHORT, idle_timeout: SHORT, ..params() };
    let gateway = start(both, LONG, |_| async {
        tokio::time::sleep(SHORT * 4).await;
        full("late")
    })
    .await;
    let mut stream = connect(&gateway).await;
    send(&mut stream, GET).await;
    until(&mut stream, "late").await;
}

#[tokio::test]
async fn http2_with_prior_knowledge_is_spoken() {
    let gateway = start(ServeParams { idle_timeout: SHORT, ..params() }, LONG, |request| async move {
        assert_eq!(request.version(), http::Version::HTTP_2);
        full("two")
    })
    .await;
    let io = hyper_util::rt::TokioIo::new(connect(&gateway).await);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
    let connection = tokio::spawn(connection);
    let request =
        Request::get(format!("http://{}/a?b", gateway.address)).body(Full::<Bytes>::default()).unwrap();
    let body = sender.send_request(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "two");
    // It is told goodbye when it has been idle.
    tokio::time::timeout(LONG, connection).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn the_peer_is_in_the_request() {
    let gateway = start(params(), LONG, |request| async move {
        match request.extensions().get::<Peer>() {
            Some(Peer::Tcp(address)) if address.ip() == Ipv4Addr::LOCALHOST => full("known"),
            _ => full("unknown"),
        }
    })
    .await;
    let mut stream = connect(&gateway).await;
    send(&mut stream, GET).await;
    assert!(until(&mut stream, "known").await.ends_with("\r\nknown"));
}

#[tokio::test]
async fn a_client_that_leaves_drops_its_request() {
    struct OnDrop(mpsc::UnboundedSender<()>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (started, mut starts) = mpsc::unbounded_channel();
    let (dropped, mut drops) = mpsc::unbounded_channel();
    let gateway = start(params(), LONG, move |request: Request<RequestBody>| {
        let (started, guard) = (started.clone(), OnDrop(dropped.clone()));
        async move {
            let _guard = guard;
            let _ = request.into_body().collect().await;
            let _ = started.send(());
            std::future::pending::<Answer>().await
        }
    })
    .await;
    for request in [GET, b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc"] {
        let mut stream = connect(&gateway).await;
        send(&mut stream, request).await;
        starts.recv().await.unwrap();
        drop(stream);
        tokio::time::timeout(LONG, drops.recv()).await.expect("the request goes on").unwrap();
    }
}

#[tokio::test]
async fn a_request_body_that_stops_coming_fails() {
    let gateway = start(ServeParams { body_idle_timeout: SHORT, ..params() }, LONG, |request| async move {
        match request.into_body().collect().await {
            Err(RequestBodyError::Idle(SHORT)) => full("idle"),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let mut stream = connect(&gateway).await;
    send(&mut stream, b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc").await;
    assert!(rest(&mut stream).await.unwrap().ends_with("idle"));
}

#[tokio::test]
async fn a_client_that_sends_too_much_still_reads_why() {
    let gateway = start(params(), LONG, |_| async { full("too much") }).await;
    let body = vec![b'x'; 20 << 20];
    for framing in ["content-length: 20971520", "transfer-encoding: chunked"] {
        let mut stream = connect(&gateway).await;
        send(&mut stream, format!("POST / HTTP/1.1\r\nhost: x\r\n{framing}\r\n\r\n").as_bytes()).await;
        if framing.contains("chunked") {
            send(&mut stream, b"1400000\r\n").await;
        }
        // All of it, though the answer is there long before: so do simple clients.
        send(&mut stream, &body).await;
        stream.shutdown().await.unwrap();
        let said = rest(&mut stream).await.unwrap();
        assert!(said.ends_with("too much"), "{framing}: {said}");
    }
}

/// Endless, and tells when it is dropped.
struct Endless(#[expect(dead_code, reason = "dropped with the body")] oneshot::Sender<()>);

impl Body for Endless {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[0; 16384])))))
    }
}

async fn endless(params: ServeParams) -> (Gateway, oneshot::Receiver<()>) {
    let (held, dropped) = oneshot::channel();
    let held = std::sync::Arc::new(std::sync::Mutex::new(Some(held)));
    let gateway = start(params, LONG, move |_| {
        let held = held.lock().unwrap().take().unwrap();
        async move { Endless(held).boxed_unsync() }
    })
    .await;
    (gateway, dropped)
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_cut() {
    let (gateway, dropped) = endless(ServeParams { body_idle_timeout: SHORT, ..params() }).await;
    let mut stream = connect(&gateway).await;
    send(&mut stream, GET).await;
    assert!(tokio::time::timeout(LONG, dropped).await.expect("the body is held for ever").is_err());
}

#[tokio::test]
async fn an_http2_peer_that_never_widens_its_window_is_cut() {
    let (gateway, dropped) = endless(ServeParams { body_idle_timeout: SHORT, ..params() }).await;
    let io = hyper_util::rt::TokioIo::new(connect(&gateway).await);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
    tokio::spawn(connection);
    let request =
        Request::get(format!("http://{}/", gateway.address)).body(Full::<Bytes>::default()).unwrap();
    let _unread = sender.send_request(request).await.unwrap();
    assert!(tokio::time::timeout(LONG, dropped).await.expect("the body is held for ever").is_err());
}

#[tokio::test]
async fn a_body_that_breaks_never_looks_whole() {
    struct Broken(u8);
    impl Body for Broken {
        type Data = Bytes;
        type Error = std::io::Error;
        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            self.0 += 1;
            match self.0 {
                1 => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"half"))))),
                // The first half is on its way before the break.
                2 => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
                _ => Poll::Ready(Some(Err(ErrorKind::UnexpectedEof.into()))),
            }
        }
    }
    let gateway = start(params(), LONG, |_| async { Broken(0).boxed_unsync() }).await;
    let mut stream = connect(&gateway).await;
    send(&mut stream, GET).await;
    if let Ok(said) = rest(&mut stream).await {
        assert!(said.contains("half") && !said.ends_with("0\r\n\r\n"), "HTTP/1.1: {said:?}");
    }
    // HTTP/1.0 has no framing that tells: only a reset does.
    let mut stream = connect(&gateway).await;
    send(&mut stream, b"GET / HTTP/1.0\r\n\r\n").await;
    assert_eq!(rest(&mut stream).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_connection_above_the_maximum_waits_its_turn() {
    let gateway = start(ServeParams { max_connections: 1, ..params() }, LONG, hello).await;
    let mut first = connect(&gateway).await;
    send(&mut first, GET).await;
    until(&mut first, "hello").await;
    let mut second = connect(&gateway).await;
    send(&mut second, GET).await;
    let early = tokio::time::timeout(SHORT, second.read_u8()).await;
    assert!(early.is_err(), "answered while the first is open");
    drop(first);
    until(&mut second, "hello").await;
}

#[tokio::test]
async fn a_stop_finishes_what_runs_and_closes_what_is_idle() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let (finish, finished) = oneshot::channel::<()>();
    let finished = std::sync::Arc::new(tokio::sync::Mutex::new(finished));
    let gateway = start(params(), LONG, move |request| {
        let (started, finished) = (started.clone(), finished.clone());
        async move {
            if request.uri().path() == "/slow" {
                let _ = started.send(());
                let _ = (&mut *finished.lock().await).await;
            }
            full("hello")
        }
    })
    .await;
    let mut idle = connect(&gateway).await;
    send(&mut idle, GET).await;
    until(&mut idle, "hello").await;
    let mut busy = connect(&gateway).await;
    send(&mut busy, b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
    starts.recv().await.unwrap();

    gateway.stop.send(()).unwrap();
    assert_eq!(rest(&mut idle).await.unwrap(), "");
    let refused = TcpStream::connect(gateway.address).await;
    assert!(refused.is_err(), "still accepting");
    finish.send(()).unwrap();
    let said = rest(&mut busy).await.unwrap();
    assert!(said.contains("connection: close") && said.ends_with("hello"), "{said}");
    assert_eq!(gateway.ended.await.unwrap(), Served { cut: 0 });
}

#[tokio::test]
async fn what_outlasts_the_grace_is_cut_and_counted() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let gateway = start(params(), SHORT, move |_| {
        let started = started.clone();
        async move {
            let _ = started.send(());
            std::future::pending().await
        }
    })
    .await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = connect(&gateway).await;
        send(&mut stream, GET).await;
        starts.recv().await.unwrap();
        streams.push(stream);
    }
    gateway.stop.send(()).unwrap();
    assert_eq!(gateway.ended.await.unwrap(), Served { cut: 3 });
}

#[tokio::test]
async fn a_unix_socket_serves_and_knows_its_peer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let bound = bind(&Listen::Unix { path: path.clone(), mode: 0o600 }).await.unwrap();
    let service = tower::service_fn(|request: Request<RequestBody>| async move {
        assert_eq!(request.extensions().get(), Some(&Peer::Unix));
        Ok::<_, Infallible>(Response::new(full("sock")))
    });
    tokio::spawn(serve(bound, service, params(), std::future::pending(), LONG));
    let mut stream = UnixStream::connect(&path).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 200") && said.ends_with("sock"), "{said}");
}
