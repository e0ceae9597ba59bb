use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::TokenId;

/// Where each token stands in the settings' order.
pub(super) type Places = HashMap<TokenId, u32, IdHash>;
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
