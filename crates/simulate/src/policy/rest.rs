//! Tokens that rest, kept the simple way: a list of moments.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::world::Upstream;

/// How long each token rests; a clone is the same list.
#[derive(Clone, Debug)]
pub(super) struct Rests(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    next: usize,
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Token {
    until: Duration,
    failures: u32,
}

impl Rests {
    pub(super) fn new(tokens: usize) -> Self {
        Self(Arc::new(Mutex::new(State { next: 0, tokens: vec![Token::default(); tokens] })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next token that does not rest.
    pub(super) fn next(&self, now: Duration) -> Option<usize> {
        let state = &mut *self.lock();
        let count = state.tokens.len();
        let found =
            (0..count).map(|step| (state.next + step) % count).find(|at| state.tokens[*at].until <= now)?;
        state.next = found + 1;
        Some(found)
    }

    /// The next token that does not rest, else the one that rests least longer: PixivFE's choice.
    pub(super) fn next_or_soonest(&self, now: Duration) -> usize {
        self.next(now).unwrap_or_else(|| {
            let state = self.lock();
            let soonest = state.tokens.iter().enumerate().min_by_key(|(_, token)| token.until);
            soonest.map_or(0, |(at, _)| at)
        })
    }

    /// `min(base * 2^(failures - 1), max)` from now.
    pub(super) fn rest_longer(&self, token: usize, upstream: &Upstream, base: Duration, max: Duration) {
        let token = &mut self.lock().tokens[token];
        token.failures += 1;
        let factor = 1_u32.checked_shl(token.failures - 1).unwrap_or(u32::MAX).max(1);
        token.until = upstream.now() + base.saturating_mul(factor).min(max);
    }

    pub(super) fn rest_until(&self, token: usize, until: Duration) {
        self.lock().tokens[token].until = until;
    }

    pub(super) fn is_well(&self, token: usize) {
        self.lock().tokens[token] = Token::default();
    }
}
