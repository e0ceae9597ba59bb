//! The room that held bodies share.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The memory that all held request bodies share. Clones are the same memory.
#[derive(Clone)]
pub struct ReplayMemory(Arc<Shared>);

struct Shared {
    limit: usize,
    used: AtomicUsize,
}

impl ReplayMemory {
    /// Room for `bytes` of held bodies, all together.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Shared { limit: bytes, used: AtomicUsize::new(0) }))
    }

    /// How many bytes are held now.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }
}

impl Default for ReplayMemory {
    /// 64 MiB.
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl fmt::Debug for ReplayMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayMemory").field("used", &self.used()).field("limit", &self.0.limit).finish()
    }
}

/// One body's part of the memory, given back when it is dropped.
pub(super) struct Reservation {
    memory: ReplayMemory,
    bytes: usize,
}

impl Reservation {
    pub(super) fn new(memory: &ReplayMemory) -> Self {
        Self { memory: memory.clone(), bytes: 0 }
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes `more` bytes, or none if there is no room for all of them.
    pub(super) fn grow(&mut self, more: usize) -> Result<(), NoRoom> {
        let Shared { limit, used } = &*self.memory.0;
        // A count alone: what it guards is each body's own.
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(more).filter(|sum| sum <= limit)
        })
        .map_err(|_| NoRoom)?;
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The body does not fit, into its own limit or into the shared memory.
#[derive(Debug)]
pub(super) struct NoRoom;
