//! Tells a service manager how the gateway stands: sd_notify(3), as systemd's `Type=notify` wants it.

use std::ffi::OsString;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The way to the service manager; without one, nothing is told.
#[derive(Debug)]
pub(crate) struct Notifier(Option<(UnixDatagram, SocketAddr)>);

impl Notifier {
    /// `socket` is the value of NOTIFY_SOCKET: a path, or after `@` a name of the abstract namespace.
    ///
    /// # Errors
    ///
    /// When it cannot be an address.
    pub(crate) fn new(socket: Option<&OsString>) -> io::Result<Self> {
        let Some(socket) = socket else { return Ok(Self(None)) };
        let address = match socket.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
            _ => SocketAddr::from_pathname(socket)?,
        };
        Ok(Self(Some((UnixDatagram::unbound()?, address))))
    }

    /// It serves.
    pub(crate) fn ready(&self, where_to: &str) {
        self.tell(&format!("READY=1\nSTATUS=listening at {where_to}\n"));
    }

    /// It has begun to stop.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=finishing what runs\n");
    }

    fn tell(&self, what: &str) {
        if let Some((socket, address)) = &self.0 {
            if let Err(error) = socket.send_to_addr(what.as_bytes(), address) {
                tracing::warn!(%error, "the service manager cannot be told");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_service_manager_hears_of_start_and_stop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("tidegate-test-{}", std::process::id());
        for (socket, listener) in [
            (path.clone().into_os_string(), UnixDatagram::bind(&path).unwrap()),
            (
                format!("@{name}").into(),
                UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name.as_bytes()).unwrap()).unwrap(),
            ),
        ] {
            listener.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let notifier = Notifier::new(Some(&socket)).unwrap();
            let heard = || {
                let mut buffer = [0; 256];
                let length = listener.recv(&mut buffer).unwrap();
                String::from_utf8(buffer[..length].to_vec()).unwrap()
            };
            notifier.ready("http://127.0.0.1:8282");
            assert_eq!(heard(), "READY=1\nSTATUS=listening at http://127.0.0.1:8282\n");
            notifier.stopping();
            assert_eq!(heard(), "STOPPING=1\nSTATUS=finishing what runs\n");
        }
        Notifier::new(None).unwrap().ready("nowhere");
    }
}
