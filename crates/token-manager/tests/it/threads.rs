use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tidegate_token_manager::{Ask, Outcome, PoolParams, Report, Strategy, TokenManager, WhenExhausted};

use crate::support::{id, millis, name, pool, secs, specs};

const CONCURRENCY: u32 = 2;
const TASKS: u64 = 64;
const ROUNDS: u64 = 150;

fn params(strategy: Strategy) -> PoolParams {
    let mut params = PoolParams {
        strategy,
        max_concurrency: CONCURRENCY,
        max_wait: secs(3600),
        when_exhausted: WhenExhausted::Wait,
        ..PoolParams::default()
    };
    // Rests so short that the test need not wait for them, and never long enough to refuse anybody.
    params.cool_down.base = millis(1);
    params.cool_down.max = millis(2);
    params.cool_down.max_rest = millis(3);
    params.cool_down.reject_rest = millis(1);
    params
}

/// How many leases of each token are out, as the requests themselves count.
struct Gauges(HashMap<String, AtomicUsize>);

impl Gauges {
    fn enter(&self, token: &str) {
        let before = self.0[token].fetch_add(1, Ordering::SeqCst);
        assert!(before < CONCURRENCY as usize, "{token} is lent {} times", before + 1);
    }

    fn leave(&self, token: &str) {
        self.0[token].fetch_sub(1, Ordering::SeqCst);
    }
}

async fn requests(pool: TokenManager, gauges: Arc<Gauges>, ended: Arc<AtomicU64>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..ROUNDS {
        let tried = [id("a"), id("b")];
        // Those of the tokens that always stay and are never barred.
        let only = random.choice([None, None, Some("a"), Some("c")]).flatten().map(id);
        let ask = Ask { tried: &tried[..random.usize(0..=2)], only, ..Ask::default() };
        let patience = random.usize(0..40);
        let lease = tokio::select! {
            biased;
            lease = pool.acquire(ask) => Some(lease.expect("every waiter is served")),
            () = yields(patience), if random.bool() => None,
        };
        ended.fetch_add(1, Ordering::SeqCst);
        let Some(mut lease) = lease else { continue };
        assert!(only.is_none_or(|only| only == lease.id()));
        gauges.enter(name(&lease));
        yields(random.usize(0..3)).await;
        let outcome = random.choice([
            Outcome::Success,
            Outcome::Success,
            Outcome::Success,
            Outcome::Limited,
            Outcome::Rejected,
            Outcome::Unaffected,
        ]);
        if let Some(outcome) = outcome.filter(|_| random.u8(..) > 20) {
            lease.settle(&Report::new(outcome));
        }
        yields(random.usize(0..3)).await;
        gauges.leave(name(&lease));
        drop(lease);
    }
}

async fn yields(times: usize) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

/// Turns everything that an operator can turn, but for the token that always stays.
async fn operators(pool: TokenManager, done: Arc<AtomicBool>) {
    let mut random = fastrand::Rng::with_seed(99);
    while !done.load(Ordering::SeqCst) {
        match random.u8(0..7) {
            0 => pool.reload(specs("c b a")),
            1 => pool.reload(specs("a c")),
            2 => pool.reload(specs("a b c d")),
            3 => drop(pool.disable(id("b"))),
            4 => drop(pool.enable(id("b"))),
            5 => pool.reset_all(),
            _ => pool.set_params(params(random.choice(Strategy::ALL).unwrap_or_default())),
        }
        assert!(pool.state_counts().total() >= 2);
        yields(10).await;
    }
}

#[test]
fn under_every_kind_of_contention_every_request_ends_and_no_token_is_lent_too_often() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
    let pool = pool("a b c d", params(Strategy::RoundRobin));
    let gauges =
        Arc::new(Gauges(["a", "b", "c", "d"].map(|name| (name.to_owned(), AtomicUsize::new(0))).into()));
    let (ended, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    runtime.block_on(async {
        let operators = tokio::spawn(operators(pool.clone(), Arc::clone(&done)));
        let tasks: Vec<_> = (0..TASKS)
            .map(|seed| tokio::spawn(requests(pool.clone(), Arc::clone(&gauges), Arc::clone(&ended), seed)))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        done.store(true, Ordering::SeqCst);
        operators.await.unwrap();
    });
    assert_eq!(ended.load(Ordering::SeqCst), TASKS * ROUNDS);
    assert_eq!(pool.waiting(), 0);
    assert!(pool.snapshot().iter().all(|status| status.in_flight == 0), "{:?}", pool.snapshot());
}
