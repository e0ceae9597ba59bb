use std::hash::{BuildHasherDefault, Hasher};

use super::small;
use crate::TokenId;

/// Of maps by id.
pub(super) type IdHash = BuildHasherDefault<IdHasher>;

/// Ids are pieces of an HMAC under a secret key: already spread, and not for outsiders to choose.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

const EMPTY: u32 = u32::MAX;

/// Where each token stands in the settings' order: a table of indices with open addressing, at most four fifths
/// full. It holds no ids: who asks knows the id at an index, which saves 16 bytes a token.
#[derive(Debug, Default)]
pub(super) struct Places {
    slots: Box<[u32]>,
}

impl Places {
    /// An empty table for so many.
    pub(super) fn with_room_for(tokens: usize) -> Self {
        let slots = (tokens + tokens / 4 + 1).next_power_of_two();
        Self { slots: vec![EMPTY; slots].into() }
    }

    /// The index of an id.
    pub(super) fn get(&self, id: TokenId, id_at: impl Fn(usize) -> TokenId) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.first(id);
        loop {
            let index = self.slots[slot];
            if index == EMPTY {
                return None;
            }
            if id_at(index as usize) == id {
                return Some(index as usize);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Enters an id that is not in yet.
    pub(super) fn insert(&mut self, id: TokenId, index: usize) {
        let mut slot = self.first(id);
        while self.slots[slot] != EMPTY {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = small(index);
    }

    fn first(&self, id: TokenId) -> usize {
        let spread = u64::from_be_bytes(id.to_bytes());
        usize::try_from(spread & (self.slots.len() as u64 - 1)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_is_found_where_it_was_put_and_no_other() {
        for tokens in [0_usize, 1, 2, 3, 100, 1000] {
            // Ids that all begin at few slots: every way of colliding occurs.
            let ids: Vec<TokenId> =
                (0..tokens as u64).map(|n| TokenId::from_bytes((n % 7 + (n << 32)).to_be_bytes())).collect();
            let mut places = Places::with_room_for(tokens);
            for (index, &id) in ids.iter().enumerate() {
                assert_eq!(places.get(id, |at| ids[at]), None);
                places.insert(id, index);
            }
            for (index, &id) in ids.iter().enumerate() {
                assert_eq!(places.get(id, |at| ids[at]), Some(index), "{tokens} tokens");
            }
            assert_eq!(places.get(TokenId::from_bytes([0xff; 8]), |at| ids[at]), None);
        }
        assert_eq!(Places::default().get(TokenId::from_bytes([1; 8]), |_| unreachable!()), None);
    }
}
