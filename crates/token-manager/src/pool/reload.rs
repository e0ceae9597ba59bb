//! New tokens and new parameters while the pool works.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use tokio::time::Instant;

use super::{IdHash, Kind, Limits, Places, Pool, Record, Selector, Tally, Wakes};
use crate::entry::Entry;
use crate::{Limit, Pacing, PoolParams, TokenId, TokenSpec};

/// What a new value under a known name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Renewed {
    /// Another token.
    No,
    /// The same token.
    ByName,
}

/// New ids of renewed tokens, and their old ones.
pub(crate) type Renewals = HashMap<TokenId, TokenId>;

/// A token's place in the settings' order, and what the settings say of it.
pub(crate) struct Seat {
    entry: Arc<Entry>,
    weight: NonZeroU32,
    group: Option<Box<str>>,
}

impl Pool {
    /// Takes these tokens for the pool's, in this order. A token that stays (it has the same id) keeps its
    /// state; one that goes is not lent again, and one that comes is ready. Of two with one id the first
    /// counts.
    pub(crate) fn reload(&mut self, specs: Vec<(TokenId, TokenSpec)>, now: Instant) {
        self.reload_renewed(specs, Renewed::No, now);
    }

    /// The same; a new value under the name of a token that goes may be that token renewed. Returns those.
    pub(crate) fn reload_renewed(
        &mut self,
        specs: Vec<(TokenId, TokenSpec)>,
        renewed: Renewed,
        now: Instant,
    ) -> Renewals {
        let renewals = match renewed {
            Renewed::No => Renewals::new(),
            Renewed::ByName => self.renewals(&specs),
        };
        let seat = |(id, TokenSpec { value, name, weight, group }): (TokenId, TokenSpec)| {
            let known = self.place(id).map(|index| &self.records[index]).or_else(|| self.retired.get(&id));
            let entry = match known {
                Some(record) => {
                    record.entry.rename(name);
                    Arc::clone(&record.entry)
                }
                None => Arc::new(Entry::new(id, value, name, Arc::clone(&self.home))),
            };
            Seat { entry, weight, group: group.map(String::into_boxed_str) }
        };
        let mut seen = HashSet::with_capacity(specs.len());
        let seats = specs.into_iter().filter(|(id, _)| seen.insert(*id)).map(seat).collect();
        self.seat(seats, &renewals, now);
        renewals
    }

    fn renewals(&self, specs: &[(TokenId, TokenSpec)]) -> Renewals {
        let stays: HashSet<TokenId> = specs.iter().map(|&(id, _)| id).collect();
        let going =
            self.records.iter().map(|record| &record.entry).filter(|entry| !stays.contains(&entry.id()));
        let by_name: HashMap<String, TokenId> =
            going.filter_map(|entry| Some((entry.name()?, entry.id()))).collect();
        let comes = specs.iter().filter(|&&(id, _)| self.place(id).is_none());
        comes.filter_map(|(id, spec)| Some((*id, *by_name.get(spec.name.as_ref()?)?))).collect()
    }

    /// The tokens as another lane of the same pool is to have them.
    pub(crate) fn seats(&self) -> Vec<Seat> {
        let seat = |record: &Record| Seat {
            entry: Arc::clone(&record.entry),
            weight: record.weight,
            group: record.group.map(|group| self.groups.name(group).into()),
        };
        self.records.iter().map(seat).collect()
    }

    /// Takes these tokens for the pool's; no two are the same. Of `renewals` each new one goes on where its old
    /// one was.
    pub(crate) fn seat(&mut self, seats: Vec<Seat>, renewals: &Renewals, now: Instant) {
        self.advance(now);
        let at_cursor =
            self.records.get(self.selector.cursor()).or(self.records.first()).map(|record| record.entry.id());
        let mut before: HashMap<TokenId, Record, IdHash> = std::mem::take(&mut self.retired);
        before.extend(self.records.drain(..).map(|record| (record.entry.id(), record)));

        let next = self.next_generation();
        self.groups.empty(next);
        self.places = Places::with_room_for(seats.len());
        self.records.reserve_exact(seats.len());
        for Seat { entry, weight, group } in seats.into_iter().take(u32::MAX as usize - 1) {
            let (id, index) = (entry.id(), self.records.len());
            let next = self.next_generation();
            let old = renewals.get(&id);
            let mut record = match (before.remove(&id), old.and_then(|old| before.remove(old))) {
                (Some(record), _) => record,
                (None, Some(mut record)) => {
                    record.renew(entry, next, self.latest);
                    record
                }
                (None, None) => self.new_record(entry),
            };
            let next = self.next_generation();
            record.weight = weight;
            record.group = group.and_then(|group| self.groups.enter(&group, index, next));
            self.records.push(record);
            self.places.insert(id, index);
        }
        self.records.shrink_to_fit();
        before.retain(|_, record| {
            // The end of its last lease must be heard of: see `Entry`.
            record.attend(true);
            record.entry.in_flight() > 0
        });
        self.retired = before;
        if self.ledger.is_some() {
            let tokens = self.records.iter().map(|record| record.entry.id());
            let stays: HashSet<TokenId> = tokens.chain(self.groups.ids().iter().copied()).collect();
            self.ledger.iter_mut().for_each(|ledger| ledger.retain(|id| stays.contains(&id)));
        }
        self.epoch = self.epoch.wrapping_add(1);
        let cursor = at_cursor.and_then(|id| self.place(id)).unwrap_or(0);
        self.rebuild(cursor);
    }

    /// Takes effect at once. Rests that have begun stay as they are.
    pub(crate) fn set_params(&mut self, params: PoolParams, now: Instant) {
        self.advance(now);
        let old = std::mem::replace(&mut self.limit, params.limit.filter(Limit::limits));
        self.params = params;
        for record in self.records.iter_mut().chain(self.retired.values_mut()) {
            if old != self.limit {
                record.limits = Limits::under(record.limits.take(), self.limit, self.latest);
            }
            if params.pacing == Pacing::Off {
                record.limits = Limits::unpaced(record.limits.take());
            }
        }
        self.rebuild(self.selector.cursor());
    }

    fn new_record(&mut self, entry: Arc<Entry>) -> Record {
        let generation = self.next_generation();
        let mut record = Record::new(entry, generation);
        record.limits = Limits::of(self.limit);
        record
    }

    fn rebuild(&mut self, cursor: usize) {
        let tokens = self.records.len();
        self.selector = Selector::new(self.params.strategy, &self.records, cursor);
        self.wakes = Wakes::new(tokens);
        self.tally = Tally::default();
        self.count_paced();
        self.records.iter_mut().for_each(|record| record.known = Kind::Barred);
        (0..tokens).for_each(|index| self.refresh(index));
    }
}
