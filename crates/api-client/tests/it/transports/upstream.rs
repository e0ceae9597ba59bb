//! An upstream that does with each connection what a script says, byte by byte.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    serving: tokio::task::JoinHandle<()>,
}

impl Upstream {
    /// Serves each connection by `script`, which gets its number (from 0).
    pub(crate) async fn start<F, S>(script: F) -> Self
    where
        F: Fn(usize, Connection) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(script(number, Connection { stream, read: Vec::new() }));
            }
        });
        Self { address, connections, serving }
    }

    pub(crate) fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    /// How many connections were made so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    /// What was read and not yet taken.
    read: Vec<u8>,
}

impl Connection {
    /// The next head, with the empty line at its end; nothing if the other side has closed.
    pub(crate) async fn head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = self.read.split_off(end + 4);
                let head = std::mem::replace(&mut self.read, rest);
                return Some(String::from_utf8(head).expect("a text"));
            }
            if self.more().await == 0 {
                return None;
            }
        }
    }

    /// The next `length` bytes, or fewer if the other side closes before.
    pub(crate) async fn take(&mut self, length: usize) -> Vec<u8> {
        while self.read.len() < length && self.more().await > 0 {}
        let rest = self.read.split_off(length.min(self.read.len()));
        std::mem::replace(&mut self.read, rest)
    }

    /// All up to and with `end`.
    pub(crate) async fn take_until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|part| part == end) {
                return self.take(at + end.len()).await;
            }
            assert!(self.more().await > 0, "closed before {end:?}");
        }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // The other side may have gone: that is for the test to notice.
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Waits until the other side closes.
    pub(crate) async fn closed(mut self) {
        while self.more().await > 0 {
            self.read.clear();
        }
    }

    /// Drops the connection with a reset instead of an orderly end.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().expect("a socket");
    }

    async fn more(&mut self) -> usize {
        self.stream.read_buf(&mut self.read).await.unwrap_or(0)
    }
}
