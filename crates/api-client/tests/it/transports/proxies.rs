//! The way through a proxy, which is reqwest's alone.
#![cfg(feature = "reqwest")]

use tidegate_api_client::Body;
use tidegate_api_client::transport::{Proxy, ReqwestTransport, TransportParams};
use tokio::sync::mpsc;
use tower::ServiceExt;

use super::{Upstream, get, run, whole_text};

fn params(proxy: Proxy) -> TransportParams {
    let mut params = TransportParams::default();
    params.proxy = proxy;
    params
}

async fn proxy() -> (Upstream, mpsc::UnboundedReceiver<String>) {
    let (heads, received) = mpsc::unbounded_channel();
    let proxy = Upstream::start(move |_, mut connection| {
        let heads = heads.clone();
        async move {
            while let Some(head) = connection.head().await {
                let tunnel = head.starts_with("CONNECT ");
                heads.send(head).expect("the test runs");
                let status = if tunnel { "403 Forbidden" } else { "204 No Content" };
                connection.send(format!("HTTP/1.1 {status}\r\n\r\n")).await;
            }
        }
    })
    .await;
    (proxy, received)
}

#[test]
fn a_proxy_gets_the_whole_target_and_its_own_credential() {
    run(async {
        let (proxy, mut heads) = proxy().await;
        let address = proxy.address;
        let environment = |http: &str, all: &str| Proxy::Environment {
            http: Some(http.to_owned()),
            https: Some(String::new()),
            all: Some(all.to_owned()),
            no_proxy: Some("direct.invalid".to_owned()),
        };
        let rows = [
            (Proxy::All(format!("http://user:s3cr3t@{address}")), true),
            (environment(&format!("http://user:s3cr3t@{address}"), ""), true),
            (environment("", &address.to_string()), false),
        ];
        for (proxy, authorized) in rows {
            let transport = ReqwestTransport::new(&params(proxy.clone())).expect("a proxy");
            let response = transport.oneshot(get("http://upstream.invalid/p?q=1")).await.expect("a head");
            assert_eq!(response.status(), 204, "{proxy:?}");
            let head = heads.recv().await.expect("a request");
            assert!(head.starts_with("GET http://upstream.invalid/p?q=1 HTTP/1.1\r\n"), "{head}");
            assert_eq!(head.contains("proxy-authorization: Basic dXNlcjpzM2NyM3Q="), authorized, "{head}");
        }
        // Direct, to a name that there is not.
        let transport =
            ReqwestTransport::new(&params(environment(&format!("http://{address}"), ""))).expect("a proxy");
        let error = transport.oneshot(get("http://direct.invalid/")).await.expect_err("no such name");
        assert_eq!(error.kind(), "connect");
        assert!(heads.try_recv().is_err());
    });
}

#[test]
fn a_tunnel_that_the_proxy_refuses_is_no_connection() {
    run(async {
        let (proxy, mut heads) = proxy().await;
        let transport =
            ReqwestTransport::new(&params(Proxy::All(format!("http://user:s3cr3t@{}", proxy.address))))
                .expect("a proxy");
        let error = transport.oneshot(get("https://upstream.invalid/?key=t0k3n")).await.expect_err("refused");
        assert!(heads.recv().await.expect("a request").starts_with("CONNECT upstream.invalid:443 "));
        let text = whole_text(&error);
        assert_eq!((error.kind(), error.surely_unsent()), ("connect", true), "{text}");
        assert!(!text.contains("s3cr3t") && !text.contains("t0k3n"), "{text}");
    });
}

#[test]
fn a_proxy_that_is_none_is_refused_without_its_password() {
    for url in ["http://user:s3cr3t@:99999/", "http://", "http://[::1", "http://user:s3cr3t@ho st/"] {
        let error = ReqwestTransport::new(&params(Proxy::All(url.to_owned()))).expect_err("refused");
        let text = whole_text(&error);
        assert_eq!(error.kind(), "configuration", "{url}");
        assert!(!text.contains("s3cr3t"), "{text}");
    }
    let shown = format!("{:?}", params(Proxy::All("http://user:s3cr3t@proxy.example".to_owned())));
    assert!(!shown.contains("s3cr3t"), "{shown}");
}

#[test]
fn without_settings_there_is_no_proxy() {
    // Whatever the environment of the tests says: a transport does not read it.
    run(async {
        let upstream = Upstream::start(|_, mut connection| async move {
            let head = connection.head().await.expect("a request");
            assert!(head.starts_with("GET / HTTP/1.1\r\n"), "{head}");
            connection.send("HTTP/1.1 204 No Content\r\n\r\n").await;
        })
        .await;
        let transport = ReqwestTransport::new(&params(Proxy::Off)).expect("no proxy");
        let response: http::Response<Body> =
            transport.oneshot(get(&upstream.url("/"))).await.expect("a head");
        assert_eq!(response.status(), 204);
    });
}
