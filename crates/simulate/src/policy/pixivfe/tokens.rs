use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const BASE_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_BACKOFF_TIME: Duration = Duration::from_secs(32);

/// PixivFE's tokens; a clone is the same list.
///
/// One that timed out is good again in two cases: an answer that was still on its way was a 200, or it is asked for
/// when no other is good and its time has passed. Where all have timed out and none of their times has passed, the
/// one whose time passes first is lent nevertheless.
#[derive(Clone, Debug)]
pub(super) struct Tokens(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    turn: usize,
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Token {
    timed_out_until: Option<Duration>,
    failures: u32,
}

impl Tokens {
    pub(super) fn new(count: usize) -> Self {
        Self(Arc::new(Mutex::new(State { turn: 0, tokens: vec![Token::default(); count] })))
    }

    pub(super) fn take(&self, now: Duration) -> usize {
        let State { turn, tokens } = &mut *self.lock();
        // The turn counts places among the good ones, as it does there.
        let good: Vec<usize> = (0..tokens.len()).filter(|at| tokens[*at].timed_out_until.is_none()).collect();
        if good.is_empty() {
            let soonest = (0..tokens.len()).min_by_key(|at| tokens[*at].timed_out_until).unwrap_or_default();
            if tokens[soonest].timed_out_until.is_some_and(|until| until < now) {
                tokens[soonest].timed_out_until = None;
            }
            return soonest;
        }
        if *turn >= good.len() {
            *turn = 0;
        }
        *turn += 1;
        good[*turn - 1]
    }

    pub(super) fn is_good(&self, token: usize) {
        self.lock().tokens[token] = Token::default();
    }

    pub(super) fn times_out(&self, token: usize, now: Duration) {
        let token = &mut self.lock().tokens[token];
        token.failures += 1;
        let doubled = 1_u32.checked_shl(token.failures - 1).unwrap_or(u32::MAX);
        token.timed_out_until = Some(now + BASE_TIMEOUT.saturating_mul(doubled).min(MAX_BACKOFF_TIME));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_timed_out_is_lent_only_where_none_is_good() {
        let second = Duration::from_secs;
        let tokens = Tokens::new(3);
        tokens.times_out(0, second(0));
        // Its second has passed, but others are good.
        assert_eq!([(); 4].map(|()| tokens.take(second(5))), [1, 2, 1, 2]);
        tokens.times_out(1, second(5));
        tokens.times_out(2, second(5));
        // The first is good again, and none of the others is looked at while it is.
        assert_eq!([(); 3].map(|()| tokens.take(second(60))), [0, 0, 0]);
        tokens.times_out(0, second(60));
        assert_eq!(tokens.take(second(60)), 1);
    }

    #[test]
    fn failures_double_the_time_to_its_cap_and_a_success_ends_them() {
        let second = Duration::from_secs;
        let tokens = Tokens::new(1);
        for expected in [1, 2, 4, 8, 16, 32, 32] {
            tokens.times_out(0, second(0));
            assert_eq!(tokens.lock().tokens[0].timed_out_until, Some(second(expected)));
        }
        tokens.is_good(0);
        assert_eq!(tokens.lock().tokens[0].timed_out_until, None);
    }
}
