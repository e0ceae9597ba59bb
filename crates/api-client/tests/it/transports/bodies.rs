//! Bodies: whole, long, cut, with trailers.

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;
use http_body_util::BodyExt;
use tidegate_api_client::transport::TransportParams;

use super::{Connection, Upstream, bytes, channel, get, post, run, send, transports};

#[derive(Clone, Copy, Debug)]
enum Cut {
    Closed,
    Reset,
}

#[test]
fn a_body_that_is_cut_never_ends_cleanly() {
    let rows: &[(&str, &str)] = &[
        ("a length", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"),
        ("a length, nothing yet", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"),
        ("chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        ("within a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhello"),
        ("within a chunk's length", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n5"),
        ("a chunk that is none", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"),
        (
            "before the trailers end",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 7\r\n",
        ),
        ("an error status", "HTTP/1.1 503 Down\r\ncontent-length: 10\r\n\r\nhello"),
    ];
    run(async {
        for &(what, answer) in rows {
            for cut in [Cut::Closed, Cut::Reset] {
                let upstream = Upstream::start(move |_, mut connection: Connection| async move {
                    connection.head().await;
                    connection.send(answer).await;
                    // The head has arrived before the cut: the client says so by asking for the body.
                    connection.take_until(b"go on").await;
                    if let Cut::Reset = cut {
                        connection.reset();
                    }
                })
                .await;
                for (name, transport) in transports(&TransportParams::default()) {
                    let (sender, body) = channel();
                    let response = send(&transport, post(&upstream.url("/"), body)).await.expect("a head");
                    sender.send(Ok(Frame::data("go on".into()))).expect("open");
                    let error = bytes(response).await.expect_err("a body that ends");
                    assert!(!error.to_string().is_empty(), "{name} {what} {cut:?}");
                }
            }
        }
    });
}

#[test]
fn without_a_length_the_connections_orderly_end_is_the_bodys() {
    run(async {
        for cut in [Cut::Closed, Cut::Reset] {
            let upstream = Upstream::start(move |_, mut connection| async move {
                connection.head().await;
                connection.send("HTTP/1.1 200 OK\r\n\r\nhello").await;
                connection.take_until(b"go on").await;
                match cut {
                    // Only half of it, and read to its end: what is dropped unread is reset.
                    Cut::Closed => {
                        tokio::io::AsyncWriteExt::shutdown(&mut connection.stream).await.expect("open");
                        connection.closed().await;
                    }
                    Cut::Reset => connection.reset(),
                }
            })
            .await;
            for (name, transport) in transports(&TransportParams::default()) {
                let (sender, body) = channel();
                let response = send(&transport, post(&upstream.url("/"), body)).await.expect("a head");
                sender.send(Ok(Frame::data("go on".into()))).expect("open");
                let body = bytes(response).await;
                match cut {
                    Cut::Closed => assert_eq!(body.expect("an orderly end"), "hello", "{name}"),
                    Cut::Reset => assert!(body.is_err(), "{name}"),
                }
            }
        }
    });
}

#[test]
fn what_came_before_the_cut_is_handed_on() {
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            connection.head().await;
            connection.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello").await;
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let mut body = send(&transport, get(&upstream.url("/"))).await.expect("a head").into_body();
            let first = body.frame().await.expect("a frame").expect("data");
            assert_eq!(first.into_data().expect("data"), "hello", "{name}");
            assert!(body.frame().await.expect("no end").is_err(), "{name}");
        }
    });
}

/// 3 MiB that differ everywhere.
fn long() -> Bytes {
    (0..3_u32 << 20).map(|index| (index % 251) as u8).collect::<Vec<u8>>().into()
}

#[test]
fn a_long_body_arrives_byte_for_byte_in_both_directions() {
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            while let Some(head) = connection.head().await {
                let body = if head.contains("content-length: 3145728\r\n") {
                    connection.take(3 << 20).await
                } else {
                    assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
                    dechunk(&connection.take_until(b"\r\n0\r\n\r\n").await)
                };
                if head.starts_with("POST /length ") {
                    connection.send("HTTP/1.1 200 OK\r\ncontent-length: 3145728\r\n\r\n").await;
                    connection.send(body).await;
                } else {
                    connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
                    for chunk in body.chunks(10_007) {
                        connection.send(format!("{:x}\r\n", chunk.len())).await;
                        connection.send(chunk).await;
                        connection.send("\r\n").await;
                    }
                    connection.send("0\r\n\r\n").await;
                }
            }
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            for target in ["/length", "/chunked"] {
                let whole = send(&transport, post(&upstream.url(target), long())).await.expect("a head");
                assert!(bytes(whole).await.expect("a whole body") == long(), "{name} {target}");
                let (sender, body) = channel();
                for piece in long().chunks(70_001) {
                    sender.send(Ok(Frame::data(Bytes::copy_from_slice(piece)))).expect("open");
                }
                drop(sender);
                let streamed = send(&transport, post(&upstream.url(target), body)).await.expect("a head");
                assert!(bytes(streamed).await.expect("a whole body") == long(), "{name} {target} streamed");
            }
        }
    });
}

fn dechunk(mut chunked: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = chunked.windows(2).position(|two| two == b"\r\n").expect("a line");
        let length = std::str::from_utf8(&chunked[..line]).expect("digits");
        let length = usize::from_str_radix(length, 16).expect("a length");
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&chunked[line + 2..][..length]);
        chunked = &chunked[line + 2 + length + 2..];
    }
}

#[test]
fn trailers_pass_in_both_directions() {
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            let head = connection.head().await.expect("a request");
            assert!(head.contains("transfer-encoding: chunked"), "{head}");
            let body = connection.take_until(b"0\r\nx-sum: 7\r\n\r\n").await;
            assert!(body.starts_with(b"4\r\ndata\r\n"), "{body:?}");
            connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n").await;
            connection.send("4\r\nback\r\n0\r\nx-sum: 8\r\nx-more: yes\r\n\r\n").await;
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let (sender, body) = channel();
            let mut trailers = HeaderMap::new();
            trailers.insert("x-sum", "7".parse().expect("a value"));
            sender.send(Ok(Frame::data("data".into()))).expect("open");
            sender.send(Ok(Frame::trailers(trailers))).expect("open");
            drop(sender);
            let mut request = post(&upstream.url("/"), body);
            request.headers_mut().insert("trailer", "x-sum".parse().expect("a value"));
            let response = send(&transport, request).await.expect("a head");
            let collected = response.into_body().collect().await.expect("a whole body");
            let trailers = collected.trailers().expect("trailers");
            assert_eq!(
                (&trailers["x-sum"], &trailers["x-more"]),
                (&"8".parse().unwrap(), &"yes".parse().unwrap()),
                "{name}"
            );
            assert_eq!(collected.to_bytes(), "back", "{name}");
        }
    });
}

#[test]
fn an_answer_that_comes_before_the_body_is_sent_is_handed_on() {
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            connection.head().await;
            connection.send("HTTP/1.1 413 Too Long\r\ncontent-length: 3\r\n\r\nno!").await;
            connection.closed().await;
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let (sender, body) = channel();
            sender.send(Ok(Frame::data("begin".into()))).expect("open");
            let response = send(&transport, post(&upstream.url("/"), body)).await.expect("a head");
            assert_eq!(response.status(), 413, "{name}");
            assert_eq!(bytes(response).await.expect("a body"), "no!", "{name}");
            drop(sender);
        }
    });
}

#[test]
fn a_body_is_handed_on_as_it_is_encoded() {
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            let head = connection.head().await.expect("a request");
            assert!(!head.contains("accept-encoding"), "{head}");
            connection
                .send("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x08!")
                .await;
        })
        .await;
        for (name, transport) in transports(&TransportParams::default()) {
            let response = send(&transport, get(&upstream.url("/"))).await.expect("a head");
            assert_eq!(response.headers()["content-encoding"], "gzip", "{name}");
            assert_eq!(response.headers()["content-length"], "3", "{name}");
            assert_eq!(bytes(response).await.expect("a body"), "\x1f\x08!", "{name}");
        }
    });
}
