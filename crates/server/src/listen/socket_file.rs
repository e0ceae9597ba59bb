use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{UnixListener, UnixSocket, UnixStream};

use super::bind::BindError;

/// How many connections the kernel holds for us while we are busy.
pub(super) const BACKLOG: u32 = 4096;

/// The file of a Unix socket that we made. Dropping it removes the file, unless another has taken its place since.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl SocketFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            if let Err(error) = std::fs::remove_file(&self.path) {
                tracing::warn!(path = %self.path.display(), %error, "the socket file could not be removed");
            }
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Binds `path`, gives the file its permissions, and only then listens: nobody connects under other permissions.
pub(super) async fn bind_file(path: &Path, mode: u32) -> Result<(UnixListener, SocketFile), BindError> {
    let failed = |source| BindError::Bind { address: format!("unix:{}", path.display()), source };
    make_room(path).await?;
    let socket = UnixSocket::new_stream().map_err(failed)?;
    socket.bind(path).map_err(failed)?;
    let file = SocketFile { path: path.to_owned(), identity: identity(path) };
    std::fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(|source| BindError::Permissions { path: path.to_owned(), mode, source })?;
    Ok((socket.listen(BACKLOG).map_err(failed)?, file))
}

/// Removes what a gateway that was killed left at `path`; refuses what is in use or no socket.
async fn make_room(path: &Path) -> Result<(), BindError> {
    let failed = |source| BindError::Bind { address: format!("unix:{}", path.display()), source };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(meta) if !meta.file_type().is_socket() => {
            return Err(BindError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    // A listener whose queue is full leaves a connect hanging: that, too, is somebody who is there.
    match tokio::time::timeout(Duration::from_secs(1), UnixStream::connect(path)).await {
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => remove_stale(path).map_err(failed),
        Ok(Err(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(Err(error)) if error.kind() == ErrorKind::PermissionDenied => Err(failed(error)),
        _ => Err(BindError::SocketInUse { path: path.to_owned() }),
    }
}

fn remove_stale(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
