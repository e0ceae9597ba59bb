//! What a token's leases share with its pool.

use std::fmt;
use std::sync::atomic::AtomicU64 as PlainU64;
use std::sync::{Arc, Weak};

use crate::manager::Shared;
use crate::sync::{AtomicU16, AtomicU32, AtomicU64, Mutex, Ordering, PoisonError};
use crate::{Outcome, Report, Token, TokenId};

/// What all tokens of a pool share: where the lock is, and whether every event has to pass it.
#[derive(Debug, Default)]
pub(crate) struct Home {
    pub(crate) pool: Weak<Shared>,
    alert: AtomicU32,
}

impl Home {
    pub(crate) fn of(pool: Weak<Shared>) -> Self {
        Self { pool, alert: AtomicU32::new(0) }
    }

    /// A lane wants every event of every token to pass the lock. What depends on it is read after this.
    pub(crate) fn raise_alert(&self) {
        self.alert.fetch_add(1, Ordering::AcqRel);
    }

    /// The lane wants it no more.
    pub(crate) fn end_alert(&self) {
        self.alert.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A token's secret, and the counts that change without the pool's lock.
///
/// Most attempts say of a healthy token only that it works, and then end. While nothing in the pool depends on
/// that, the token is *unattended*: its leases count here and leave the lock alone. How many leases have ended and
/// whether anybody attends stand in one word: a lease that ends learns in the same step whether the pool must
/// hear of it, and whoever begins to attend sees every end that did not see it.
///
/// The order is the memory's: what a round touches comes first, next to the counts of the `Arc`, and most often in
/// one line of a cache with them.
#[repr(C)]
pub(crate) struct Entry {
    /// Low half: how many of the pool's lanes attend to the token. High half: how many leases have ended, which
    /// begins anew after four billion.
    ended_and_attention: AtomicU64,
    successes: AtomicU64,
    pub(crate) home: Arc<Home>,
    /// How many leases have begun, in the same count: changed under the lock alone.
    begun: AtomicU32,
    /// 0 before the first response.
    last_status: AtomicU16,
    pub(crate) value: Token,
    /// Changed by a new key alone, under the lock.
    id: PlainU64,
    /// Boxed twice: most tokens have none, and a thin pointer takes half the room.
    name: Mutex<Option<Box<Box<str>>>>,
}

const ENDED: u64 = 1 << 32;

impl Entry {
    pub(crate) fn new(id: TokenId, value: Token, name: Option<String>, home: Arc<Home>) -> Self {
        Self {
            id: u64::from_be_bytes(id.to_bytes()).into(),
            value,
            home,
            name: Mutex::new(name.map(boxed)),
            successes: AtomicU64::new(0),
            ended_and_attention: AtomicU64::new(0),
            begun: AtomicU32::new(0),
            last_status: AtomicU16::new(0),
        }
    }

    pub(crate) fn id(&self) -> TokenId {
        TokenId::from_bytes(self.id.load(Ordering::Relaxed).to_be_bytes())
    }

    /// The id under another key.
    pub(crate) fn set_id(&self, id: TokenId) {
        self.id.store(u64::from_be_bytes(id.to_bytes()), Ordering::Relaxed);
    }

    pub(crate) fn name(&self) -> Option<String> {
        let name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        name.as_ref().map(ToString::to_string)
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|own| ***own == *name)
    }

    pub(crate) fn rename(&self, name: Option<String>) {
        let name = name.map(boxed);
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// How many leases are out, for whoever holds the lock.
    pub(crate) fn in_flight(&self) -> u32 {
        let ended = (self.ended_and_attention.load(Ordering::Acquire) >> 32) as u32;
        self.begun.load(Ordering::Relaxed).wrapping_sub(ended)
    }

    /// A lease begins, under the lock: nobody else writes this meanwhile, so that it is no step that other
    /// processors have to agree on.
    pub(crate) fn enter(&self) {
        let begun = self.begun.load(Ordering::Relaxed);
        self.begun.store(begun.wrapping_add(1), Ordering::Relaxed);
    }

    /// A lease has ended. Returns whether the pool must hear of it.
    pub(crate) fn leave(&self) -> Hears {
        self.hears(self.ended_and_attention.fetch_add(ENDED, Ordering::AcqRel))
    }

    /// Reads what a lease will count in.
    pub(crate) fn look(&self) -> u64 {
        self.ended_and_attention
            .load(Ordering::Relaxed)
            .wrapping_add(self.begun.load(Ordering::Relaxed).into())
    }

    pub(crate) fn successes(&self) -> u64 {
        self.successes.load(Ordering::Relaxed)
    }

    /// What people are shown goes on from where another value's was.
    pub(crate) fn inherit(&self, old: &Self) {
        // In each lane of the pool once: not a sum.
        self.successes.store(old.successes(), Ordering::Relaxed);
        self.last_status.store(old.last_status.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(crate) fn last_status(&self) -> Option<u16> {
        Some(self.last_status.load(Ordering::Relaxed)).filter(|&status| status != 0)
    }

    /// Counts what people are shown of a report. The pool hears of it apart from this.
    pub(crate) fn note(&self, report: &Report) {
        if let Some(status) = report.status {
            self.last_status.store(status, Ordering::Relaxed);
        }
        if report.outcome == Outcome::Success {
            self.successes.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn who_hears(&self) -> Hears {
        self.hears(self.ended_and_attention.load(Ordering::Acquire))
    }

    fn hears(&self, ended_and_attention: u64) -> Hears {
        let attended = ended_and_attention % ENDED != 0;
        if attended || self.home.alert.load(Ordering::Acquire) != 0 { Hears::Pool } else { Hears::Nobody }
    }

    /// A lane of the pool begins to attend to the token. How many leases are out it must read after this.
    pub(crate) fn attend(&self) {
        self.ended_and_attention.fetch_add(1, Ordering::AcqRel);
    }

    /// A lane of the pool attends to the token no more.
    pub(crate) fn neglect(&self) {
        self.ended_and_attention.fetch_sub(1, Ordering::AcqRel);
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("id", &self.id()).finish_non_exhaustive()
    }
}

fn boxed(name: String) -> Box<Box<str>> {
    Box::new(name.into_boxed_str())
}

/// Who must be told of an unremarkable event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hears {
    Nobody,
    Pool,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_leases_goes_on_past_its_end() {
        let entry = Entry::new(TokenId::from_bytes([1; 8]), Token::new("a"), None, Arc::default());
        entry.begun.store(u32::MAX, Ordering::Relaxed);
        entry.ended_and_attention.store(u64::from(u32::MAX) << 32, Ordering::Relaxed);
        assert_eq!(entry.in_flight(), 0);
        entry.attend();
        entry.enter();
        entry.enter();
        assert_eq!((entry.in_flight(), entry.leave(), entry.in_flight()), (2, Hears::Pool, 1));
        entry.neglect();
        assert_eq!((entry.leave(), entry.in_flight()), (Hears::Nobody, 0));
    }
}
