//! What goes out on the wire.

use http::Request;
use tidegate_api_client::Body;
use tidegate_api_client::transport::TransportParams;
use tokio::sync::mpsc;

use super::{Upstream, bytes, get, post, run, send, transports};

/// An upstream that reports each head, and answers it with `answer`.
async fn recorder(answer: &'static str) -> (Upstream, mpsc::UnboundedReceiver<String>) {
    let (heads, received) = mpsc::unbounded_channel();
    let upstream = Upstream::start(move |_, mut connection| {
        let heads = heads.clone();
        async move {
            while let Some(head) = connection.head().await {
                heads.send(head).expect("the test runs");
                connection.send(answer).await;
            }
        }
    })
    .await;
    (upstream, received)
}

const EMPTY: &str = "HTTP/1.1 204 No Content\r\n\r\n";

#[test]
#[cfg(feature = "hyper")]
fn hyper_sends_a_target_byte_for_byte_and_adds_nothing() {
    run(async {
        let (upstream, mut heads) = recorder(EMPTY).await;
        let transport =
            tidegate_api_client::transport::HyperTransport::new(&TransportParams::default()).unwrap();
        for target in
            ["/", "/a/../b", "//a//b/", "/%2e%2E/x", "/p?q='x'&%zz", "/a?b=/../c?d", "/p?", "/a;b=c,d|e~f"]
        {
            let response = tower::ServiceExt::oneshot(transport.clone(), get(&upstream.url(target)))
                .await
                .expect("a head");
            assert_eq!(response.status(), 204);
            let expected = format!("GET {target} HTTP/1.1\r\nhost: {}\r\n\r\n", upstream.address);
            assert_eq!(heads.recv().await.expect("a request"), expected);
        }
    });
}

#[test]
fn a_request_is_framed_by_what_is_known_of_its_body() {
    run(async {
        let (upstream, mut heads) = recorder(EMPTY).await;
        let url = upstream.url("/");
        for (name, transport) in transports(&TransportParams::default()) {
            let rows: [(Request<Body>, Option<&str>, Option<&str>); 3] = [
                (get(&url), None, None),
                (post(&url, ""), Some("0"), None),
                (Request::delete(&url).body(Body::empty()).unwrap(), None, None),
            ];
            for (request, length, coding) in rows {
                let row = format!("{name} {}", request.method());
                send(&transport, request).await.expect("a head");
                let head = heads.recv().await.expect("a request");
                let field = |name: &str| {
                    head.lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
                };
                assert_eq!(field("content-length").as_deref(), length, "{row}: {head}");
                assert_eq!(field("transfer-encoding").as_deref(), coding, "{row}: {head}");
                for absent in ["referer", "user-agent", "accept-encoding", "expect", "cookie"] {
                    assert_eq!(field(absent), None, "{row}: {head}");
                }
            }
        }
    });
}

#[test]
fn headers_go_out_as_they_are() {
    run(async {
        let (upstream, mut heads) = recorder(EMPTY).await;
        for (name, transport) in transports(&TransportParams::default()) {
            let request = Request::get(upstream.url("/"))
                .version(http::Version::HTTP_2)
                .header("x-twice", "1")
                .header("x-twice", "2")
                .header("accept", "text/html")
                .header(
                    "x-bytes",
                    http::HeaderValue::from_bytes(b"\xe9t\xe9").unwrap().to_str().unwrap_or("e"),
                )
                .header("cookie", "a=b; c=d")
                .header("te", "trailers")
                .body(Body::empty())
                .unwrap();
            send(&transport, request).await.expect("a head");
            let head = heads.recv().await.expect("a request");
            for line in [
                "x-twice: 1\r\nx-twice: 2\r\n",
                "accept: text/html\r\n",
                "cookie: a=b; c=d\r\n",
                "te: trailers\r\n",
            ] {
                assert!(head.contains(line), "{name}: {line:?} in {head:?}");
            }
        }
    });
}

#[test]
fn a_redirect_is_handed_on_and_not_followed() {
    run(async {
        let (elsewhere, mut stolen) = recorder(EMPTY).await;
        for status in [301, 302, 303, 307, 308] {
            let answer = format!(
                "HTTP/1.1 {status} Moved\r\nlocation: {}\r\ncontent-length: 2\r\n\r\nto",
                elsewhere.url("/x")
            );
            let (upstream, mut heads) = recorder(String::leak(answer)).await;
            for (name, transport) in transports(&TransportParams::default()) {
                let request = Request::post(upstream.url("/"))
                    .header("x-api-key", "s3cr3t")
                    .body(Body::empty())
                    .unwrap();
                let response = send(&transport, request).await.expect("a head");
                assert_eq!(response.status(), status, "{name}");
                assert_eq!(response.headers()["location"], elsewhere.url("/x").as_str(), "{name}");
                assert_eq!(bytes(response).await.expect("a body"), "to", "{name}");
                heads.recv().await;
            }
        }
        assert!(stolen.try_recv().is_err());
        assert_eq!(elsewhere.connections(), 0);
    });
}
