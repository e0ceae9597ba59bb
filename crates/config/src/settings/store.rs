use std::path::PathBuf;

use crate::secret::Secret;

/// Where state beyond the process is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// The place.
    pub place: StorePlace,
    /// The key under which tokens become ids. `None`: the store's own.
    pub key: Option<Secret>,
}

/// The place of a [`Store`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StorePlace {
    /// `memory:`, the process itself.
    #[default]
    Memory,
    /// `file:PATH`.
    File(PathBuf),
    /// `redis://`, `rediss://` or `unix://`; the URL may hold a password.
    Redis(Secret),
}
