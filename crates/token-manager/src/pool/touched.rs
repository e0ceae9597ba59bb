/// What of a token has changed in a way that others may have to know: a set of a few bits, so that a record
/// stays small and the common case is one comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touched(u8);

impl Touched {
    pub(super) const NOTHING: Self = Self(0);
    pub(super) const ALL: Self = Self(31);
    /// A rest has begun or grown.
    pub(super) const RESTED: Self = Self(1);
    /// Everything of before is void: a reset.
    pub(super) const CLEARED: Self = Self(2);
    /// A probe has succeeded.
    pub(super) const RECOVERED: Self = Self(4);
    /// An operator has barred it, or allowed it again.
    pub(super) const BARRED: Self = Self(8);
    /// What is known of its limit is other than what was told.
    pub(super) const LEARNED: Self = Self(16);

    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn any(self) -> bool {
        self.0 != 0
    }
}
