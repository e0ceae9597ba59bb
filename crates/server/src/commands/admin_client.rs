//! Asks the admin listener of the gateway that runs with these settings.
//!
//! HTTP/1.0 over a blocking socket: one question, and the answer ends with the connection. It serves Unix sockets and
//! TCP alike, and a health check starts no runtime.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use tidegate_config::{Faults, Host, Listen, Purpose, Secret, Sources, load_for};

/// How long connecting, and each silence, may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Far above any answer of ours.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Where the operators' listener is, and the key to it.
#[derive(Debug)]
pub(super) struct AdminClient {
    listen: Listen,
    key: Option<Secret>,
}

/// What it said.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

impl AdminClient {
    /// By the settings, which need not be whole: no token is used here. The inner error says that they have no admin
    /// listener.
    ///
    /// # Errors
    ///
    /// All faults of the settings.
    pub(super) fn new(config: Option<PathBuf>) -> Result<Result<Self, String>, Faults> {
        let settings = load_for(&Sources::from_process(config), Purpose::Inspect)?.settings;
        Ok(match settings.admin {
            Some(admin) => Ok(Self { listen: admin.listen, key: admin.key }),
            None => Err("the settings have no admin listener (TIDEGATE_ADMIN, admin.listen)".to_owned()),
        })
    }

    /// Sends a request without a body.
    ///
    /// # Errors
    ///
    /// A line that says why there is no answer.
    pub(super) fn send(&self, method: &str, path: &str) -> Result<Answer, String> {
        let cannot =
            |error: std::io::Error| format!("no answer from the admin listener {}: {error}", self.listen);
        let answer = match &self.listen {
            Listen::Unix { path: socket, .. } => {
                let stream = UnixStream::connect(socket).map_err(cannot)?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(cannot)?;
                self.converse(stream, method, path)
            }
            Listen::Tcp { host, port } => {
                let stream = connect(host, *port).map_err(cannot)?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(cannot)?;
                self.converse(stream, method, path)
            }
        };
        parse(&answer.map_err(cannot)?)
            .ok_or_else(|| format!("what listens at {} is no admin listener", self.listen))
    }

    fn converse(&self, mut stream: impl Read + Write, method: &str, path: &str) -> std::io::Result<Vec<u8>> {
        let key = self.key.as_ref().map(|key| format!("Authorization: Bearer {}\r\n", key.expose()));
        let key = key.unwrap_or_default();
        write!(stream, "{method} {path} HTTP/1.0\r\nHost: localhost\r\n{key}Content-Length: 0\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.take(LONGEST).read_to_end(&mut answer)?;
        Ok(answer)
    }
}

/// Tries each address that the listener may have; the unspecified one is reached over loopback.
fn connect(host: &Host, port: u16) -> std::io::Result<TcpStream> {
    let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let addresses: Vec<SocketAddr> = match host {
        Host::Localhost => loopback.map(|ip| SocketAddr::new(ip, port)).to_vec(),
        Host::Ip(ip) if ip.is_unspecified() => loopback.map(|ip| SocketAddr::new(ip, port)).to_vec(),
        Host::Ip(ip) => vec![SocketAddr::new(*ip, port)],
        Host::Name(name) => (name.as_str(), port).to_socket_addrs()?.collect(),
    };
    let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut line = head.lines().next()?.split(' ');
    let status = line.next().filter(|version| version.starts_with("HTTP/1.")).and(line.next())?;
    Some(Answer { status: status.parse().ok()?, body: body.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_status_and_its_body() {
        for (answer, want) in [
            ("HTTP/1.0 200 OK\r\na: b\r\n\r\nok\n", Some((200, "ok\n"))),
            ("HTTP/1.1 503 Service Unavailable\r\n\r\n", Some((503, ""))),
            ("HTTP/1.1 204 No Content\r\n\r\na\r\n\r\nb", Some((204, "a\r\n\r\nb"))),
            ("HTTP/1.0 200 OK\r\na: b", None),
            ("SSH-2.0-OpenSSH\r\n\r\n", None),
            ("HTTP/1.0 x\r\n\r\n", None),
            ("", None),
        ] {
            let found = parse(answer.as_bytes()).map(|answer| (answer.status, answer.body));
            assert_eq!(found, want.map(|(status, body)| (status, body.to_owned())), "{answer:?}");
        }
    }
}
