//! Where settings come from.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

/// All that [`load`](crate::load) looks at. Nothing else is read, so the same sources give the same settings.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The environment.
    pub env: Vec<(OsString, OsString)>,
    /// `.env` in the working directory, if there is one.
    pub dotenv: Option<SourceFile>,
    /// The TOML file, if there is one.
    pub file: Option<SourceFile>,
    /// How the files that settings name (token files) are read.
    pub files: Files,
}

/// A file that was read, or why it could not be.
#[derive(Clone)]
pub struct SourceFile {
    /// Its path, as it was given.
    pub path: PathBuf,
    /// Its bytes, or what the system said.
    pub content: Result<Vec<u8>, String>,
}

/// How the files that settings name are read.
#[derive(Clone, Debug, Default)]
pub enum Files {
    /// From the disk.
    #[default]
    Disk,
    /// From here, for tests.
    Memory(BTreeMap<PathBuf, Vec<u8>>),
}

impl std::fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceFile").field("path", &self.path).finish_non_exhaustive()
    }
}
