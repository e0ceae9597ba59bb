//! Which of the lendable tokens is lent next. Each way keeps its own set of them, so that choosing looks at
//! none in vain.

mod dense;
mod fenwick;
mod round_robin;
mod shares;
mod use_order;

use dense::Dense;
use fenwick::Fenwick;
use round_robin::RoundRobin;
use shares::Shares;
use use_order::UseOrder;

use super::record::Record;
use crate::Strategy;

/// The lendable tokens, by their places in the settings' order.
#[derive(Debug)]
pub(super) enum Selector {
    RoundRobin(RoundRobin),
    Shares(Shares),
    Random(Dense),
    WeightedRandom(Fenwick),
    UseOrder(UseOrder),
    LeastLoaded(Dense),
}

impl Selector {
    /// A selector without lendable tokens, for tokens of these weights; `cursor` is where round-robin begins.
    pub(super) fn new(strategy: Strategy, records: &[Record], cursor: usize) -> Self {
        let weights = || records.iter().map(|record| record.weight.get());
        let even = weights().all(|weight| weight == 1);
        match strategy {
            Strategy::RoundRobin if even => Self::RoundRobin(RoundRobin::new(records.len(), cursor)),
            Strategy::RoundRobin => Self::Shares(Shares::new(weights().collect(), cursor)),
            Strategy::Random if even => Self::Random(Dense::new(records.len())),
            Strategy::Random => Self::WeightedRandom(Fenwick::new(weights().collect())),
            Strategy::LeastRecentlyUsed => {
                let mut order: Vec<usize> = (0..records.len()).collect();
                // Stable: tokens that were never used, or at the same moment, keep the settings' order.
                order.sort_by_key(|&token| records[token].last_used());
                Self::UseOrder(UseOrder::new(&order, if even { Vec::new() } else { weights().collect() }))
            }
            Strategy::LeastLoaded => Self::LeastLoaded(Dense::new(records.len())),
        }
    }

    /// Where round-robin looks first for the next token.
    pub(super) fn cursor(&self) -> usize {
        match self {
            Self::RoundRobin(it) => it.cursor(),
            Self::Shares(it) => it.cursor(),
            Self::Random(_) | Self::WeightedRandom(_) | Self::UseOrder(_) | Self::LeastLoaded(_) => 0,
        }
    }

    /// The token can be lent; nothing changes if that is known.
    pub(super) fn insert(&mut self, token: usize) {
        match self {
            Self::RoundRobin(it) => it.insert(token),
            Self::Shares(it) => it.insert(token),
            Self::Random(it) | Self::LeastLoaded(it) => it.insert(token),
            Self::WeightedRandom(it) => it.insert(token),
            Self::UseOrder(it) => it.insert(token),
        }
    }

    /// The token cannot be lent; nothing changes if that is known.
    pub(super) fn remove(&mut self, token: usize) {
        match self {
            Self::RoundRobin(it) => it.remove(token),
            Self::Shares(it) => it.remove(token),
            Self::Random(it) | Self::LeastLoaded(it) => it.remove(token),
            Self::WeightedRandom(it) => it.remove(token),
            Self::UseOrder(it) => it.remove(token),
        }
    }

    /// Chooses a lendable token and counts it as used.
    pub(super) fn next(&mut self, records: &[Record], entropy: u64) -> Option<usize> {
        match self {
            Self::RoundRobin(it) => it.next(),
            Self::Shares(it) => it.next(),
            Self::Random(it) => it.any(entropy),
            Self::WeightedRandom(it) => it.any(entropy),
            Self::UseOrder(it) => it.next(),
            Self::LeastLoaded(it) => it.less_loaded_of_two(entropy, |token| {
                (records[token].entry.in_flight(), records[token].weight.get())
            }),
        }
    }

    /// Has a cache fetch what lends need of the tokens that these numbers would choose now: by plain reads, none of
    /// which waits for one of another token. An order of tokens needs no such help, a processor sees it itself.
    pub(super) fn look_at(&self, records: &[Record], draws: &[u64]) {
        if records.len() < FIT_A_CACHE {
            return;
        }
        let look = |seen: u64, token: usize| seen ^ records[token].look();
        let seen = match self {
            Self::Random(it) => draws.iter().filter_map(|&draw| it.any(draw)).fold(0, look),
            Self::WeightedRandom(it) => draws.iter().filter_map(|&draw| it.any(draw)).fold(0, look),
            Self::LeastLoaded(it) => draws.iter().filter_map(|&draw| it.two(draw)).flatten().fold(0, look),
            Self::RoundRobin(_) | Self::Shares(_) | Self::UseOrder(_) => 0,
        };
        // Or the compiler would see that nobody needs the reads.
        std::hint::black_box(seen);
    }

    /// Counts a use of a token that was not chosen here.
    pub(super) fn used(&mut self, token: usize) {
        if let Self::UseOrder(it) = self {
            it.used(token);
        }
    }
}

/// Fewer tokens than this stay in a processor's own cache: some 200 bytes each.
const FIT_A_CACHE: usize = 4096;

/// A number below `bound` from 32 random bits, each as likely as the next but for one part in 2^32 / bound.
fn below(bound: usize, bits: u32) -> usize {
    let scaled = (bound as u128 * u128::from(bits)) >> 32;
    usize::try_from(scaled).unwrap_or(0)
}
