//! The one place that names what threads share: std's by default, loom's where a loom test runs every
//! interleaving (`cargo xtask loom`). `Arc` is std's in both: nothing here depends on when one is freed.

#[cfg(loom)]
pub(crate) mod loomed;

#[cfg(loom)]
pub(crate) use loomed::{
    AtomicU16, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError, Timer, now,
};

#[cfg(not(loom))]
mod plain;

#[cfg(not(loom))]
pub(crate) use plain::{
    AtomicU16, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError, Timer, now,
};
