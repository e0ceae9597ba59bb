use std::collections::{HashMap, VecDeque};

use tidegate_token_manager::TokenId;

use super::Luck;

/// Seconds in a slot of a token's history.
pub(crate) const SLOT: u64 = 5;
/// Three minutes of them.
const KEPT: u64 = 36;

/// What became of a token's attempts within one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Its first second divided by [`SLOT`].
    pub(crate) number: u64,
    pub(crate) successes: u32,
    pub(crate) refusals: u32,
}

/// The histories of all tokens: a few numbers for each token that was lent.
#[derive(Debug, Default)]
pub(super) struct Histories(HashMap<TokenId, VecDeque<Slot>>);

impl Histories {
    pub(super) fn count(&mut self, token: TokenId, second: u64, luck: Luck) {
        let number = second / SLOT;
        let slots = self.0.entry(token).or_default();
        while slots.front().is_some_and(|slot| slot.number + KEPT <= number) {
            slots.pop_front();
        }
        // One that comes late, over a slot's edge, counts in the later slot.
        if slots.back().is_none_or(|slot| slot.number < number) {
            slots.push_back(Slot { number, ..Slot::default() });
        }
        if let Some(slot) = slots.back_mut() {
            match luck {
                Luck::Success => slot.successes = slot.successes.saturating_add(1),
                Luck::Refusal => slot.refusals = slot.refusals.saturating_add(1),
            }
        }
    }

    pub(super) fn of(&self, token: TokenId, second: u64) -> Vec<Slot> {
        let now = second / SLOT;
        let slots = self.0.get(&token).into_iter().flatten();
        slots.filter(|slot| slot.number + KEPT > now).copied().collect()
    }

    pub(super) fn keep(&mut self, is_known: impl Fn(TokenId) -> bool) {
        self.0.retain(|token, _| is_known(*token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_reaches_three_minutes_back() {
        let (one, other) = (TokenId::from_bytes([1; 8]), TokenId::from_bytes([2; 8]));
        let mut histories = Histories::default();
        for second in 0..1000 {
            histories.count(one, second, Luck::Success);
            histories.count(one, second, Luck::Refusal);
        }
        histories.count(other, 999, Luck::Refusal);
        let slots = histories.of(one, 999);
        assert_eq!((slots.len(), slots[0].number, slots[35].number), (36, 164, 199));
        assert!(slots.iter().all(|slot| (slot.successes, slot.refusals) == (5, 5)), "{slots:?}");
        assert_eq!(histories.of(other, 999), [Slot { number: 199, successes: 0, refusals: 1 }]);
        assert_eq!(histories.of(one, 999 + 90).len(), 18);
        assert_eq!(histories.of(one, 9999).len(), 0);

        histories.keep(|token| token == other);
        assert_eq!((histories.of(one, 999).len(), histories.of(other, 999).len()), (0, 1));
    }
}
