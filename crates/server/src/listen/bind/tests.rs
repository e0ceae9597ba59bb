use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::net::UnixStream;

use super::*;

#[tokio::test]
async fn localhost_is_every_loopback_address_on_one_port() {
    let bound = bind(&Listen::Tcp { host: Host::Localhost, port: 0 }).await.unwrap();
    let addresses = bound.tcp_addresses();
    assert_eq!(addresses[0].ip(), Ipv4Addr::LOCALHOST);
    assert!(
        addresses.iter().all(|a| a.ip().is_loopback() && a.port() == addresses[0].port()),
        "{addresses:?}"
    );
    assert!(bound.to_string().starts_with(&format!("http://127.0.0.1:{}", addresses[0].port())));

    let taken = Listen::Tcp { host: Host::Ip(Ipv4Addr::LOCALHOST.into()), port: addresses[0].port() };
    let error = bind(&taken).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {}", addresses[0]));
}

async fn bind_path(path: &Path, mode: u32) -> Result<Bound, BindError> {
    bind(&Listen::Unix { path: path.to_owned(), mode }).await
}

#[tokio::test]
async fn a_socket_file_has_its_permissions_and_is_removed_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    for mode in [0o660, 0o666, 0o600] {
        let bound = bind_path(&path, mode).await.unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        drop(bound);
        assert!(!path.exists());
    }
}

#[tokio::test]
async fn a_dead_socket_is_replaced_and_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "what a killed process leaves");
    let bound = bind_path(&path, 0o600).await.unwrap();
    UnixStream::connect(&path).await.unwrap();

    assert!(matches!(bind_path(&path, 0o600).await, Err(BindError::SocketInUse { .. })));
    assert!(path.exists(), "the one that lives keeps its file");
    drop(bound);

    std::fs::write(&path, "precious").unwrap();
    assert!(matches!(bind_path(&path, 0o600).await, Err(BindError::NotASocket { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[tokio::test]
async fn a_socket_file_that_another_has_replaced_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let bound = bind_path(&path, 0o600).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "another's").unwrap();
    drop(bound);
    assert!(path.exists());
}
