use crate::pool::bits::BitSet;
use crate::pool::small;

const EMPTY: u32 = u32::MAX;

/// The tokens in the order of their latest use. Each use takes the next position; a token that rests keeps
/// its own with its bit cleared, so that it comes back where it belongs. When the positions are used up they
/// are counted anew: every n uses, in O(n).
#[derive(Debug)]
pub(in crate::pool) struct UseOrder {
    lendable: BitSet,
    at: Vec<u32>,
    position: Vec<u32>,
    next: usize,
    /// With weights: each token's weight, and the lends left until its use counts. Empty without.
    weights: Vec<u32>,
    left: Vec<u32>,
}

impl UseOrder {
    /// The tokens in this order, the longest unused first. `weights` is empty where all are 1.
    pub(super) fn new(order: &[usize], weights: Vec<u32>) -> Self {
        let positions = (2 * order.len()).max(64);
        let mut this = Self {
            lendable: BitSet::new(positions),
            at: vec![EMPTY; positions],
            position: vec![0; order.len()],
            next: order.len(),
            left: weights.clone(),
            weights,
        };
        for (position, &token) in order.iter().enumerate() {
            this.at[position] = small(token);
            this.position[token] = small(position);
        }
        this
    }

    pub(super) fn insert(&mut self, token: usize) {
        self.lendable.insert(self.position[token] as usize);
    }

    pub(super) fn remove(&mut self, token: usize) {
        self.lendable.remove(self.position[token] as usize);
    }

    pub(super) fn next(&mut self) -> Option<usize> {
        let token = self.at[self.lendable.next_from(0)?] as usize;
        self.used(token);
        Some(token)
    }

    pub(super) fn used(&mut self, token: usize) {
        if let Some(left) = self.left.get_mut(token) {
            *left -= 1;
            if *left > 0 {
                return;
            }
            *left = self.weights[token];
        }
        if self.next == self.at.len() {
            self.renumber();
        }
        let old = self.position[token] as usize;
        let was_lendable = self.lendable.contains(old);
        self.lendable.remove(old);
        self.at[old] = EMPTY;
        self.at[self.next] = small(token);
        self.position[token] = small(self.next);
        if was_lendable {
            self.lendable.insert(self.next);
        }
        self.next += 1;
    }

    fn renumber(&mut self) {
        let mut free = 0;
        for old in 0..self.at.len() {
            let token = self.at[old];
            if token == EMPTY {
                continue;
            }
            if old != free {
                self.at[free] = token;
                self.at[old] = EMPTY;
                self.position[token as usize] = small(free);
                if self.lendable.contains(old) {
                    self.lendable.remove(old);
                    self.lendable.insert(free);
                }
            }
            free += 1;
        }
        self.next = free;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_rested_comes_back_where_its_last_use_puts_it() {
        let mut order = UseOrder::new(&[0, 1, 2], Vec::new());
        (0..3).for_each(|token| order.insert(token));
        assert_eq!([order.next(), order.next(), order.next()], [Some(0), Some(1), Some(2)]);
        order.remove(1);
        assert_eq!([order.next(), order.next(), order.next()], [Some(0), Some(2), Some(0)]);
        order.insert(1);
        assert_eq!([order.next(), order.next(), order.next()], [Some(1), Some(2), Some(0)]);
    }

    #[test]
    fn the_order_survives_its_renumbering() {
        let mut order = UseOrder::new(&[0, 1, 2, 3], Vec::new());
        (0..4).for_each(|token| order.insert(token));
        order.remove(2);
        let lent: Vec<_> = (0..300).map(|_| order.next().unwrap()).collect();
        assert!(lent.chunks(3).all(|round| round == [0, 1, 3]), "{lent:?}");
        order.insert(2);
        assert_eq!(order.next(), Some(2));
    }

    #[test]
    fn a_weight_is_that_many_lends_before_the_use_counts() {
        let mut order = UseOrder::new(&[0, 1], vec![3, 1]);
        (0..2).for_each(|token| order.insert(token));
        let lent: Vec<_> = (0..8).map(|_| order.next().unwrap()).collect();
        assert_eq!(lent, [0, 0, 0, 1, 0, 0, 0, 1]);
    }
}
