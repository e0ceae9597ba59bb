//! Rests that tokens take together: those of a group, and those of a whole pool.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::gate::{Gate, Way};
use super::ledger::of_group;
use super::{Effect, Generation, IdHash, Loan, Moment, Pool, Surprise, small};
use crate::{Outcome, Reason, Report, TokenId};

/// The pool's groups: tokens that share a limit, as several keys of one organisation do.
#[derive(Debug, Default)]
pub(super) struct Groups {
    by_name: HashMap<Box<str>, NonZeroU32>,
    names: Vec<Box<str>>,
    /// Under which they are told.
    ids: Vec<TokenId>,
    by_id: HashMap<TokenId, NonZeroU32, IdHash>,
    gates: Vec<Gate>,
    /// By places in the settings' order.
    members: Vec<Vec<u32>>,
}

impl Groups {
    pub(super) fn gate(&mut self, group: NonZeroU32) -> &mut Gate {
        &mut self.gates[group.get() as usize - 1]
    }

    pub(super) fn name(&self, group: NonZeroU32) -> &str {
        &self.names[group.get() as usize - 1]
    }

    pub(super) fn id(&self, group: NonZeroU32) -> TokenId {
        self.ids[group.get() as usize - 1]
    }

    pub(super) fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    pub(super) fn with_id(&self, id: TokenId) -> Option<NonZeroU32> {
        self.by_id.get(&id).copied()
    }

    fn members(&self, group: NonZeroU32) -> &[u32] {
        &self.members[group.get() as usize - 1]
    }

    /// Before a reload: nobody is in a group. Their gates stay, but for probes that may be gone with their
    /// tokens.
    pub(super) fn empty(&mut self, next: Generation) {
        self.members.iter_mut().for_each(Vec::clear);
        self.gates.iter_mut().for_each(|gate| gate.void(next));
    }

    /// An operator has reset all tokens.
    pub(super) fn open(&mut self, next: Generation) {
        self.gates.iter_mut().for_each(|gate| gate.open(next));
    }

    /// Puts a token into a group, which is made if there is none of that name.
    pub(super) fn enter(&mut self, name: &str, index: usize, next: Generation) -> Option<NonZeroU32> {
        let group = match self.by_name.get(name) {
            Some(&group) => group,
            None => {
                let group = NonZeroU32::new(small(self.gates.len() + 1))?;
                self.gates.push(Gate::new(next));
                self.members.push(Vec::new());
                self.names.push(name.into());
                self.by_name.insert(name.into(), group);
                self.ids.push(of_group(name));
                self.by_id.insert(of_group(name), group);
                group
            }
        };
        self.members[group.get() as usize - 1].push(small(index));
        Some(group)
    }
}

impl Pool {
    /// Whether the pool's gate lets a lend pass now.
    pub(super) fn lets_pass(&self, now: Moment) -> bool {
        matches!(self.blame.gate.way(now), Way::Open | Way::ToProbe)
    }

    /// What a report means to those who share a limit with the token.
    pub(super) fn settle_gates(
        &mut self,
        loan: &Loan,
        report: &Report,
        effect: Effect,
        surprise: Surprise,
        now: Moment,
    ) {
        self.settle_group(loan, report, effect, now);
        self.settle_pool(loan, report, effect, surprise, now);
        self.set_alert();
    }

    fn settle_group(&mut self, loan: &Loan, report: &Report, effect: Effect, now: Moment) {
        let Some(index) = self.place(loan.entry.id()) else { return };
        let Some(group) = self.records[index].group else { return };
        let pass = loan.passes[1];
        let cool_down = self.params.cool_down;
        let next = self.next_generation();
        let gate = self.groups.gate(group);
        let changed = match (report.outcome, effect) {
            (Outcome::Limited, _) => {
                let told = report.told.max(report.quota).unwrap_or_default();
                gate.refused(pass, told, &cool_down, next, now);
                true
            }
            (_, Effect::QuotaEmpty(until)) => {
                gate.rest(until, next);
                true
            }
            (Outcome::Success, _) => {
                let opened = gate.succeeded(pass, next, now);
                if opened {
                    self.pardon_group(group);
                }
                opened
            }
            _ => gate.give_back(pass),
        };
        if changed {
            self.refresh_group(Some(group));
        }
    }

    fn pardon_group(&mut self, group: NonZeroU32) {
        for member in 0..self.groups.members(group).len() {
            let index = self.groups.members(group)[member] as usize;
            let next = self.next_generation();
            self.records[index].pardon(next, self.latest);
        }
    }

    fn settle_pool(&mut self, loan: &Loan, report: &Report, effect: Effect, surprise: Surprise, now: Moment) {
        let pass = loan.passes[0];
        let cool_down = self.params.cool_down;
        let next = self.next_generation();
        match (report.outcome, effect) {
            (_, Effect::Failed(kind)) => {
                let told = report.told.max(report.quota).unwrap_or_default();
                let tokens = self.tally.lendable + self.tally.held + self.tally.timed;
                let blamed = match surprise {
                    Surprise::Expected => None,
                    Surprise::Unexpected => {
                        self.blame.refused(self.stands_for(loan), kind, told, tokens, now)
                    }
                };
                if let Some(told) = blamed.or(pass.is_probe().then_some(told)) {
                    self.blame.gate.shut(told, &cool_down, next, now);
                }
            }
            (Outcome::Success, _) if pass.is_probe() => {
                if self.blame.gate.succeeded(pass, next, now) {
                    for id in self.blame.pardoned() {
                        let Some(index) = self.place(id) else { continue };
                        let next = self.next_generation();
                        self.records[index].pardon(next, self.latest);
                        self.refresh(index);
                    }
                }
            }
            (Outcome::Success, _) => self.blame.succeeded(loan.lent, next, now),
            _ => {
                self.blame.gate.give_back(pass);
            }
        }
    }

    /// Tokens of one group are one where the address is suspected: their refusals have a cause already.
    fn stands_for(&self, loan: &Loan) -> TokenId {
        let group = self.place(loan.entry.id()).and_then(|index| self.records[index].group);
        let first = group.and_then(|group| self.groups.members(group).first());
        first.map_or(loan.entry.id(), |&index| self.records[index as usize].entry.id())
    }

    /// A lease has told nothing: the probes that it was are others' to make.
    pub(super) fn give_back_passes(&mut self, loan: &Loan) {
        self.blame.gate.give_back(loan.passes[0]);
        if !loan.passes[1].is_probe() {
            return;
        }
        let Some(index) = self.place(loan.entry.id()) else { return };
        if let Some(group) = self.records[index].group {
            self.groups.gate(group).give_back(loan.passes[1]);
            self.refresh_group(Some(group));
        }
    }

    pub(super) fn refresh_group(&mut self, group: Option<NonZeroU32>) {
        let Some(group) = group else { return };
        self.note_group(group);
        for member in 0..self.groups.members(group).len() {
            self.refresh(self.groups.members(group)[member] as usize);
        }
    }

    /// While the address may be to blame, every success matters.
    pub(super) fn set_alert(&mut self) {
        let alert = self.blame.watches();
        if alert != self.alert {
            self.alert = alert;
            if alert { self.home.raise_alert() } else { self.home.end_alert() }
        }
    }

    /// Why and until when the whole pool rests at `now`.
    pub(super) fn whole_rest(&self, now: Moment) -> Option<(Moment, Reason)> {
        match self.blame.gate.way(now) {
            Way::From(until) => Some((until, self.blame.kind())),
            Way::Open | Way::ToProbe | Way::Held => None,
        }
    }
}
