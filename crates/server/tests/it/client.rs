//! A client that sends exactly what it is told to.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// The `type` of a problem, without its `urn:tidegate:`.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let kind = self.json()["type"].as_str().unwrap().to_owned();
        kind.strip_prefix("urn:tidegate:").unwrap().to_owned()
    }
}

/// A request with a Host field, to be changed at will.
pub(crate) fn get(target: &str) -> Request<Full<Bytes>> {
    request("GET", target, "")
}

pub(crate) fn request(method: &str, target: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::builder()
        .method(method)
        .uri(target)
        .header("host", "gateway")
        .body(Full::new(body.into()))
        .unwrap()
}

pub(crate) fn with(mut request: Request<Full<Bytes>>, headers: &[(&str, &str)]) -> Request<Full<Bytes>> {
    for (name, value) in headers {
        request.headers_mut().append(name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap());
    }
    request
}

/// Sends `request` on a connection of its own.
pub(crate) async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let (parts, body) = sender.send_request(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    connection.abort();
    Answer { status: parts.status, headers: parts.headers, body }
}

/// Sends bytes as they are and returns what comes back: one whole answer, or all until the peer closes.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut back = Vec::new();
    while !is_whole(&back) && stream.read_buf(&mut back).await.unwrap_or(0) > 0 {}
    String::from_utf8_lossy(&back).into_owned()
}

fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}
