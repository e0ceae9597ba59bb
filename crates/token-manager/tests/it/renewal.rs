use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidegate_token_manager::{
    Ask, Fetched, Outcome, PoolParams, RenewParams, Report, State, TokenManager, TokenSource, TokenSpec,
};
use tokio::time::{Duration, Instant, advance, sleep};

use crate::support::{name, pool, secs};

fn app(value: &str) -> TokenSpec {
    TokenSpec { name: Some("app".into()), ..TokenSpec::new(value) }
}

fn state(pool: &TokenManager) -> (State, Option<String>, u64) {
    let status = pool.snapshot().remove(0);
    (status.state, status.name, status.requests)
}

#[tokio::test(start_paused = true)]
async fn a_new_value_under_a_known_name_keeps_the_rest_of_a_limit() {
    let pool = pool("", PoolParams::default());
    pool.reload(vec![app("old")]);
    let told = Report { told: Some(secs(60)), ..Report::new(Outcome::Limited) };
    pool.try_acquire(&[]).unwrap().settle(&told);
    pool.renew(vec![app("new")]);
    assert_eq!(state(&pool), (State::Cooling, Some("app".into()), 1));
    assert_eq!(pool.predicted_wait(), Some(secs(60)));
    advance(secs(60)).await;
    assert_eq!(name(&pool.try_acquire(&[]).unwrap()), "new");
}

#[tokio::test(start_paused = true)]
async fn a_new_value_ends_a_rejection_of_the_old_one() {
    let pool = pool("", PoolParams::default());
    pool.reload(vec![app("old")]);
    let late = pool.try_acquire(&[]).unwrap();
    pool.try_acquire(&[]).unwrap().settle(&Report::new(Outcome::Rejected));
    pool.renew(vec![app("new")]);
    assert_eq!(state(&pool).0, State::Ready);
    let mut late = late;
    late.settle(&Report::new(Outcome::Rejected));
    drop(late);
    assert_eq!(state(&pool).0, State::Ready, "the old value's results tell nothing any more");
}

#[tokio::test(start_paused = true)]
async fn without_a_name_or_by_a_reload_a_new_value_is_another_token() {
    for (old, new) in [(TokenSpec::new("old"), TokenSpec::new("new")), (app("old"), app("new"))] {
        let pool = pool("", PoolParams::default());
        pool.reload(vec![old.clone()]);
        pool.try_acquire(&[]).unwrap().settle(&Report::new(Outcome::Limited));
        if old.name.is_some() {
            pool.reload(vec![new]);
        } else {
            pool.renew(vec![new]);
        }
        assert_eq!(state(&pool).0, State::Ready);
    }
}

/// Gives a new value each time, or fails.
struct Endpoint {
    fetches: AtomicUsize,
    at: Mutex<Vec<Duration>>,
    began: Instant,
    good_for: Option<Duration>,
    fails: usize,
}

impl Endpoint {
    fn new(good_for: Option<Duration>, fails: usize) -> Self {
        Self { fetches: AtomicUsize::new(0), at: Mutex::default(), began: Instant::now(), good_for, fails }
    }

    fn seconds(&self) -> Vec<u64> {
        self.at.lock().unwrap().iter().map(Duration::as_secs).collect()
    }
}

impl TokenSource for Endpoint {
    async fn fetch(&self) -> Result<Fetched, Box<dyn Error + Send + Sync>> {
        let number = self.fetches.fetch_add(1, Ordering::SeqCst);
        self.at.lock().unwrap().push(self.began.elapsed());
        sleep(Duration::from_millis(100)).await;
        if number < self.fails {
            return Err("the endpoint is away".into());
        }
        Ok(Fetched { tokens: vec![app(&format!("value {number}"))], good_for: self.good_for })
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_are_fetched_before_they_expire_and_at_the_latest_when_it_is_time() {
    let every = |seconds| RenewParams { every: Some(secs(seconds)), ..RenewParams::default() };
    let rows = [
        (Some(3600), RenewParams::default(), vec![0, 3540, 7080]),
        (None, every(600), vec![0, 600, 1200]),
        (Some(3600), every(600), vec![0, 600, 1200]),
        (Some(30), RenewParams::default(), vec![0, 10, 20]),
        (None, RenewParams::default(), vec![0]),
    ];
    for (good_for, params, expected) in rows {
        let pool = pool("", PoolParams::default());
        let endpoint = Endpoint::new(good_for.map(secs), 0);
        let ends = expected.last().copied().unwrap_or_default() + 5;
        let kept = pool.keep_renewed(&endpoint, params, |error| panic!("{error}"));
        assert!(tokio::time::timeout(secs(ends), kept).await.is_err(), "it never ends");
        assert_eq!(endpoint.seconds(), expected, "{good_for:?} {params:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejection_is_one_fetch_for_all_who_wait() {
    let pool = pool("", PoolParams { max_wait: secs(100), ..PoolParams::default() });
    let endpoint = Endpoint::new(None, 0);
    let client = async {
        sleep(secs(1000)).await;
        let mut leases: Vec<_> = (0..20).map(|_| pool.try_acquire(&[]).unwrap()).collect();
        for lease in &mut leases {
            lease.settle(&Report { told: Some(secs(90)), ..Report::new(Outcome::Rejected) });
        }
        let lease = pool.acquire(Ask::default()).await.unwrap();
        assert_eq!(name(&lease), "value 1");
        assert_eq!(endpoint.began.elapsed().as_secs(), 1000, "it did not wait for the rest's end");
    };
    tokio::select! {
        () = pool.keep_renewed(&endpoint, RenewParams::default(), |error| panic!("{error}")) => {}
        () = client => {}
    }
    assert_eq!(endpoint.seconds(), [0, 1000]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_is_asked_again_and_the_old_tokens_stay() {
    let pool = pool("", PoolParams::default());
    pool.reload(vec![app("old")]);
    let endpoint = Endpoint::new(None, 3);
    let told = AtomicUsize::new(0);
    let failed = |error: &(dyn Error + Send + Sync)| {
        assert_eq!(error.to_string(), "the endpoint is away");
        assert_eq!(name(&pool.try_acquire(&[]).unwrap()), "old");
        told.fetch_add(1, Ordering::SeqCst);
    };
    let kept = pool.keep_renewed(&endpoint, RenewParams::default(), failed);
    assert!(tokio::time::timeout(secs(60), kept).await.is_err());
    assert_eq!((told.load(Ordering::SeqCst), endpoint.seconds().len()), (3, 4));
    assert_eq!(name(&pool.try_acquire(&[]).unwrap()), "value 3");
}
