use super::moment::Moment;
use super::small;

const ABSENT: u32 = u32::MAX;

/// The moments at which tokens become lendable by time alone: a binary min-heap with each token's place in
/// it, so that a moment that changes is changed where it stands. At most one entry a token, and none that is
/// out of date.
#[derive(Debug)]
pub(super) struct Wakes {
    heap: Vec<(Moment, u32)>,
    place: Vec<u32>,
}

impl Wakes {
    pub(super) fn new(tokens: usize) -> Self {
        Self { heap: Vec::new(), place: vec![ABSENT; tokens] }
    }

    /// The earliest moment and its token.
    pub(super) fn first(&self) -> Option<(Moment, usize)> {
        self.entry(0)
    }

    /// The moment of one token, if it waits for its time.
    pub(super) fn of(&self, token: usize) -> Option<Moment> {
        self.heap.get(self.place[token] as usize).map(|&(at, _)| at)
    }

    /// What stands at a node of the heap. Its children are at `2 * node + 1` and `2 * node + 2`, and never
    /// earlier.
    pub(super) fn entry(&self, node: usize) -> Option<(Moment, usize)> {
        self.heap.get(node).map(|&(at, token)| (at, token as usize))
    }

    /// Sets, moves or takes away a token's moment.
    pub(super) fn set(&mut self, token: usize, at: Option<Moment>) {
        let place = self.place[token];
        match at {
            None if place == ABSENT => {}
            None => self.remove(place as usize),
            Some(at) if place == ABSENT => {
                let node = self.heap.len();
                self.heap.push((at, small(token)));
                self.place[token] = small(node);
                self.rise(node);
            }
            Some(at) => {
                let node = place as usize;
                self.heap[node].0 = at;
                self.settle(node);
            }
        }
    }

    fn remove(&mut self, node: usize) {
        let (_, token) = self.heap.swap_remove(node);
        self.place[token as usize] = ABSENT;
        if node < self.heap.len() {
            self.place[self.heap[node].1 as usize] = small(node);
            self.settle(node);
        }
    }

    fn settle(&mut self, node: usize) {
        let node = self.rise(node);
        self.sink(node);
    }

    fn rise(&mut self, mut node: usize) -> usize {
        while node > 0 {
            let parent = (node - 1) / 2;
            if self.heap[parent].0 <= self.heap[node].0 {
                break;
            }
            self.swap(parent, node);
            node = parent;
        }
        node
    }

    fn sink(&mut self, mut node: usize) {
        loop {
            let mut least = node;
            for child in [2 * node + 1, 2 * node + 2] {
                if child < self.heap.len() && self.heap[child].0 < self.heap[least].0 {
                    least = child;
                }
            }
            if least == node {
                return;
            }
            self.swap(least, node);
            node = least;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[self.heap[a].1 as usize] = small(a);
        self.place[self.heap[b].1 as usize] = small(b);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_the_earliest_and_nothing_stale_stays(
            steps in prop::collection::vec((0_usize..12, prop::option::of(0_u64..50)), 1..300),
        ) {
            let mut wakes = Wakes::new(12);
            let mut model = [None; 12];
            for (token, at) in steps {
                let at = at.map(|at| Moment::BEFORE.after(Duration::from_secs(at)));
                wakes.set(token, at);
                model[token] = at;
                prop_assert_eq!(wakes.first().map(|(at, _)| at), model.iter().flatten().min().copied());
                prop_assert_eq!(wakes.heap.len(), model.iter().flatten().count());
                if let Some((at, token)) = wakes.first() {
                    prop_assert_eq!(model[token], Some(at));
                }
            }
        }
    }
}
