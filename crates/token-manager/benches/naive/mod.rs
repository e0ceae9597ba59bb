//! A token pool as one first writes it, and as PixivFE has it: a locked list that is filtered at every request.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

pub(crate) struct NaivePool(Mutex<State>);

struct State {
    tokens: Vec<Token>,
    turn: usize,
}

struct Token {
    timeout_until: Option<Instant>,
    last_used: Instant,
    failures: u32,
}

impl NaivePool {
    /// So many tokens, every other of which rests, up to `cooling`.
    pub(crate) fn new(tokens: usize, cooling: usize) -> Self {
        let now = Instant::now();
        let rest = now + Duration::from_secs(86_400);
        let token = |token: usize| Token {
            timeout_until: (token % 2 == 0 && token / 2 < cooling).then_some(rest),
            last_used: now,
            failures: 0,
        };
        Self(Mutex::new(State { tokens: (0..tokens).map(token).collect(), turn: 0 }))
    }

    pub(crate) fn next(&self) -> Option<usize> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let healthy = state.healthy(now);
        let turn = state.turn;
        state.turn += 1;
        let token = *healthy.get(turn % healthy.len().max(1))?;
        state.tokens[token].last_used = now;
        Some(token)
    }

    pub(crate) fn least_recently_used(&self) -> Option<usize> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let mut healthy = state.healthy(now);
        healthy.sort_by_key(|&token| state.tokens[token].last_used);
        let token = *healthy.first()?;
        state.tokens[token].last_used = now;
        Some(token)
    }

    pub(crate) fn succeeded(&self, token: usize) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.tokens[token].failures = 0;
        state.tokens[token].timeout_until = None;
    }
}

impl State {
    fn healthy(&self, now: Instant) -> Vec<usize> {
        let rested = |token: &Token| token.timeout_until.is_none_or(|until| until <= now);
        (0..self.tokens.len()).filter(|&token| rested(&self.tokens[token])).collect()
    }
}
