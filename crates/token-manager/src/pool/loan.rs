use std::sync::Arc;

use super::gate::Pass;
use super::{Generation, Moment};
use crate::entry::Entry;

/// A token that was lent: what the pool needs to know it again.
#[derive(Debug)]
pub(crate) struct Loan {
    pub(crate) entry: Arc<Entry>,
    pub(crate) generation: Generation,
    /// Which of the pool's lanes lent it; 0 is the one without a scope.
    pub(crate) lane: u32,
    /// Where the token stood, and since which reload: while that is the latest, it stands there still.
    pub(super) index: u32,
    pub(super) epoch: u32,
    pub(super) lent: Moment,
    pub(super) is_probe: bool,
    /// Of the pool's gate, and of the group's.
    pub(super) passes: [Pass; 2],
}

/// Whether a lease told what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Outcome,
    Nothing,
}
