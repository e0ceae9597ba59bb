//! HTTP/2: what a stream's end says about the request. The frames are written by hand, as no server sends these.

use std::sync::Arc;

use tidegate_api_client::Fault;
use tidegate_api_client::transport::{TransportParams, Version};
use tokio::sync::Notify;

use super::{Connection, Upstream, bytes, channel, get, post, run, send, transports, whole_text};

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Greets, and reads on until a request's head: its stream.
async fn request(connection: &mut Connection) -> u32 {
    connection.take(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()).await;
    connection.send(frame(SETTINGS, 0, 0, &[])).await;
    loop {
        let head = connection.take(9).await;
        let [l1, l2, l3, kind, _, s1, s2, s3, s4] = head[..] else { panic!("closed before a request") };
        connection.take(u32::from_be_bytes([0, l1, l2, l3]) as usize).await;
        if kind == HEADERS {
            return u32::from_be_bytes([s1, s2, s3, s4]);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Ends {
    Reset(u32),
    /// A GOAWAY whose last stream is so far from the request's, with this code.
    GoAway(i32, u32),
    Closed,
}

#[test]
fn a_stream_that_was_surely_not_looked_at_may_be_sent_again() {
    let (no_error, internal, refused, cancel) = (0, 2, 7, 8);
    let rows = [
        (Ends::Reset(refused), "refused_stream", true),
        (Ends::Reset(internal), "reset", false),
        (Ends::Reset(cancel), "reset", false),
        (Ends::Reset(no_error), "reset", false),
        (Ends::GoAway(-1, no_error), "refused_stream", true),
        (Ends::GoAway(-1, internal), "refused_stream", true),
        // These cover the request: it may have been worked on.
        (Ends::GoAway(0, no_error), "reset", false),
        (Ends::GoAway(0, internal), "reset", false),
        (Ends::GoAway(2, no_error), "reset", false),
        (Ends::Closed, "reset", false),
    ];
    let mut params = TransportParams::default();
    params.version = Version::Http2;
    run(async {
        for (ends, kind, unsent) in rows {
            let upstream = Upstream::start(move |_, mut connection| async move {
                let stream = request(&mut connection).await;
                match ends {
                    Ends::Reset(code) => {
                        connection.send(frame(RST_STREAM, 0, stream, &code.to_be_bytes())).await;
                    }
                    Ends::GoAway(distance, code) => {
                        let last = stream.saturating_add_signed(distance);
                        let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
                        connection.send(frame(GOAWAY, 0, 0, &payload)).await;
                    }
                    Ends::Closed => {}
                }
                // An orderly end: the client must have read what was sent.
                let _ = tokio::io::AsyncWriteExt::shutdown(&mut connection.stream).await;
                connection.closed().await;
            })
            .await;
            for (name, transport) in transports(&params) {
                for request in [get(&upstream.url("/")), post(&upstream.url("/"), "body")] {
                    let row = format!("{name} {} {ends:?}", request.method());
                    let error = send(&transport, request).await.expect_err("no head");
                    let row = format!("{row}: {}", whole_text(&error));
                    assert_eq!((error.kind(), error.surely_unsent()), (kind, unsent), "{row}");
                    assert_eq!(error.fault(), Fault::Upstream, "{row}");
                }
            }
        }
    });
}

const DATA: u8 = 0;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200` in HPACK's static table.
const STATUS_200: u8 = 0x88;

/// Answers with a head and "hello", maybe as the stream's end, and resets the stream once the test says so.
async fn answers_and_resets(
    mut connection: Connection,
    head: Vec<u8>,
    flags: u8,
    code: u32,
    go: Arc<Notify>,
) {
    let stream = request(&mut connection).await;
    connection.send(frame(HEADERS, END_HEADERS, stream, &head)).await;
    connection.send(frame(DATA, flags, stream, b"hello")).await;
    go.notified().await;
    connection.send(frame(RST_STREAM, 0, stream, &code.to_be_bytes())).await;
    connection.closed().await;
}

#[test]
fn a_stream_that_is_reset_after_its_head_never_ends_cleanly() {
    // A literal field with an indexed name: content-length is 28 in the static table.
    let length = |digit: u8| vec![STATUS_200, 0x0f, 0x0d, 1, digit];
    let mut params = TransportParams::default();
    params.version = Version::Http2;
    run(async {
        for code in [0, 2, 7, 8] {
            for (what, head) in [("no length", vec![STATUS_200]), ("a length", length(b'9'))] {
                let go = Arc::new(Notify::new());
                let given = go.clone();
                let upstream = Upstream::start(move |_, connection| {
                    answers_and_resets(connection, head.clone(), 0, code, given.clone())
                })
                .await;
                for (name, transport) in transports(&params) {
                    let response = send(&transport, get(&upstream.url("/"))).await.expect("a head");
                    go.notify_one();
                    assert!(bytes(response).await.is_err(), "{name} {code} {what}: ended cleanly");
                }
            }
        }
    });
}

#[test]
fn an_answer_that_stops_the_upload_is_whole() {
    let length = vec![STATUS_200, 0x0f, 0x0d, 1, b'5'];
    let rows = [
        ("its end", vec![STATUS_200], END_STREAM),
        ("its length", length.clone(), 0),
        ("both", length, END_STREAM),
    ];
    let mut params = TransportParams::default();
    params.version = Version::Http2;
    run(async {
        for (what, head, flags) in rows {
            let go = Arc::new(Notify::new());
            let given = go.clone();
            let upstream = Upstream::start(move |_, connection| {
                answers_and_resets(connection, head.clone(), flags, 0, given.clone())
            })
            .await;
            for (name, transport) in transports(&params) {
                let (sender, body) = channel();
                sender.send(Ok(http_body::Frame::data("begin".into()))).expect("open");
                let response = send(&transport, post(&upstream.url("/"), body)).await.expect("a head");
                go.notify_one();
                assert_eq!(bytes(response).await.expect("a whole body"), "hello", "{name} {what}");
                drop(sender);
            }
        }
    });
}
