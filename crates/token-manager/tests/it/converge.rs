//! Replicas that hear each other late, twice, in any order or not at all for a while come to the same in the end.

use std::collections::HashMap;
use std::time::Duration;

use tidegate_backoff_core::{Bound, LearnedLimit};
use tidegate_token_manager::{
    Clock, IdKey, LearnedNews, News, Outcome, PoolParams, Report, Stamp, State, TokenId, TokenManager,
    WhenExhausted,
};
use tokio::time::{Instant, advance};

use crate::support::{id, millis, secs, specs};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const SCOPES: [Option<&str>; 3] = [None, Some("search"), Some("core")];

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// What all have been told, merged, as a store does; and every piece of it, to be heard once more.
#[derive(Default)]
struct Told {
    known: HashMap<TokenId, News>,
    pieces: Vec<News>,
}

impl Told {
    fn take_from(&mut self, pool: &TokenManager, clock: Clock) {
        for news in pool.take_news(clock, 1000) {
            self.known.entry(news.id).and_modify(|known| known.merge(&news)).or_insert_with(|| news.clone());
            self.pieces.push(news);
        }
    }

    fn read_by(&self, pool: &TokenManager, clock: Clock) {
        let places = pool.places();
        let known: Vec<News> = places.iter().filter_map(|place| self.known.get(&place.id).cloned()).collect();
        pool.apply(&known, clock);
        drop(pool.take_unread());
    }
}

fn replica() -> TokenManager {
    let mut specs = specs("a b c d");
    specs[..2].iter_mut().for_each(|spec| spec.group = Some("org".to_owned()));
    let params = PoolParams { when_exhausted: WhenExhausted::Soonest, ..PoolParams::default() };
    let pool = TokenManager::new("tests", params, specs, IdKey::from_bytes(b"tests"));
    pool.share();
    pool
}

/// Something happens at a replica. Not so fast that the address is blamed: the rest that it takes is a replica's own.
async fn step(pool: &TokenManager, random: &mut Random) {
    let name = random.of(&NAMES);
    match random.below(10) {
        0 => pool.reset(id(name)).unwrap(),
        1 => pool.disable(id(name)).unwrap(),
        2 | 3 => pool.enable(id(name)).unwrap(),
        what => {
            let others: Vec<_> = NAMES.into_iter().filter(|other| *other != name).map(id).collect();
            let Ok(mut lease) = pool.try_acquire_in(random.of(&SCOPES), &others) else { return };
            let outcome = match what {
                4 | 5 => Outcome::Limited,
                6 => Outcome::Rejected,
                _ => Outcome::Success,
            };
            let told = (random.below(2) == 0).then(|| secs(u64::try_from(random.below(300)).unwrap()));
            lease.settle(&Report { told, ..Report::new(outcome) });
            if outcome != Outcome::Success {
                advance(millis(1100)).await;
            }
        }
    }
}

type Standing = (State, Duration, Vec<(String, State, Duration)>);

/// How a token stands without a scope and in each: its state and the end of its rest.
fn standing(pool: &TokenManager) -> Vec<Standing> {
    let tokens = pool.snapshot().into_iter();
    tokens
        .map(|token| {
            let mut scopes: Vec<_> =
                token.scopes.into_iter().map(|it| (it.scope, it.state, it.retry_in)).collect();
            scopes.sort_by(|a, b| a.0.cmp(&b.0));
            (token.state, token.retry_in, scopes)
        })
        .collect()
}

fn nearly(one: Duration, other: Duration) -> bool {
    one.abs_diff(other) <= millis(100)
}

#[tokio::test(start_paused = true)]
async fn replicas_that_have_heard_the_same_stand_the_same() {
    for round in 0..300 {
        let begun = Instant::now();
        let clock = || {
            let passed = i64::try_from(begun.elapsed().as_millis()).unwrap();
            Clock { instant: Instant::now(), stamp: Stamp(1_000_000 + passed) }
        };
        let mut random = Random(round);
        let replicas = [replica(), replica(), replica()];
        // All know all scopes, so that all can be compared.
        for pool in &replicas {
            SCOPES.into_iter().for_each(|scope| drop(pool.try_acquire_in(scope, &[])));
        }
        let mut told = Told::default();
        for _ in 0..60 {
            let pool = &replicas[random.below(3)];
            match random.below(9) {
                0 | 1 => told.take_from(pool, clock()),
                2 => told.read_by(pool, clock()),
                3 if !told.pieces.is_empty() => {
                    let news = told.pieces[random.below(told.pieces.len())].clone();
                    pool.apply(&[news], clock());
                }
                4 => {
                    // Another, who knows the tokens only without a scope.
                    let limit = LearnedLimit {
                        interval: millis(1 + u64::try_from(random.below(2000)).unwrap()),
                        refused: Duration::ZERO,
                        cost: secs(1),
                        credit: 3,
                        window: 0,
                        bound: random.of(&[Bound::Floor, Bound::Ceiling]),
                    };
                    let learned = Some(LearnedNews { at: clock().stamp, limit: Some(limit) });
                    let news = News { learned, ..News::none("tests".into(), id(random.of(&NAMES))) };
                    told.known
                        .entry(news.id)
                        .and_modify(|known| known.merge(&news))
                        .or_insert_with(|| news.clone());
                    told.pieces.push(news);
                }
                5 => advance(secs(u64::try_from(random.below(40)).unwrap()) + millis(7)).await,
                _ => step(pool, &mut random).await,
            }
        }
        // Then all are told everything, until there is nothing new.
        replicas.iter().for_each(TokenManager::tell_all);
        for _ in 0..4 {
            replicas.iter().for_each(|pool| told.take_from(pool, clock()));
            replicas.iter().for_each(|pool| told.read_by(pool, clock()));
        }
        let untold: Vec<_> = replicas.iter().map(|pool| pool.take_news(clock(), 99)).collect();
        assert!(untold.iter().all(Vec::is_empty), "round {round}: there is no end to it: {untold:#?}");
        let learned = |pool: &TokenManager| {
            pool.tell_all();
            let news = pool.take_news(clock(), 99).into_iter();
            news.filter_map(|news| Some((news.id, news.learned?))).collect::<HashMap<_, _>>()
        };
        let [one, others @ ..] = &replicas;
        for other in others {
            assert_eq!(learned(one), learned(other), "round {round}");
        }
        for other in others {
            for (name, (one, other)) in NAMES.iter().zip(standing(one).into_iter().zip(standing(other))) {
                let same = one.0 == other.0
                    && nearly(one.1, other.1)
                    && one.2.len() == other.2.len()
                    && one
                        .2
                        .iter()
                        .zip(&other.2)
                        .all(|(a, b)| (&a.0, a.1) == (&b.0, b.1) && nearly(a.2, b.2));
                assert!(same, "round {round}, {name}: {one:?}\n{other:?}");
            }
        }
    }
}
