//! What fails before a response head, and what it is called.

use http::Request;
use http_body::Frame;
use tidegate_api_client::transport::TransportParams;
use tidegate_api_client::{Body, Error, Fault};
use tokio::sync::mpsc;
use tower::ServiceExt;

use super::{Connection, Upstream, channel, get, post, run, send, transports, whole_text};

#[derive(Clone, Copy, Debug)]
enum Ends {
    ResetBeforeHead,
    ClosedBeforeHead,
    ClosedWithinHead,
    ResetWithinHead,
    NotHttp,
    BadLength,
}

async fn end(mut connection: Connection, how: Ends) {
    connection.head().await;
    match how {
        Ends::ResetBeforeHead => connection.reset(),
        Ends::ClosedBeforeHead => {}
        Ends::ClosedWithinHead => connection.send("HTTP/1.1 200 OK\r\ncontent-le").await,
        Ends::ResetWithinHead => {
            connection.send("HTTP/1.1 200 OK\r\ncontent-le").await;
            connection.reset();
        }
        Ends::NotHttp => connection.send("220 mail.example ESMTP\r\n\r\n").await,
        Ends::BadLength => connection.send("HTTP/1.1 200 OK\r\ncontent-length: much\r\n\r\n").await,
    }
}

#[test]
fn a_connection_that_ends_before_the_head_is_the_upstreams_fault() {
    let rows = [
        (Ends::ResetBeforeHead, "reset"),
        (Ends::ClosedBeforeHead, "reset"),
        (Ends::ClosedWithinHead, "reset"),
        (Ends::ResetWithinHead, "reset"),
        (Ends::NotHttp, "protocol"),
        (Ends::BadLength, "protocol"),
    ];
    run(async {
        for (how, kind) in rows {
            let upstream = Upstream::start(move |_, connection| end(connection, how)).await;
            for (name, transport) in transports(&TransportParams::default()) {
                let before = upstream.connections();
                for request in [get(&upstream.url("/")), post(&upstream.url("/"), "body")] {
                    let error = send(&transport, request).await.expect_err("no head");
                    let row = format!("{name} {how:?}: {}", whole_text(&error));
                    assert_eq!(error.kind(), kind, "{row}");
                    assert_eq!((error.fault(), error.surely_unsent()), (Fault::Upstream, false), "{row}");
                }
                assert_eq!(upstream.connections() - before, 2, "{name} {how:?}: nothing is sent twice");
            }
        }
    });
}

#[test]
fn what_was_never_connected_was_surely_not_sent() {
    run(async {
        let closed = Upstream::start(|_, _| async {}).await;
        let refused = closed.url("/");
        drop(closed);
        // The port is free again once the listener is gone, which its task's end brings about.
        while tokio::net::TcpStream::connect(refused.trim_start_matches("http://").trim_end_matches('/'))
            .await
            .is_ok()
        {
            tokio::task::yield_now().await;
        }
        for (name, transport) in transports(&TransportParams::default()) {
            for url in [refused.as_str(), "http://no-such-host.invalid/"] {
                let error = send(&transport, post(url, "body")).await.expect_err("no connection");
                let row = format!("{name} {url}: {}", whole_text(&error));
                assert_eq!(
                    (error.kind(), error.fault(), error.surely_unsent()),
                    ("connect", Fault::Upstream, true),
                    "{row}"
                );
            }
        }
    });
}

#[test]
fn a_target_that_is_none_is_the_settings_fault() {
    run(async {
        for (name, transport) in transports(&TransportParams::default()) {
            for url in ["/path", "ftp://host/", "*", "host.example:80"] {
                let mut request = Request::new(Body::empty());
                *request.uri_mut() = url.parse().expect("a URI");
                let error = send(&transport, request).await.expect_err("refused");
                assert!(matches!(error, Error::Configuration(_)), "{name} {url}: {error:?}");
                assert_eq!(error.fault(), Fault::Configuration);
            }
        }
    });
}

#[test]
fn no_error_shows_the_query() {
    run(async {
        let upstream = Upstream::start(|_, connection| end(connection, Ends::ClosedBeforeHead)).await;
        for (name, transport) in transports(&TransportParams::default()) {
            for url in [upstream.url("/?key=s3cr3t"), "http://no-such-host.invalid/?key=s3cr3t".to_owned()] {
                let error = send(&transport, get(&url)).await.expect_err("no head");
                let text = whole_text(&error);
                assert!(!text.contains("s3cr3t"), "{name}: {text}");
            }
        }
    });
}

#[test]
fn a_request_body_that_breaks_is_the_callers_fault() {
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            connection.head().await;
            connection.closed().await;
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let (sender, body) = channel();
            sender.send(Ok(Frame::data("begin".into()))).expect("open");
            sender.send(Err("the caller hung up".into())).expect("open");
            let error = send(&transport, post(&upstream.url("/"), body)).await.expect_err("broken");
            let text = whole_text(&error);
            assert_eq!((error.kind(), error.fault()), ("request_body", Fault::Caller), "{name}: {text}");
            assert!(text.contains("the caller hung up"), "{name}: {text}");
        }
    });
}

#[test]
fn an_upstream_that_hangs_is_left_when_the_call_is_dropped() {
    run(async {
        let (heard, mut hears) = mpsc::unbounded_channel();
        let upstream = Upstream::start(move |_, mut connection| {
            let heard = heard.clone();
            async move {
                connection.head().await;
                heard.send("head").expect("the test runs");
                connection.closed().await;
                heard.send("closed").expect("the test runs");
            }
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let call = tokio::spawn(transport.oneshot(get(&upstream.url("/"))));
            assert_eq!(hears.recv().await, Some("head"), "{name}");
            call.abort();
            assert_eq!(hears.recv().await, Some("closed"), "{name}");
        }
    });
}
