use crate::pool::Pool;

/// The random numbers that choose tokens, drawn some at a time.
///
/// In a large pool a token that is chosen at random is in no cache, and what a lend needs of it stands at three
/// places, each of which names the next. With the numbers known beforehand a processor fetches many tokens together,
/// in little more time than one. It is numbers that are kept, and not the tokens they stand for: whatever happens to
/// the tokens meanwhile, a number chooses among those that can be lent when it is used.
#[derive(Debug)]
pub(super) struct Draws {
    random: fastrand::Rng,
    numbers: [u64; AT_ONCE],
    used: usize,
}

/// Of 16, 32 and 64 the best for a choice at random; 16 is as good where each number chooses two.
const AT_ONCE: usize = 32;

impl Draws {
    pub(super) fn new() -> Self {
        Self::of(fastrand::Rng::new())
    }

    fn of(random: fastrand::Rng) -> Self {
        Self { random, numbers: [0; AT_ONCE], used: AT_ONCE }
    }

    /// The next number, to lend from this pool.
    pub(super) fn next(&mut self, pool: &Pool) -> u64 {
        if self.used == AT_ONCE {
            self.numbers.fill_with(|| self.random.u64(..));
            self.used = 0;
            pool.look_at(&self.numbers);
        }
        let number = self.numbers[self.used];
        self.used += 1;
        number
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::num::NonZeroU32;
    use std::sync::{Arc, Weak};

    use tokio::time::Instant;

    use super::*;
    use crate::entry::Home;
    use crate::{PoolParams, Strategy, TokenId, TokenSpec};

    /// So many that they are looked at beforehand.
    const TOKENS: u64 = 5000;

    fn id(token: u64) -> TokenId {
        TokenId::from_bytes(token.to_be_bytes())
    }

    fn pool(strategy: Strategy, heaviest: u64, now: Instant) -> Pool {
        let params = PoolParams { strategy, ..PoolParams::default() };
        let spec = |token: u64| {
            let weight = NonZeroU32::new(u32::try_from(token % heaviest + 1).unwrap()).unwrap();
            (id(token), TokenSpec { weight, ..TokenSpec::new(token.to_string()) })
        };
        let mut pool = Pool::new(params, Arc::new(Home::of(Weak::new())), now);
        pool.reload((0..TOKENS).map(spec).collect(), now);
        pool
    }

    /// So that each token is as likely as ever among those that can be lent, whatever was looked at.
    #[test]
    fn what_was_drawn_beforehand_chooses_as_if_it_were_drawn_now() {
        let now = Instant::now();
        for (strategy, heaviest) in [(Strategy::Random, 1), (Strategy::Random, 3), (Strategy::LeastLoaded, 3)]
        {
            let [mut ahead, mut at_once] = [pool(strategy, heaviest, now), pool(strategy, heaviest, now)];
            let mut draws = Draws::of(fastrand::Rng::with_seed(1));
            let mut numbers = fastrand::Rng::with_seed(1);
            let mut operator = fastrand::Rng::with_seed(2);
            let mut kept = Vec::new();
            for step in 0..2000 {
                let number = draws.next(&ahead);
                let lent = ahead.lend_any(&[], number, now);
                let expected = at_once.lend_any(&[], numbers.u64(..), now);
                let [lent_id, expected_id] =
                    [&lent, &expected].map(|loan| loan.as_ref().map(|it| it.entry.id()));
                assert_eq!(lent_id, expected_id, "{strategy:?}, step {step}");
                kept.push((lent, expected));
                // First nearly all are barred, so that most of what was looked at is not there any more.
                for _ in 0..20 {
                    let token = id(operator.u64(..TOKENS));
                    for pool in [&mut ahead, &mut at_once] {
                        let bar = if step % 700 < 600 { Pool::disable } else { Pool::enable };
                        bar(pool, token, now).unwrap();
                    }
                }
            }
        }
    }
}
