//! Reading, setting aside, and writing so that there is always a whole file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tidegate_token_manager::{News, StoreError};

use super::format;
use crate::key::StoreKey;

/// No state of 100 000 tokens comes near this (it has 22 MB); what is longer is not ours.
const LONGEST: u64 = 256 * 1024 * 1024;
/// Files that were set aside are numbered up to this; then the last one is replaced.
const MOST_ASIDE: u32 = 100;

/// The state at `path`; none where there is no file, or none that can be read.
pub(super) fn read(path: &Path) -> Result<Vec<News>, StoreError> {
    let text = match bytes(path, LONGEST) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Vec::new()),
        Err(Trouble::Ours(error)) => return Err(error),
        Err(Trouble::File(why)) => return set_aside(path, &why).map(|()| Vec::new()),
    };
    format::read(&text).or_else(|why| set_aside(path, &why.to_string()).map(|()| Vec::new()))
}

/// The key beside `path`, made if there is none.
pub(super) fn key(path: &Path) -> Result<StoreKey, StoreError> {
    let path = beside(path, ".key");
    loop {
        let text = match bytes(&path, 1024) {
            Ok(None) => match make_key(&path) {
                // Another process was faster: its key counts.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => return made.map_err(|error| failed(&path, "cannot be made", error)),
            },
            Ok(Some(text)) => text,
            Err(Trouble::Ours(error)) => return Err(error),
            Err(Trouble::File(why)) => {
                set_aside(&path, &why)?;
                continue;
            }
        };
        match std::str::from_utf8(&text).ok().and_then(StoreKey::read) {
            Some(key) => return Ok(key),
            None => set_aside(&path, "it is no key: 64 hexadecimal digits")?,
        }
    }
}

/// Puts `text` in the place of what is at `path`: whole, or not at all.
pub(super) fn write(path: &Path, text: &[u8]) -> Result<(), StoreError> {
    let temporary = beside(path, ".tmp");
    let written = written(&temporary, text)
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_folder(path));
    written.map_err(|error| {
        // A full disk has room again for what is written next.
        let _ = fs::remove_file(&temporary);
        failed(path, "cannot be written", error)
    })
}

enum Trouble {
    /// The file is there, and cannot be used as it is.
    File(String),
    Ours(StoreError),
}

fn bytes(path: &Path, longest: u64) -> Result<Option<Vec<u8>>, Trouble> {
    let data = match fs::metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Trouble::Ours(failed(path, "cannot be reached", error))),
    };
    if !data.is_file() {
        let what = if data.is_dir() { "is a folder: name a file in it" } else { "is no regular file" };
        return Err(Trouble::Ours(StoreError::new(format!("file {} {what}", path.display()))));
    }
    if data.len() > longest {
        return Err(Trouble::File(format!("it has {} bytes", data.len())));
    }
    let read = File::open(path).and_then(|mut file| {
        let mut text = Vec::new();
        file.read_to_end(&mut text).map(|_| text)
    });
    read.map(Some).map_err(|error| Trouble::File(error.to_string()))
}

fn set_aside(path: &Path, why: &str) -> Result<(), StoreError> {
    let name = |number| beside(path, &format!(".aside-{number}"));
    let free = (1..MOST_ASIDE).find(|number| fs::symlink_metadata(name(*number)).is_err());
    let aside = name(free.unwrap_or(MOST_ASIDE));
    fs::rename(path, &aside).map_err(|error| failed(path, "cannot be set aside", error))?;
    tracing::warn!(
        file = %path.display(), aside = %aside.display(), why,
        "a file of the store cannot be used; it is set aside, and what was in it begins anew"
    );
    Ok(())
}

fn make_key(path: &Path) -> io::Result<StoreKey> {
    let key = StoreKey::random()?;
    // A name of its own: another process may be at the same.
    let temporary = beside(path, &format!(".{:016x}.tmp", fastrand::u64(..)));
    // Unlike a rename a link never replaces what is there.
    let linked = written(&temporary, format!("{}\n", key.write()).as_bytes())
        .and_then(|()| fs::hard_link(&temporary, path));
    let _ = fs::remove_file(&temporary);
    linked.and_then(|()| sync_folder(path)).map(|()| key)
}

fn written(path: &Path, text: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        // What is left of a process that was killed, or nothing.
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// Without this the new name may be gone after a power cut.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn failed(path: &Path, what: &str, error: io::Error) -> StoreError {
    StoreError::new(format!("file {} {what}", path.display())).because(error)
}
