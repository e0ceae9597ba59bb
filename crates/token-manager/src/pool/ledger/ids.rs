//! Under what ids a pool's tokens and groups are told.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::TokenId;
use crate::entry::Entry;
use crate::pool::{Places, Pool};

/// What makes a token's ids in different scopes different ones. It is put on and taken off in the same way, so that
/// who hears of an id need only look where it leads without the mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask(u64);

impl Mask {
    /// Without a scope ids are as they are.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn of_scope(scope: &str) -> Self {
        Self(hash("scope", scope))
    }

    pub(super) fn put_on(self, id: TokenId) -> TokenId {
        TokenId::from_bytes((u64::from_be_bytes(id.to_bytes()) ^ self.0).to_be_bytes())
    }

    pub(super) fn take_off(self, id: TokenId) -> TokenId {
        self.put_on(id)
    }
}

/// The id of a group's gate. Its name is no secret, so there is no key to it.
pub(in crate::pool) fn of_group(name: &str) -> TokenId {
    TokenId::from_bytes(hash("group", name).to_be_bytes())
}

fn hash(what: &str, name: &str) -> u64 {
    let digest: [u8; 32] =
        Sha256::new().chain_update(what).chain_update([0]).chain_update(name).finalize().into();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first)
}

impl Pool {
    /// Under what ids this lane's tokens are told, so many from the one at `from` on, and then its groups.
    pub(crate) fn told_ids(&self, from: usize, most: usize) -> Vec<TokenId> {
        let mask = self.ledger.as_ref().map_or(Mask::NONE, |ledger| ledger.mask);
        let tokens = self.records.iter().skip(from).map(|record| record.entry.id());
        let groups = self.groups.ids().iter().skip(from.saturating_sub(self.records.len())).copied();
        tokens.chain(groups).take(most).map(|id| mask.put_on(id)).collect()
    }

    /// Every token, those included that are gone but for leases that are out.
    pub(crate) fn entries(&self) -> Vec<Arc<Entry>> {
        self.records.iter().chain(self.retired.values()).map(|record| Arc::clone(&record.entry)).collect()
    }

    /// Ids have changed. Whoever knows a token by its old one still finds it.
    pub(crate) fn take_ids(&mut self, renamed: &[(TokenId, TokenId)]) {
        self.aliases.extend(renamed.iter().copied());
        self.places = Places::with_room_for(self.records.len());
        for (index, record) in self.records.iter().enumerate() {
            self.places.insert(record.entry.id(), index);
        }
        self.retired = self.retired.drain().map(|(_, record)| (record.entry.id(), record)).collect();
        let renamed = |id: TokenId| self.aliases.get(&id).copied().unwrap_or(id);
        if let Some(ledger) = &mut self.ledger {
            ledger.marks = ledger.marks.drain().map(|(id, marks)| (renamed(id), marks)).collect();
            ledger.untold.iter_mut().for_each(|id| *id = renamed(*id));
        }
    }
}
