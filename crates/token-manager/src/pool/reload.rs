//! New tokens and new parameters while the pool works.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::{Entry, Frame, IdHash, Kind, Places, Pool, Record, Selector, Tally, Wakes, Window, small};
use crate::{PoolParams, TokenId, TokenSpec};

impl Pool {
    /// Takes these tokens for the pool's, in this order. A token that stays (it has the same id) keeps its
    /// state; one that goes is not lent again, and one that comes is ready. Of two with one id the first
    /// counts.
    pub(crate) fn reload(&mut self, specs: Vec<(TokenId, TokenSpec)>, now: Instant) {
        self.advance(now);
        let at_cursor =
            self.records.get(self.selector.cursor()).or(self.records.first()).map(|record| record.entry.id);
        let mut before: HashMap<TokenId, Record, IdHash> = std::mem::take(&mut self.retired);
        before.extend(self.records.drain(..).map(|record| (record.entry.id, record)));

        self.places = Places::with_capacity_and_hasher(specs.len(), IdHash::default());
        for (id, spec) in specs {
            let index = small(self.records.len());
            if index == u32::MAX || self.places.contains_key(&id) {
                continue;
            }
            self.places.insert(id, index);
            let record = match before.remove(&id) {
                Some(record) => respecified(record, spec),
                None => self.new_record(Entry { id, spec }),
            };
            self.records.push(record);
        }
        self.records.shrink_to_fit();
        before.retain(|_, record| record.in_flight > 0);
        self.retired = before;
        if let Some(ledger) = &mut self.ledger {
            let places = &self.places;
            ledger.retain(|id| places.contains_key(&id));
        }
        self.epoch += 1;
        let cursor = at_cursor.and_then(|id| self.place(id)).unwrap_or(0);
        self.rebuild(cursor);
    }

    /// Takes effect at once. Rests that have begun stay as they are.
    pub(crate) fn set_params(&mut self, params: PoolParams, now: Instant) {
        self.advance(now);
        let old = self.frame;
        let new = params.limit.and_then(Frame::new);
        self.params = params;
        self.frame = new;
        if old != new {
            for record in self.records.iter_mut().chain(self.retired.values_mut()) {
                record.window = match (old, new, record.window.take()) {
                    (Some(old), Some(new), Some(window)) => Some(Box::new(window.reframed(old, new))),
                    (_, Some(new), _) => Some(Box::new(Window::new(new))),
                    (_, None, _) => None,
                };
            }
        }
        self.rebuild(self.selector.cursor());
    }

    fn new_record(&mut self, entry: Entry) -> Record {
        let generation = self.next_generation();
        let mut record = Record::new(Arc::new(entry), generation);
        record.window = self.new_window();
        record
    }

    fn rebuild(&mut self, cursor: usize) {
        let tokens = self.records.len();
        self.selector = Selector::new(self.params.strategy, &self.records, cursor);
        self.wakes = Wakes::new(tokens);
        self.tally = Tally::default();
        self.records.iter_mut().for_each(|record| record.known = Kind::Barred);
        (0..tokens).for_each(|index| self.refresh(index));
    }
}

/// The same token under a new name, weight or group. Leases that are out keep the old ones.
fn respecified(mut record: Record, spec: TokenSpec) -> Record {
    if record.entry.spec != spec {
        record.entry = Arc::new(Entry { id: record.entry.id, spec });
    }
    record
}
