/// A set of small numbers that finds the next member after any number in O(log64 n): words of 64 bits, and
/// above each level another that marks the words that are not empty. 100 000 numbers take three levels and 13
/// KB.
#[derive(Clone, Debug)]
pub(super) struct BitSet {
    levels: Vec<Box<[u64]>>,
}

impl BitSet {
    /// An empty set with room for `0..len`.
    pub(super) fn new(len: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = len.div_ceil(64).max(1);
        loop {
            levels.push(vec![0; words].into_boxed_slice());
            if words == 1 {
                return Self { levels };
            }
            words = words.div_ceil(64);
        }
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.levels[0][number / 64] & (1 << (number % 64)) != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.levels.last().is_none_or(|top| top[0] == 0)
    }

    /// Puts a number in; nothing changes if it is in.
    pub(super) fn insert(&mut self, mut number: usize) {
        for level in &mut self.levels {
            let word = &mut level[number / 64];
            let was_empty = *word == 0;
            *word |= 1 << (number % 64);
            if !was_empty {
                return;
            }
            number /= 64;
        }
    }

    /// Takes a number out; nothing changes if it is not in.
    pub(super) fn remove(&mut self, mut number: usize) {
        for level in &mut self.levels {
            let word = &mut level[number / 64];
            *word &= !(1 << (number % 64));
            if *word != 0 {
                return;
            }
            number /= 64;
        }
    }

    /// The least member that is `from` or more.
    pub(super) fn next_from(&self, from: usize) -> Option<usize> {
        let mut number = from;
        let mut height = 0;
        let mut found = loop {
            let word = *self.levels.get(height)?.get(number / 64)? & (u64::MAX << (number % 64));
            if word != 0 {
                break number / 64 * 64 + word.trailing_zeros() as usize;
            }
            // Nothing left in this word: one level up, look for the next word that is not empty.
            number = number / 64 + 1;
            height += 1;
        };
        for level in self.levels[..height].iter().rev() {
            found = found * 64 + level[found].trailing_zeros() as usize;
        }
        Some(found)
    }

    /// The least member that is `from` or more, or else the least of all.
    pub(super) fn next_around(&self, from: usize) -> Option<usize> {
        self.next_from(from).or_else(|| self.next_from(0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_an_ordered_set_finds(
            len in prop::sample::select(vec![1_usize, 63, 64, 65, 4096, 4097, 270_000]),
            steps in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<prop::sample::Index>()), 1..200),
        ) {
            let mut set = BitSet::new(len);
            let mut model = BTreeSet::new();
            for (number, put_in, from) in steps {
                let (number, from) = (number.index(len), from.index(len + 1));
                if put_in {
                    set.insert(number);
                    model.insert(number);
                } else {
                    set.remove(number);
                    model.remove(&number);
                }
                prop_assert_eq!(set.contains(number), put_in);
                prop_assert_eq!(set.is_empty(), model.is_empty());
                prop_assert_eq!(set.next_from(from), model.range(from..).next().copied());
                prop_assert_eq!(set.next_around(from), model.range(from..).next().or_else(|| model.first()).copied());
            }
        }
    }
}
