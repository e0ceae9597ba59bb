use std::sync::Arc;

use super::{Entry, Generation, Moment};

/// A token that was lent: what the pool needs to know it again.
#[derive(Debug)]
pub(crate) struct Loan {
    pub(crate) entry: Arc<Entry>,
    pub(crate) generation: Generation,
    /// Where the token stood, and since which reload: while that is the latest, it stands there still.
    pub(super) index: usize,
    pub(super) epoch: u64,
    pub(super) lent: Moment,
    pub(super) is_probe: bool,
}

/// Whether a lease told what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Outcome,
    Nothing,
}
