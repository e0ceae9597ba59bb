use crate::pool::bits::BitSet;

/// Round-robin with weights. A round lends each token as often as its weight says, one lend at a time in the
/// settings' order, and begins again where it began: any stretch of lends as long as the weights' sum holds
/// each token exactly its share.
#[derive(Debug)]
pub(in crate::pool) struct Shares {
    /// Lendable tokens with lends left in this round.
    due: BitSet,
    /// Lendable tokens without: the next round's.
    spent: BitSet,
    cursor: usize,
    round: u64,
    turns: Vec<Turns>,
}

#[derive(Debug)]
struct Turns {
    weight: u32,
    /// Lends left in `round`; in any later one it is the whole weight again.
    left: u32,
    round: u64,
}

impl Shares {
    pub(super) fn new(weights: Vec<u32>, cursor: usize) -> Self {
        let tokens = weights.len();
        let turns = weights.into_iter().map(|weight| Turns { weight, left: weight, round: 0 }).collect();
        Self { due: BitSet::new(tokens), spent: BitSet::new(tokens), cursor, round: 0, turns }
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn insert(&mut self, token: usize) {
        let turns = &self.turns[token];
        if turns.round == self.round && turns.left == 0 {
            self.spent.insert(token);
        } else {
            self.due.insert(token);
        }
    }

    pub(super) fn remove(&mut self, token: usize) {
        self.due.remove(token);
        self.spent.remove(token);
    }

    pub(super) fn next(&mut self) -> Option<usize> {
        if self.due.is_empty() {
            std::mem::swap(&mut self.due, &mut self.spent);
            self.round += 1;
            self.cursor = 0;
        }
        let token = self.due.next_around(self.cursor)?;
        self.cursor = token + 1;
        let turns = &mut self.turns[token];
        if turns.round != self.round {
            turns.left = turns.weight;
            turns.round = self.round;
        }
        turns.left -= 1;
        if turns.left == 0 {
            self.due.remove(token);
            self.spent.insert(token);
        }
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lends(shares: &mut Shares, n: usize) -> Vec<usize> {
        (0..n).map(|_| shares.next().unwrap()).collect()
    }

    #[test]
    fn any_stretch_of_lends_holds_each_token_its_share() {
        for weights in [vec![3, 1], vec![1, 3], vec![5, 3, 2], vec![1, 1, 7], vec![2, 2]] {
            let mut shares = Shares::new(weights.clone(), 0);
            (0..weights.len()).for_each(|token| shares.insert(token));
            let sum = weights.iter().sum::<u32>() as usize;
            for stretch in lends(&mut shares, 20 * sum).windows(sum) {
                for (token, &weight) in weights.iter().enumerate() {
                    let share = stretch.iter().filter(|&&lent| lent == token).count();
                    assert_eq!(share, weight as usize, "token {token} of {weights:?} in {stretch:?}");
                }
            }
        }
    }

    #[test]
    fn turns_are_spread_over_the_round() {
        let mut shares = Shares::new(vec![2, 2, 1], 0);
        (0..3).for_each(|token| shares.insert(token));
        assert_eq!(lends(&mut shares, 10), [0, 1, 2, 0, 1, 0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_token_that_comes_and_goes_gets_no_second_share_in_a_round() {
        let mut shares = Shares::new(vec![1, 2], 0);
        shares.insert(0);
        shares.insert(1);
        assert_eq!(shares.next(), Some(0));
        shares.remove(0);
        shares.insert(0);
        assert_eq!(lends(&mut shares, 3), [1, 1, 0]);
    }
}
