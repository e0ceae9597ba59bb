//! The way there and back: what passes, what stays, what is refused.

use std::time::Duration;

use http::StatusCode;

use crate::client::{get, raw, request, send, with};
use crate::gateway::Gateway;
use crate::upstream::{Reply, Upstream, reply, status};

const PIXIV: [(&str, &str); 2] = [("TIDEGATE_PRESET", "pixiv"), ("TIDEGATE_CREDENTIAL", "")];

#[tokio::test]
async fn a_target_passes_byte_for_byte() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[]).await;
    for target in ["/a%2Fb//c?x=%2f'&y=[1]", "/%E3%81%82", "//host/x", "/a;b=c?", "/...", "/a..b/.c", "/?a?b"]
    {
        assert_eq!(gateway.get(target).await.status, StatusCode::OK, "{target}");
        assert_eq!(upstream.calls().last().unwrap().target, target);
    }
    let host = upstream.address.to_string();
    assert!(upstream.calls().iter().all(|call| call.header("host") == Some(&host)), "the origin is ours");
}

#[tokio::test]
async fn a_bad_target_or_host_never_reaches_the_upstream() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[]).await;
    let rows: [(&[u8], &str); 12] = [
        (b"GET /a/../b HTTP/1.1\r\nhost: x\r\n\r\n", "400"),
        (b"GET /a/%2E%2e/b HTTP/1.1\r\nhost: x\r\n\r\n", "400"),
        (b"GET /a/.%2e HTTP/1.1\r\nhost: x\r\n\r\n", "400"),
        (b"GET /.%2F.. HTTP/1.1\r\nhost: x\r\n\r\n", "400"),
        (b"GET /a\\b HTTP/1.1\r\nhost: x\r\n\r\n", "400"),
        (b"GET /a HTTP/1.1\r\n\r\n", "400"),
        (b"GET /a HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n", "400"),
        (b"GET /a HTTP/1.1\r\nhost: x y\r\n\r\n", "400"),
        (b"CONNECT other:443 HTTP/1.1\r\nhost: other:443\r\n\r\n", "405"),
        (b"TRACE / HTTP/1.1\r\nhost: x\r\n\r\n", "405"),
        (b"GET /a HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n", "501"),
        (b"GET /a HTTP/1.1\r\nhost: x\r\nx: \x01\r\n\r\n", "400"),
    ];
    for (bytes, want) in rows {
        let closing = [bytes.strip_suffix(b"\r\n").unwrap(), b"connection: close\r\n\r\n"].concat();
        let bytes =
            if bytes.windows(8).any(|window| window == b"upgrade\r") { bytes.to_vec() } else { closing };
        let answer = tokio::time::timeout(Duration::from_secs(15), raw(gateway.address, &bytes)).await;
        let answer = answer
            .unwrap_or_else(|_| panic!("no end to the answer of {:?}", String::from_utf8_lossy(&bytes)));
        let head = answer.lines().next().unwrap_or_default().to_owned();
        assert!(
            head.starts_with(&format!("HTTP/1.1 {want}")),
            "{:?}: {answer}",
            String::from_utf8_lossy(&bytes)
        );
    }
    assert_eq!(upstream.calls().len(), 0);
}

#[tokio::test]
async fn an_absolute_target_chooses_no_origin() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[]).await;
    let bytes = b"GET http://evil.example/x?y HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    assert!(raw(gateway.address, bytes).await.starts_with("HTTP/1.1 200"));
    assert_eq!(upstream.calls()[0].target, "/x?y");
}

#[tokio::test]
async fn a_location_at_the_upstream_is_mapped_back_and_a_redirect_is_not_followed() {
    let upstream = Upstream::start(|call| {
        let host = call.header("host").unwrap().to_owned();
        let to = match call.target.as_str() {
            "/v1/own" => format!("http://{host}/v1/there?a=b"),
            "/v1/other" => "https://other.example/x".to_owned(),
            _ => "/v1/path".to_owned(),
        };
        reply(302, &[("location", &to)], "")
    })
    .await;
    let file =
        format!("[[route]]\nprefix = \"/api/\"\nupstream = \"{}/v1/\"\npool = \"none\"\n", upstream.url());
    let gateway = Gateway::start_with(&upstream, &[], &[("tidegate.toml", &file)]).await;
    for (target, want) in [
        ("/api/own", "/api/there?a=b"),
        ("/api/other", "https://other.example/x"),
        ("/api/path", "/api/path"),
    ] {
        let answer = gateway.get(target).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (302, Some(want)), "{target}");
    }
    assert_eq!(upstream.calls().len(), 3);
}

#[tokio::test]
async fn an_error_of_ours_says_what_it_is() {
    let upstream = Upstream::start(|call| match call.target.as_str() {
        "/close" => Reply::Close,
        _ => reply(429, &[("retry-after", "30")], ""),
    })
    .await;
    let gateway = Gateway::start(&upstream, &[("TIDEGATE_MAX_BODY", "10")]).await;
    let closed = gateway.get("/close").await;
    assert_eq!((closed.status.as_u16(), closed.problem().as_str()), (502, "upstream-reset"));
    assert_eq!(closed.header("tidegate-attempts"), Some("4"));
    assert_eq!(closed.json()["request_id"].as_str(), closed.header("x-request-id"));

    let long = send(gateway.address, request("POST", "/x", vec![b'x'; 11])).await;
    assert_eq!((long.status.as_u16(), long.problem().as_str()), (413, "body-too-large"));

    let first = gateway.get("/limited").await;
    assert_eq!((first.status.as_u16(), first.header("retry-after")), (429, Some("30")));
    let second = gateway.get("/limited").await;
    assert_eq!((second.status.as_u16(), second.problem().as_str()), (503, "exhausted"));
    assert!((28..=30).contains(&second.header("retry-after").unwrap().parse::<u64>().unwrap()));
}

#[tokio::test]
async fn client_keys_open_the_gateway_and_stay_here() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[("TIDEGATE_CLIENT_KEYS", "web=k-web-1,cron=k-cron-2")]).await;
    let without = gateway.get("/x").await;
    assert_eq!((without.status.as_u16(), without.problem().as_str()), (401, "client-key"));
    for headers in [[("authorization", "Bearer k-web-1")], [("x-api-key", "k-cron-2")]] {
        assert_eq!(
            send(gateway.address, with(get("/x"), &headers)).await.status,
            StatusCode::OK,
            "{headers:?}"
        );
    }
    let wrong = send(gateway.address, with(get("/x"), &[("authorization", "Bearer k-web-2")])).await;
    assert_eq!(wrong.status.as_u16(), 401);
    for call in upstream.calls() {
        assert_eq!((call.header("authorization"), call.header("x-api-key")), (None, None));
    }
}

#[tokio::test]
async fn a_line_with_a_client_key_never_reaches_an_upstream() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[("TIDEGATE_CLIENT_KEYS", "web=k-web-1,cron=k-cron-2")]).await;
    let rows: [&[(&str, &str)]; 3] = [
        &[("authorization", "Bearer other"), ("authorization", "Bearer k-web-1")],
        &[("x-api-key", "k-web-1"), ("authorization", "Basic x"), ("authorization", "Bearer k-cron-2")],
        &[("x-api-key", "k-web-1"), ("authorization", "Bearer k-cron-2, y")],
    ];
    for headers in rows {
        assert_eq!(
            send(gateway.address, with(get("/x"), headers)).await.status,
            StatusCode::OK,
            "{headers:?}"
        );
        let said = format!("{:?}", upstream.calls().last().unwrap().headers);
        assert!(!said.contains("k-web") && !said.contains("k-cron"), "{headers:?} became {said}");
    }
}

#[tokio::test]
async fn a_clients_rate_bounds_it_alone() {
    let upstream = Upstream::start(|_| status(200)).await;
    let keys = "web=k-web-1 rate=1/3,cron=k-cron-2";
    let gateway = Gateway::start(&upstream, &[("TIDEGATE_CLIENT_KEYS", keys)]).await;
    let ask = async |key: &str| send(gateway.address, with(get("/x"), &[("x-api-key", key)])).await;
    let mut limited = None;
    for _ in 0..30 {
        let answer = ask("k-web-1").await;
        limited = (answer.status.as_u16() == 429).then_some(answer).or(limited);
    }
    let limited = limited.expect("thirty requests take less than 27 s");
    assert_eq!(limited.problem(), "client-rate");
    assert_eq!(limited.header("ratelimit-policy"), Some("\"web\";q=3;w=3"));
    assert_eq!(limited.header("ratelimit"), Some("\"web\";r=0;t=1"));
    assert_eq!((limited.header("retry-after"), limited.header("tidegate-attempts")), (Some("1"), None));
    for _ in 0..5 {
        assert_eq!(ask("k-cron-2").await.status, StatusCode::OK);
    }
    let page = String::from_utf8(gateway.admin("GET", "/metrics").await.body.to_vec()).unwrap();
    assert!(
        page.contains("tidegate_client_requests_total{client=\"cron\",outcome=\"served\"} 5\n"),
        "{page}"
    );
    assert!(
        !page.contains("tidegate_client_requests_total{client=\"web\",outcome=\"limited\"} 0\n"),
        "{page}"
    );
    assert!(!page.contains("k-web-1"), "{page}");
}

#[tokio::test]
async fn what_traces_a_request_is_passed_on() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[]).await;
    let fields = [
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("tracestate", "rojo=00f067aa0ba902b7"),
    ];
    send(gateway.address, with(get("/x"), &fields)).await;
    for (name, value) in fields {
        assert_eq!(upstream.calls()[0].header(name), Some(value));
    }
}

#[tokio::test]
async fn a_client_that_stops_sending_is_told_so_and_nobody_else_is_blamed() {
    let upstream = Upstream::start(|_| status(200)).await;
    let gateway = Gateway::start(&upstream, &[("TIDEGATE_BODY_IDLE_TIMEOUT", "300ms")]).await;
    for sent in [0, 10] {
        let head =
            format!("POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 2000000\r\n\r\n{}", "x".repeat(sent));
        let answer = raw(gateway.address, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body-timeout"), "{sent}: {answer}");
    }
    let metrics = String::from_utf8(gateway.admin("GET", "/metrics").await.body.to_vec()).unwrap();
    assert!(metrics.contains("tidegate_attempts_total{outcome=\"upstream\",route=\"/\"} 0"), "{metrics}");
}

#[tokio::test]
async fn an_unasked_switch_of_protocols_is_a_fault_of_the_upstream() {
    let upstream = Upstream::start(|_| reply(101, &[("connection", "upgrade"), ("upgrade", "x")], "")).await;
    let gateway = Gateway::start(&upstream, &[("PIXIVFE_API_MAX_RETRIES", "0")]).await;
    let answer = gateway.get("/x").await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (502, "upstream-protocol"));
}

#[tokio::test]
async fn a_sane_request_id_is_kept_and_passed_on() {
    let upstream = Upstream::start(|_| reply(200, &[("x-request-id", "theirs")], "")).await;
    let gateway = Gateway::start(&upstream, &[]).await;
    let kept = send(gateway.address, with(get("/x"), &[("x-request-id", "mine-1")])).await;
    assert_eq!(kept.header("x-request-id"), Some("mine-1"));
    assert_eq!(kept.header("tidegate-upstream-request-id"), Some("theirs"));
    let made = send(gateway.address, with(get("/x"), &[("x-request-id", "a b<c>")])).await;
    assert!(made.header("x-request-id").unwrap().len() == 32, "{made:?}");
    assert_eq!(upstream.calls()[0].header("x-request-id"), Some("mine-1"));
}

#[tokio::test]
async fn a_clients_own_session_goes_around_the_pool() {
    let upstream = Upstream::start(|call| match call.token() {
        Some("mine") => reply(429, &[("set-cookie", "PHPSESSID=mine2")], ""),
        _ => reply(200, &[("set-cookie", "PHPSESSID=pooled2")], ""),
    })
    .await;
    let gateway = Gateway::start(&upstream, &PIXIV).await;
    let own = [("cookie", "PHPSESSID=mine; x=y"), ("user-agent", "mine/1"), ("referer", "http://elsewhere/")];
    let own = with(request("POST", "/ajax/user/self", "a=1"), &own);
    let answer = send(gateway.address, own).await;
    assert_eq!((answer.status.as_u16(), answer.header("set-cookie")), (429, Some("PHPSESSID=mine2")));
    assert_eq!(answer.header("tidegate-attempts"), Some("4"), "it is retried but never switched");
    for call in upstream.calls() {
        assert_eq!(call.header("cookie"), Some("PHPSESSID=mine; x=y"));
        assert_eq!(call.header("user-agent"), Some("mine/1"), "it goes as it is");
        assert_eq!(call.header("referer"), Some("https://www.pixiv.net/"), "but a Referer never does");
    }
    let pooled = gateway.get("/ajax/illust/1").await;
    assert_eq!((pooled.status.as_u16(), pooled.header("set-cookie")), (200, None));
    let refused = gateway.get("/ajax/%75ser/self").await;
    assert_eq!((refused.status.as_u16(), refused.problem().as_str()), (403, "not-pooled"));
}
