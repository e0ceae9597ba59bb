//! Reading, setting aside, adding, and replacing, so that there is always a file that can be read.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tidegate_token_manager::{News, StoreError};

use super::format;
use crate::key::StoreKey;

/// No state of 100 000 tokens comes near this (it has 16 MB, and three times that before it is written anew); what is
/// longer is not ours.
const LONGEST: u64 = 256 * 1024 * 1024;
/// Files that were set aside are numbered up to this; then the last one is replaced.
const MOST_ASIDE: u32 = 100;

/// What is at a path.
pub(super) struct Found {
    pub(super) news: Vec<News>,
    /// None where there is no file, or none that can be added to.
    pub(super) log: Option<Log>,
    /// Something in it was no record. It is set aside whole.
    pub(super) was_damaged: bool,
}

/// The state at `path`; none where there is no file, or none that can be read.
pub(super) fn read(path: &Path) -> Result<Found, StoreError> {
    let nothing = Found { news: Vec::new(), log: None, was_damaged: false };
    let text = match bytes(path, LONGEST) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(nothing),
        Err(Trouble::Ours(error)) => return Err(error),
        Err(Trouble::File(why)) => return set_aside(path, &why, LOST).map(|()| nothing),
    };
    let read = match format::read(&text) {
        Ok(read) => read,
        Err(why) => return set_aside(path, &why.to_string(), LOST).map(|()| nothing),
    };
    if read.damaged > 0 {
        let why = format!("{} of its lines are no records", read.damaged);
        set_aside(path, &why, "what can be read of it is kept")?;
        return Ok(Found { news: read.news, log: None, was_damaged: true });
    }
    // One that cannot be opened to be added to may still be replaced.
    let log = if read.grows { Log::open(path, read.whole, text.len()).ok() } else { None };
    Ok(Found { news: read.news, log, was_damaged: false })
}

/// A file to whose end records are added.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    /// Of what is whole.
    length: u64,
    /// What follows that is to be taken away first.
    is_torn: bool,
    device: u64,
    inode: u64,
}

impl Log {
    fn open(path: &Path, whole: usize, length: usize) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).open(path)?;
        Self::of(file, whole as u64, whole < length)
    }

    fn of(file: File, length: u64, is_torn: bool) -> io::Result<Self> {
        let data = file.metadata()?;
        Ok(Self { file, length, is_torn, device: data.dev(), inode: data.ino() })
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Whether it is what is found there: it may have been moved or removed, and then nobody would read it again.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|data| (data.dev(), data.ino()) == (self.device, self.inode))
    }

    /// Adds records, all or none of them, and syncs.
    pub(super) fn append(&mut self, text: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.length)?;
        }
        self.is_torn = true;
        let written = self.file.write_all(text).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // A full disk has room again; and if this fails, it is tried again before what is written next.
            let _ = self.file.set_len(self.length);
        }
        written?;
        self.is_torn = false;
        self.length += text.len() as u64;
        Ok(())
    }
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
                set_aside(&path, &why, LOST)?;
                continue;
            }
        };
        match std::str::from_utf8(&text).ok().and_then(StoreKey::read) {
            Some(key) => return Ok(key),
            None => set_aside(&path, "it is no key: 64 hexadecimal digits", LOST)?,
        }
    }
}

/// A new file beside `path`, whole and synced, that holds these records.
pub(super) fn begin(path: &Path, records: &[u8]) -> Result<Log, StoreError> {
    let temporary = beside(path, ".tmp");
    let text = [&format::head(), records].concat();
    let begun = written(&temporary, &text).and_then(|file| Log::of(file, text.len() as u64, false));
    begun.map_err(|error| cannot_be_written(path, error))
}

/// Puts what was begun in the place of what is at `path`.
pub(super) fn install(path: &Path, begun: &Log) -> Result<(), StoreError> {
    let temporary = beside(path, ".tmp");
    if !begun.is_at(&temporary) {
        return Err(failed(
            path,
            "cannot be written",
            io::Error::other("another process has taken its place"),
        ));
    }
    let installed = fs::rename(&temporary, path).and_then(|()| sync_folder(path));
    installed.map_err(|error| cannot_be_written(path, error))
}

fn cannot_be_written(path: &Path, error: io::Error) -> StoreError {
    // A full disk has room again for what is written next.
    let _ = fs::remove_file(beside(path, ".tmp"));
    failed(path, "cannot be written", error)
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

/// What a file that is set aside means for the state.
const LOST: &str = "what was in it begins anew";

fn set_aside(path: &Path, why: &str, means: &str) -> Result<(), StoreError> {
    let name = |number| beside(path, &format!(".aside-{number}"));
    let free = (1..MOST_ASIDE).find(|number| fs::symlink_metadata(name(*number)).is_err());
    let aside = name(free.unwrap_or(MOST_ASIDE));
    fs::rename(path, &aside).map_err(|error| failed(path, "cannot be set aside", error))?;
    tracing::warn!(
        file = %path.display(), aside = %aside.display(), why,
        "a file of the store cannot be used; it is set aside, and {means}"
    );
    Ok(())
}

fn make_key(path: &Path) -> io::Result<StoreKey> {
    let key = StoreKey::random()?;
    // A name of its own: another process may be at the same.
    let temporary = beside(path, &format!(".{:016x}.tmp", fastrand::u64(..)));
    // Unlike a rename a link never replaces what is there.
    let linked = written(&temporary, format!("{}\n", key.write()).as_bytes())
        .and_then(|_| fs::hard_link(&temporary, path));
    let _ = fs::remove_file(&temporary);
    linked.and_then(|()| sync_folder(path)).map(|()| key)
}

fn written(path: &Path, text: &[u8]) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        // What is left of a process that was killed, or nothing.
        _ => {}
    }
    let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text)?;
    file.sync_all().map(|()| file)
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

pub(super) fn failed(path: &Path, what: &str, error: io::Error) -> StoreError {
    StoreError::new(format!("file {} {what}", path.display())).because(error)
}
