/// The lendable tokens' weights as a Fenwick tree: a draw in proportion to them in O(log n).
#[derive(Debug)]
pub(in crate::pool) struct Fenwick {
    weights: Vec<u32>,
    lendable: Vec<bool>,
    /// Node `i` (from 1) holds the sum of the lendable weights of the `i & -i` tokens that end with token `i
    /// - 1`.
    nodes: Vec<u64>,
    total: u64,
}

impl Fenwick {
    pub(super) fn new(weights: Vec<u32>) -> Self {
        let tokens = weights.len();
        Self { weights, lendable: vec![false; tokens], nodes: vec![0; tokens + 1], total: 0 }
    }

    pub(super) fn insert(&mut self, token: usize) {
        if !std::mem::replace(&mut self.lendable[token], true) {
            let weight = u64::from(self.weights[token]);
            self.total += weight;
            self.each_node(token, |sum| *sum += weight);
        }
    }

    pub(super) fn remove(&mut self, token: usize) {
        if std::mem::replace(&mut self.lendable[token], false) {
            let weight = u64::from(self.weights[token]);
            self.total -= weight;
            self.each_node(token, |sum| *sum -= weight);
        }
    }

    /// Any of them, as likely as its weight says.
    pub(super) fn any(&self, entropy: u64) -> Option<usize> {
        if self.total == 0 {
            return None;
        }
        let scaled = (u128::from(self.total) * u128::from(entropy)) >> 64;
        let mut rest = u64::try_from(scaled).unwrap_or(0);
        let mut node = 0;
        let mut step = self.weights.len().next_power_of_two();
        while step > 0 {
            if let Some(&sum) = self.nodes.get(node + step).filter(|&&sum| sum <= rest) {
                rest -= sum;
                node += step;
            }
            step /= 2;
        }
        Some(node)
    }

    fn each_node(&mut self, token: usize, change: impl Fn(&mut u64)) {
        let mut node = token + 1;
        while let Some(sum) = self.nodes.get_mut(node) {
            change(sum);
            node += node & node.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_drawn_as_often_as_its_weight_says() {
        for tokens in [1, 2, 3, 5, 8, 13] {
            let weights: Vec<u32> = (1..=tokens).collect();
            let mut fenwick = Fenwick::new(weights.clone());
            assert_eq!(fenwick.any(0), None);
            (0..weights.len()).for_each(|token| fenwick.insert(token));
            fenwick.insert(0);
            let absent = weights.len() / 2;
            fenwick.remove(absent);
            fenwick.remove(absent);
            let total: u32 = weights.iter().sum::<u32>() - weights[absent];
            let mut drawn = vec![0; weights.len()];
            for ticket in 0..u64::from(total) {
                // The middle of each ticket's share of the 64 bits.
                let entropy = (2 * ticket + 1) * (u64::MAX / (2 * u64::from(total)));
                drawn[fenwick.any(entropy).unwrap()] += 1;
            }
            let mut expected = weights;
            expected[absent] = 0;
            assert_eq!(drawn, expected, "{tokens} tokens");
        }
    }
}
