use tidegate_token_manager::{Ask, Lease, Limit, Outcome, PoolParams, Report, Strategy, WhenExhausted};
use tokio::time::{Instant, sleep};

use crate::support::{id, millis, pool, secs, specs};

/// Virtual time moves only when all tasks wait for it: whoever is forgotten holds the test up to its own last
/// moment, and shows.
#[tokio::test(start_paused = true)]
async fn every_waiter_ends_with_a_token_or_by_its_last_moment() {
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let params = PoolParams {
            strategy: random.choice(Strategy::ALL).unwrap_or_default(),
            when_exhausted: random.choice([WhenExhausted::Wait, WhenExhausted::Soonest]).unwrap_or_default(),
            max_wait: secs(30),
            max_concurrency: random.u32(0..3),
            limit: random.bool().then(|| Limit::window(random.u32(1..6), secs(2))),
            ..PoolParams::default()
        };
        let pool = pool("a b c", params);
        let tasks: Vec<_> = (0..150)
            .map(|task| {
                let (pool, mut random) = (pool.clone(), fastrand::Rng::with_seed(seed * 1000 + task));
                tokio::spawn(async move {
                    sleep(millis(random.u64(0..20_000))).await;
                    let (start, max_wait) = (Instant::now(), millis(random.u64(0..9_000)));
                    // Some want one token and no other; one of these there never is, and one comes and goes.
                    let only =
                        random.choice([None, None, Some("a"), Some("b"), Some("none")]).flatten().map(id);
                    let answer = pool.acquire(Ask { max_wait, only, ..Ask::default() }).await;
                    assert!(
                        only.is_none()
                            || answer.as_ref().ok().map(Lease::id).is_none_or(|lent| Some(lent) == only)
                    );
                    // Timers count whole milliseconds, rounded up.
                    assert!(
                        start.elapsed() <= max_wait + millis(1),
                        "waited {:?} of {max_wait:?}",
                        start.elapsed()
                    );
                    let Ok(mut lease) = answer else { return false };
                    sleep(millis(random.u64(0..800))).await;
                    let outcome = random.choice([
                        Outcome::Success,
                        Outcome::Success,
                        Outcome::Limited,
                        Outcome::Unaffected,
                    ]);
                    let told = (random.u8(0..4) == 0).then(|| millis(random.u64(0..4_000)));
                    lease.settle(&Report { told, ..Report::new(outcome.unwrap_or(Outcome::Rejected)) });
                    sleep(millis(random.u64(0..800))).await;
                    true
                })
            })
            .collect();
        let operator = pool.clone();
        let turns = tokio::spawn(async move {
            for turn in 0..40_u64 {
                sleep(millis(500)).await;
                match turn % 4 {
                    0 => operator.reload(specs("c a")),
                    1 => operator.reload(specs("a b c")),
                    2 => operator.reset_all(),
                    _ => operator
                        .set_params(PoolParams { max_concurrency: u32::from(turn % 8 == 3), ..params }),
                }
            }
        });
        let mut served = 0;
        for task in tasks {
            served += u32::from(task.await.unwrap());
        }
        turns.await.unwrap();
        assert!(served > 20, "{served} of 150 served with {params:?}");
        assert_eq!(pool.waiting(), 0);
        assert!(pool.snapshot().iter().all(|status| status.in_flight == 0));
    }
}
