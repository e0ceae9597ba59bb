use std::sync::Arc;

use super::gate::Pass;
use super::limits::Lent;
use super::quota::Ended;
use super::{Generation, Moment};
use crate::entry::Entry;

/// A token that was lent: what the pool needs to know it again.
#[derive(Debug)]
pub(crate) struct Loan {
    pub(crate) entry: Arc<Entry>,
    pub(super) own: Pass,
    /// Which of the pool's lanes lent it; 0 is the one without a scope.
    pub(crate) lane: u32,
    /// Where the token stood, and since which reload: while that is the latest, it stands there still.
    pub(super) index: u32,
    pub(super) epoch: u32,
    /// Which of the token's lends it is, from 1 on; 0 is none of this lane's.
    pub(super) nth: u32,
    /// How many had ended before it, where the token's quota is counted.
    pub(super) ended: Option<Ended>,
    pub(super) lent: Moment,
    /// Of the pool's gate, and of the group's.
    pub(super) passes: [Pass; 2],
}

impl Loan {
    pub(crate) fn generation(&self) -> Generation {
        self.own.generation()
    }

    pub(super) fn when(&self) -> Lent {
        Lent { nth: self.nth, at: self.lent, ended: self.ended }
    }

    /// Whether it is the token's probe.
    pub(super) fn is_probe(&self) -> bool {
        self.own.is_probe()
    }
}

/// Whether a lease told what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Outcome,
    Nothing,
}
