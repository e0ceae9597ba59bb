use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tidegate_token_manager::{Ask, Outcome, PoolParams, Report, State, TokenSpec};

use crate::support::{id, name, pool, secs, specs};

fn named(value: &str, name: &str) -> TokenSpec {
    TokenSpec { name: Some(name.into()), ..TokenSpec::new(value) }
}

/// Add, remove, reorder, rename, another weight, another value under one name, under load on two threads.
#[test]
fn under_load_no_request_fails_no_state_is_lost_and_a_removed_token_is_not_lent() {
    const REQUESTS: usize = 4000;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let pool = pool("stays rests goes", PoolParams { max_wait: secs(60), ..PoolParams::default() });
    let others = [id("stays"), id("goes")];
    let rest = Report { told: Some(secs(86_400)), ..Report::new(Outcome::Limited) };
    pool.try_acquire(&others).unwrap().settle(&rest);
    let (served, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    runtime.block_on(async {
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let (pool, served, done) = (pool.clone(), Arc::clone(&served), Arc::clone(&done));
                tokio::spawn(async move {
                    while !done.load(Ordering::SeqCst) {
                        let mut lease = pool.acquire(Ask::default()).await.expect("no request fails");
                        assert_ne!(name(&lease), "rests", "its rest is not lost");
                        tokio::task::yield_now().await;
                        lease.settle(&Report::new(Outcome::Success));
                        served.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        let mut round = 0;
        while served.load(Ordering::SeqCst) < REQUESTS {
            round += 1;
            match round % 5 {
                0 => pool.reload(specs("rests stays")),
                1 => pool.reload(specs("stays goes comes rests")),
                2 => pool.reload(vec![named("stays", "one"), named("rests", "two"), named("x", "three")]),
                3 => pool.reload(vec![named("stays", "two"), named("rests", "one"), named("y", "three")]),
                _ => pool.reload(vec![
                    TokenSpec { weight: 3.try_into().unwrap(), ..TokenSpec::new("stays") },
                    TokenSpec::new("rests"),
                ]),
            }
            if round % 5 == 0 {
                let lent: Vec<_> = (0..4).filter_map(|_| pool.try_acquire(&[]).ok()).collect();
                assert!(lent.iter().all(|lease| name(lease) == "stays"), "only what is in the pool is lent");
            }
            tokio::task::yield_now().await;
        }
        done.store(true, Ordering::SeqCst);
        for client in clients {
            client.await.unwrap();
        }
    });
    pool.reload(specs("rests stays goes comes"));
    let states = pool.snapshot();
    assert_eq!((states[0].state, states[0].rate_limited), (State::Cooling, 1));
    assert!(states[1].successes > 0 && states.iter().all(|status| status.in_flight == 0), "{states:?}");
}
