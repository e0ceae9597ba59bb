use super::below;
use crate::pool::small;

const ABSENT: u32 = u32::MAX;

/// The lendable tokens without gaps, in no order: any of them can be drawn at once.
#[derive(Debug)]
pub(in crate::pool) struct Dense {
    tokens: Vec<u32>,
    place: Vec<u32>,
}

impl Dense {
    pub(super) fn new(tokens: usize) -> Self {
        Self { tokens: Vec::with_capacity(tokens), place: vec![ABSENT; tokens] }
    }

    pub(super) fn insert(&mut self, token: usize) {
        if self.place[token] == ABSENT {
            self.place[token] = small(self.tokens.len());
            self.tokens.push(small(token));
        }
    }

    pub(super) fn remove(&mut self, token: usize) {
        let place = self.place[token];
        if place != ABSENT {
            self.place[token] = ABSENT;
            self.tokens.swap_remove(place as usize);
            if let Some(&moved) = self.tokens.get(place as usize) {
                self.place[moved as usize] = place;
            }
        }
    }

    /// Any of them.
    pub(super) fn any(&self, entropy: u64) -> Option<usize> {
        let (high, _) = halves(entropy);
        self.tokens.get(below(self.tokens.len(), high)).map(|&token| token as usize)
    }

    /// Two of them, if there are two.
    pub(super) fn two(&self, entropy: u64) -> Option<[usize; 2]> {
        let others = self.tokens.len().checked_sub(1).filter(|&others| others > 0)?;
        let (high, low) = halves(entropy);
        let first = below(others + 1, high);
        let other = below(others, low);
        let second = other + usize::from(other >= first);
        Some([first, second].map(|place| self.tokens[place] as usize))
    }

    /// Two of them, and of these the one with fewer leases for its weight; where both have as many, each as
    /// likely as it is heavy. `load` tells a token's leases and its weight.
    pub(super) fn less_loaded_of_two(
        &self,
        entropy: u64,
        load: impl Fn(usize) -> (u32, u32),
    ) -> Option<usize> {
        let Some([first, second]) = self.two(entropy) else { return self.any(entropy) };
        let ((first_out, first_weight), (second_out, second_weight)) = (load(first), load(second));
        let first_load = u64::from(first_out) * u64::from(second_weight);
        let second_load = u64::from(second_out) * u64::from(first_weight);
        let first_wins = match first_load.cmp(&second_load) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            // The pair is in a random order already, so that even weights need no third draw.
            std::cmp::Ordering::Equal if first_weight == second_weight => true,
            std::cmp::Ordering::Equal => {
                // Bits that neither draw has used up: the lowest of a product with an odd constant (Fibonacci
                // hashing).
                let (third, _) = halves(entropy.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let both = (first_weight as usize).saturating_add(second_weight as usize);
                below(both, third) < first_weight as usize
            }
        };
        Some(if first_wins { first } else { second })
    }
}

fn halves(entropy: u64) -> (u32, u32) {
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    let low = entropy as u32;
    let high = (entropy >> 32) as u32;
    (high, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_and_go() {
        let mut dense = Dense::new(3);
        for token in [0, 1, 2, 1] {
            dense.insert(token);
        }
        dense.remove(0);
        dense.remove(0);
        let drawn: Vec<_> = [0, u64::MAX].map(|entropy| dense.any(entropy)).into();
        assert_eq!(drawn, [Some(2), Some(1)]);
        dense.remove(2);
        dense.remove(1);
        assert_eq!(dense.any(7), None);
        assert_eq!(dense.less_loaded_of_two(7, |_| (0, 1)), None);
    }

    #[test]
    fn the_less_loaded_of_any_two_wins_by_its_weight() {
        let mut dense = Dense::new(2);
        dense.insert(0);
        dense.insert(1);
        let mut random = fastrand::Rng::with_seed(1);
        for (loads, winner) in [([(2, 1), (1, 1)], 1), ([(2, 3), (1, 1)], 0), ([(0, 1), (1, 9)], 0)] {
            for _ in 0..50 {
                assert_eq!(
                    dense.less_loaded_of_two(random.u64(..), |token| loads[token]),
                    Some(winner),
                    "{loads:?}"
                );
            }
        }
        let first = (0..10_000)
            .filter(|_| dense.less_loaded_of_two(random.u64(..), |token| [(0, 3), (0, 1)][token]) == Some(0))
            .count();
        assert!((7300..7700).contains(&first), "{first} of 10000 for a weight of 3 against 1, both idle");
    }
}
