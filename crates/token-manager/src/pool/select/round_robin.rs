use crate::pool::bits::BitSet;

/// The settings' order, round and round, for tokens of even weights.
#[derive(Debug)]
pub(in crate::pool) struct RoundRobin {
    lendable: BitSet,
    cursor: usize,
}

impl RoundRobin {
    pub(super) fn new(tokens: usize, cursor: usize) -> Self {
        Self { lendable: BitSet::new(tokens), cursor }
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn insert(&mut self, token: usize) {
        self.lendable.insert(token);
    }

    pub(super) fn remove(&mut self, token: usize) {
        self.lendable.remove(token);
    }

    pub(super) fn next(&mut self) -> Option<usize> {
        let token = self.lendable.next_around(self.cursor)?;
        self.cursor = token + 1;
        Some(token)
    }
}
