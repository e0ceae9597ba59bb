//! Connections that are kept, closed, and made too slowly.

use std::time::Duration;

use tidegate_api_client::transport::TransportParams;
use tokio::sync::mpsc;

use super::{Upstream, bytes, get, post, run, send, transports};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

#[test]
fn a_connection_is_kept_for_the_next_request() {
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            while connection.head().await.is_some() {
                connection.send(OK).await;
            }
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let before = upstream.connections();
            for _ in 0..5 {
                let response = send(&transport, get(&upstream.url("/"))).await.expect("a head");
                assert_eq!(bytes(response).await.expect("a body"), "ok", "{name}");
            }
            assert_eq!(upstream.connections() - before, 1, "{name}");
        }
    });
}

#[test]
fn a_kept_connection_that_the_upstream_closes_between_requests_is_replaced() {
    run(async {
        let (gone, mut is_gone) = mpsc::unbounded_channel();
        let upstream = Upstream::start(move |_, mut connection| {
            let gone = gone.clone();
            async move {
                connection.head().await;
                connection.send(OK).await;
                // Closes its half, and sees the client close the other: then the client has noticed.
                tokio::io::AsyncWriteExt::shutdown(&mut connection.stream).await.expect("open");
                connection.closed().await;
                gone.send(()).expect("the test runs");
            }
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let before = upstream.connections();
            for request in [get(&upstream.url("/")), post(&upstream.url("/"), ""), get(&upstream.url("/"))] {
                let response = send(&transport, request).await.expect("a head");
                assert_eq!(bytes(response).await.expect("a body"), "ok", "{name}");
                is_gone.recv().await;
            }
            assert_eq!(upstream.connections() - before, 3, "{name}");
        }
    });
}

#[test]
fn a_handshake_that_is_never_answered_ends_with_the_connect_timeout() {
    run(async {
        let upstream = Upstream::start(|_, connection| connection.closed()).await;
        let mut params = TransportParams::default();
        params.connect_timeout = Duration::from_millis(100);
        for (name, transport) in transports(&params) {
            let url = upstream.url("/").replace("http:", "https:");
            let error = send(&transport, post(&url, "body")).await.expect_err("no connection");
            assert_eq!((error.kind(), error.surely_unsent()), ("connect", true), "{name}: {error:?}");
        }
    });
}

#[test]
fn interim_answers_are_passed_over() {
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            connection.head().await;
            connection
                .send("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
                .await;
            connection.send(OK).await;
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let response = send(&transport, get(&upstream.url("/"))).await.expect("a head");
            assert_eq!(response.status(), 200, "{name}");
            assert_eq!(bytes(response).await.expect("a body"), "ok", "{name}");
        }
    });
}
