//! What requests paid in over the last ten seconds.

use core::time::Duration;

use super::Budget;

/// Deposits that lie no further apart than this share a slot and expire with its first: 50 ms early at most.
const SLOT: Duration = Duration::from_millis(50);

/// Slots begin at least [`SLOT`] apart and live for [`Budget::WINDOW`]: this many at once, never more.
const SLOTS: usize = 200;

/// The most that all slots together hold. Sums of this and a reserve then need no check.
const AT_MOST: u64 = 1 << 63;

const _: () = assert!(SLOT.as_nanos() * SLOTS as u128 == Budget::WINDOW.as_nanos());

#[derive(Clone, Copy, Debug)]
struct Slot {
    first: Duration,
    left: u64,
}

/// A ring of slots, the oldest at `head`.
#[derive(Clone, Debug)]
pub(super) struct Deposits {
    slots: [Slot; SLOTS],
    head: usize,
    len: usize,
    total: u64,
}

impl Deposits {
    pub(super) const fn new() -> Self {
        Self { slots: [Slot { first: Duration::ZERO, left: 0 }; SLOTS], head: 0, len: 0, total: 0 }
    }

    /// What is left of all deposits, also of those that [`expire`](Self::expire) has not looked at.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// What is left of the deposits that are good at `now`.
    pub(super) fn total_at(&self, now: Duration) -> u64 {
        let expired: u64 = self.live().take_while(|slot| slot.expired(now)).map(|slot| slot.left).sum();
        self.total - expired
    }

    /// Adds a deposit. `now` is never before an earlier one's.
    pub(super) fn add(&mut self, now: Duration, amount: u64) {
        self.expire(now);
        let amount = amount.min(AT_MOST - self.total);
        self.total += amount;
        if let Some(newest) = self.len.checked_sub(1) {
            let newest = &mut self.slots[(self.head + newest) % SLOTS];
            if now - newest.first < SLOT {
                newest.left += amount;
                return;
            }
        }
        // A free slot is left: every live one is younger than the window, and they lie SLOT apart.
        self.slots[(self.head + self.len) % SLOTS] = Slot { first: now, left: amount };
        self.len += 1;
    }

    /// Takes up to `amount`, the oldest first, and returns what is still owed.
    pub(super) fn take(&mut self, mut amount: u64) -> u64 {
        while amount > 0 && self.len > 0 {
            let oldest = &mut self.slots[self.head];
            let part = amount.min(oldest.left);
            oldest.left -= part;
            self.total -= part;
            amount -= part;
            if oldest.left > 0 {
                break;
            }
            self.drop_oldest();
        }
        amount
    }

    /// Forgets what is older than the window.
    pub(super) fn expire(&mut self, now: Duration) {
        while self.len > 0 && self.slots[self.head].expired(now) {
            self.total -= self.slots[self.head].left;
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        self.head = (self.head + 1) % SLOTS;
        self.len -= 1;
    }

    fn live(&self) -> impl Iterator<Item = &Slot> {
        (0..self.len).map(|index| &self.slots[(self.head + index) % SLOTS])
    }
}

impl Slot {
    fn expired(&self, now: Duration) -> bool {
        now.saturating_sub(self.first) >= Budget::WINDOW
    }
}
