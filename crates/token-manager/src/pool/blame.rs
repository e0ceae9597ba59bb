use std::time::Duration;

use super::gate::Gate;
use super::{Generation, Moment};
use crate::{Reason, TokenId};

/// Several tokens refused at once: is it each of them, or the address that they all are used from?
///
/// Refusals of at least three tokens (or of all, where there are only two) within a second of each other, of
/// one kind, and no success of an attempt that began meanwhile, are one limit on the address. Then the whole
/// pool takes one rest and sends one probe.
#[derive(Debug)]
pub(super) struct Blame {
    pub(super) gate: Gate,
    kind: Option<Reason>,
    /// The latest refusals of different tokens, the oldest first: at most as many as it takes.
    recent: Vec<Refusal>,
    /// Whose rests are the address's rather than their own.
    pub(super) blamed: Vec<TokenId>,
    /// When the oldest refusal of those that shut the gate was.
    since: Moment,
    /// Who was pardoned when the gate opened last.
    pardoned: Vec<TokenId>,
    /// The address was blamed wrongly: not again before this.
    acquitted_until: Moment,
}

#[derive(Debug)]
struct Refusal {
    token: TokenId,
    at: Moment,
    told: Duration,
}

impl Blame {
    const TOGETHER: Duration = Duration::from_secs(1);
    const ENOUGH: usize = 3;
    const ACQUITTED: Duration = Duration::from_secs(60);

    pub(super) fn new(generation: Generation) -> Self {
        Self {
            gate: Gate::new(generation),
            kind: None,
            recent: Vec::new(),
            blamed: Vec::new(),
            since: Moment::BEFORE,
            pardoned: Vec::new(),
            acquitted_until: Moment::BEFORE,
        }
    }

    /// What kind of fault the address, or the latest token, was refused by.
    pub(super) fn kind(&self) -> Reason {
        self.kind.unwrap_or(Reason::RateLimited)
    }

    /// Whether successes matter now.
    pub(super) fn watches(&self) -> bool {
        self.gate.is_shut() || !self.recent.is_empty()
    }

    /// Forgets what is too long ago to matter.
    pub(super) fn forget(&mut self, now: Moment) {
        self.recent.retain(|refusal| refusal.at.after(Self::TOGETHER) >= now);
    }

    /// A token was refused by a fault of its own. `tokens` is how many the pool has that are not disabled.
    /// Returns how long a rest they all were told, if that makes it the address's.
    pub(super) fn refused(
        &mut self,
        token: TokenId,
        kind: Reason,
        told: Duration,
        tokens: usize,
        at: Moment,
    ) -> Option<Duration> {
        if self.gate.is_shut() {
            if self.kind == Some(kind) && !self.blamed.contains(&token) {
                self.blamed.push(token);
            }
            return None;
        }
        if let Some(place) = self.pardoned.iter().position(|&pardoned| pardoned == token) {
            // Though another of them was granted what it asked: each has a limit of its own.
            self.pardoned.swap_remove(place);
            self.acquitted_until = at.after(Self::ACQUITTED);
        }
        if self.kind != Some(kind) {
            self.recent.clear();
            self.kind = Some(kind);
        }
        self.forget(at);
        self.recent.retain(|refusal| refusal.token != token);
        self.recent.push(Refusal { token, at, told });
        if self.recent.len() < tokens.min(Self::ENOUGH) || tokens < 2 {
            return None;
        }
        if at < self.acquitted_until {
            self.recent.remove(0);
            return None;
        }
        self.since = self.recent.first().map_or(at, |refusal| refusal.at);
        let told = self.recent.iter().map(|refusal| refusal.told).min();
        self.blamed = self.recent.drain(..).map(|refusal| refusal.token).collect();
        told
    }

    /// A lease that was lent then was a success, by another way than as the gate's probe: if it began since, that acquits the
    /// address.
    pub(super) fn succeeded(&mut self, lent: Moment, next: Generation, now: Moment) {
        if self.gate.is_shut() {
            if lent >= self.since {
                self.gate.open(next);
                self.blamed.clear();
                self.acquitted_until = now.after(Self::ACQUITTED);
            }
        } else if self.recent.first().is_some_and(|refusal| lent >= refusal.at) {
            self.recent.clear();
        }
    }

    /// Whose rests end with the address's: none where the tokens themselves were refused.
    pub(super) fn pardoned(&mut self) -> Vec<TokenId> {
        self.pardoned.clear();
        let blamed = std::mem::take(&mut self.blamed);
        if self.kind == Some(Reason::RateLimited) {
            self.pardoned.clone_from(&blamed);
        }
        self.pardoned.clone()
    }

    /// An operator has reset the tokens.
    pub(super) fn reset(&mut self, next: Generation) {
        *self = Self::new(next);
    }
}
