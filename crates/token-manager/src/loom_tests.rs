//! Every interleaving of a few threads over the lock, the leases and the wait queue: `cargo xtask loom`.
//!
//! Threads poll by hand: a waiter's thread parks until its waker is called, and a wake-up that is lost shows as
//! a deadlock, which loom reports. Time stands still unless a test moves it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc as StdArc;
use std::task::{Context, Poll, Wake, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;

use crate::sync::loomed::pass_to;
use crate::{
    Ask, Exhausted, IdKey, Lease, Outcome, PoolParams, Remaining, Report, State, TokenManager, TokenSpec,
};

/// Wakes a parked thread.
struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Wake for Bell {
    fn wake(self: StdArc<Self>) {
        *self.rung.lock().unwrap() = true;
        self.heard.notify_one();
    }
}

impl Bell {
    fn new() -> StdArc<Self> {
        StdArc::new(Self { rung: Mutex::new(false), heard: Condvar::new() })
    }

    fn wait(&self) {
        let mut rung = self.rung.lock().unwrap();
        while !*rung {
            rung = self.heard.wait(rung).unwrap();
        }
        *rung = false;
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let bell = Bell::new();
    let waker = Waker::from(StdArc::clone(&bell));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => bell.wait(),
        }
    }
}

/// Polls so often without waiting, and then lets go of it.
fn abandon<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let waker = Waker::from(Bell::new());
    let mut future = pin!(future);
    (0..polls).find_map(|_| match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

fn pool(tokens: &[&str], max_concurrency: u32) -> TokenManager {
    let params = PoolParams {
        max_concurrency,
        max_wait: std::time::Duration::from_secs(100),
        ..PoolParams::default()
    };
    let specs = tokens.iter().map(|&token| TokenSpec::new(token)).collect();
    TokenManager::new("loom", params, specs, IdKey::from_bytes(b"loom"))
}

fn ask(pool: &TokenManager) -> Result<Lease, Exhausted> {
    block_on(pool.acquire(Ask::default()))
}

/// Every interleaving, without a bound on preemptions: all of these together are some 21 000 runs.
fn explore(test: impl Fn() + Sync + Send + 'static) {
    loom::model(move || {
        pass_to(0);
        test();
    });
}

fn nothing_is_left(pool: &TokenManager) {
    assert_eq!(pool.waiting(), 0);
    for status in pool.snapshot() {
        assert_eq!(status.in_flight, 0, "{status:?}");
    }
}

#[test]
fn a_lease_that_ends_while_another_asks_wakes_it() {
    explore(|| {
        let pool = pool(&["a"], 1);
        let held = pool.try_acquire(&[]).unwrap();
        let waiter = {
            let pool = pool.clone();
            thread::spawn(move || drop(ask(&pool).unwrap()))
        };
        drop(held);
        waiter.join().unwrap();
        nothing_is_left(&pool);
    });
}

#[test]
fn one_place_is_never_lent_twice() {
    explore(|| {
        let pool = pool(&["a"], 1);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || {
                    let lease = ask(&pool).unwrap();
                    assert_eq!(pool.snapshot()[0].in_flight, 1);
                    drop(lease);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        nothing_is_left(&pool);
    });
}

#[test]
fn a_waiter_that_goes_while_it_is_woken_hands_its_token_on() {
    explore(|| {
        let pool = pool(&["a"], 1);
        let held = pool.try_acquire(&[]).unwrap();
        let leaver = {
            let pool = pool.clone();
            thread::spawn(move || drop(abandon(pool.acquire(Ask::default()), 1)))
        };
        let stayer = {
            let pool = pool.clone();
            thread::spawn(move || drop(ask(&pool).unwrap()))
        };
        drop(held);
        leaver.join().unwrap();
        stayer.join().unwrap();
        nothing_is_left(&pool);
    });
}

#[test]
fn a_success_that_leaves_the_lock_alone_is_counted_and_frees_the_token() {
    explore(|| {
        let pool = pool(&["a"], 0);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || ask(&pool).unwrap().settle(&Report::new(Outcome::Success)))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let status = &pool.snapshot()[0];
        assert_eq!((status.successes, status.requests), (2, 2));
        nothing_is_left(&pool);
    });
}

#[test]
fn a_bound_that_comes_while_an_unattended_lease_ends_forgets_no_waiter() {
    explore(|| {
        let pool = pool(&["a"], 0);
        let held = pool.try_acquire(&[]).unwrap();
        let waiter = {
            let pool = pool.clone();
            thread::spawn(move || {
                pool.set_params(PoolParams { max_concurrency: 1, ..pool.params() });
                drop(ask(&pool).unwrap());
            })
        };
        drop(held);
        waiter.join().unwrap();
        nothing_is_left(&pool);
    });
}

#[test]
fn a_quota_that_is_told_while_an_unattended_lease_ends_waits_for_no_lease_that_is_gone() {
    explore(|| {
        let pool = pool(&["a"], 0);
        let (told, silent) = (pool.try_acquire(&[]).unwrap(), pool.try_acquire(&[]).unwrap());
        let teller = thread::spawn(move || {
            let mut told = told;
            let remaining = Some(Remaining { calls: 1, reset: std::time::Duration::ZERO });
            told.settle(&Report { remaining, ..Report::new(Outcome::Success) });
        });
        drop(silent);
        teller.join().unwrap();
        drop(pool.try_acquire(&[]).unwrap());
        nothing_is_left(&pool);
    });
}

#[test]
fn a_token_that_a_reload_takes_away_while_its_lease_ends_is_forgotten() {
    explore(|| {
        let pool = pool(&["a"], 0);
        let held = pool.try_acquire(&[]).unwrap();
        let reload = {
            let pool = pool.clone();
            thread::spawn(move || pool.reload(vec![TokenSpec::new("b")]))
        };
        drop(held);
        reload.join().unwrap();
        pool.reload(vec![TokenSpec::new("a")]);
        assert_eq!(pool.snapshot()[0].in_flight, 0);
        assert!(pool.try_acquire(&[]).is_ok());
    });
}

#[test]
fn a_probe_goes_to_one_of_those_who_ask_at_once() {
    explore(|| {
        let pool = pool(&["a"], 0);
        pool.try_acquire(&[]).unwrap().settle(&Report::new(Outcome::Limited));
        pass_to(1);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || {
                    let mut lease = ask(&pool).unwrap();
                    lease.settle(&Report::new(Outcome::Success));
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(pool.snapshot()[0].state, State::Ready);
        nothing_is_left(&pool);
    });
}

#[test]
fn a_waiters_last_moment_and_a_grant_at_once_lose_no_token() {
    explore(|| {
        let pool = pool(&["a"], 1);
        let held = pool.try_acquire(&[]).unwrap();
        let waiter = {
            let pool = pool.clone();
            thread::spawn(move || {
                let wait = std::time::Duration::from_secs(1);
                let bell = Bell::new();
                let waker = Waker::from(bell);
                let mut future = pin!(pool.acquire(Ask { max_wait: wait, ..Ask::default() }));
                let mut context = Context::from_waker(&waker);
                if let Poll::Ready(lease) = future.as_mut().poll(&mut context) {
                    return drop(lease);
                }
                pass_to(1);
                // Its timer fires: granted or refused, it ends.
                assert!(future.as_mut().poll(&mut context).is_ready());
            })
        };
        drop(held);
        waiter.join().unwrap();
        nothing_is_left(&pool);
        assert!(pool.try_acquire(&[]).is_ok());
    });
}

#[test]
fn a_lease_dropped_in_a_panic_frees_its_token() {
    explore(|| {
        let pool = pool(&["a"], 1);
        let held = pool.try_acquire(&[]).unwrap();
        let waiter = {
            let pool = pool.clone();
            thread::spawn(move || drop(ask(&pool).unwrap()))
        };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _held = held;
            std::panic::resume_unwind(Box::new("a bug of the request's"));
        }));
        assert!(panicked.is_err());
        waiter.join().unwrap();
        nothing_is_left(&pool);
    });
}

#[test]
fn one_who_wants_just_this_token_is_served_though_another_goes_with_its_grant() {
    explore(|| {
        let pool = pool(&["a"], 1);
        let held = pool.try_acquire(&[]).unwrap();
        let only = Some(held.id());
        let leaver = {
            let pool = pool.clone();
            thread::spawn(move || drop(abandon(pool.acquire(Ask::default()), 1)))
        };
        let stayer = {
            let pool = pool.clone();
            thread::spawn(move || drop(block_on(pool.acquire(Ask { only, ..Ask::default() })).unwrap()))
        };
        drop(held);
        leaver.join().unwrap();
        stayer.join().unwrap();
        nothing_is_left(&pool);
    });
}
