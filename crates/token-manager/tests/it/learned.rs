//! What a pool has learned of a limit is told to others, and outlives it.

use std::time::Duration;

use tidegate_backoff_core::{Bound, LearnedLimit};
use tidegate_token_manager::{
    Ask, Clock, LearnedNews, News, Outcome, Pacing, PoolParams, Report, Stamp, TokenManager, TokenSpec,
    WhenExhausted,
};
use tokio::time::{Instant, advance};

use crate::support::{id, millis, pool, secs};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// A token bucket, as an upstream has it.
struct Bucket {
    interval: Duration,
    burst: u32,
    full_at: Instant,
}

impl Bucket {
    fn new(interval: Duration, burst: u32) -> Self {
        Self { interval, burst, full_at: Instant::now() }
    }

    fn grants(&mut self) -> bool {
        let full_at = self.full_at.max(Instant::now()) + self.interval;
        let grants = full_at <= Instant::now() + self.interval * self.burst;
        if grants {
            self.full_at = full_at;
        }
        grants
    }
}

fn sharing(names: &str) -> TokenManager {
    let pool = pool(names, PoolParams::default());
    pool.share();
    pool
}

fn clock(stamp: i64) -> Clock {
    Clock { instant: Instant::now(), stamp: Stamp(stamp) }
}

/// Wants a token of the pool every so often. How often it had one, and how often that was refused.
async fn want(pool: &TokenManager, scope: Option<&str>, bucket: &mut Bucket, seconds: u64) -> (u32, u32) {
    let (mut granted, mut refused) = (0, 0);
    let end = Instant::now() + secs(seconds);
    while Instant::now() < end {
        if let Ok(mut lease) = pool.try_acquire_in(scope, &[]) {
            let is_granted = bucket.grants();
            *(if is_granted { &mut granted } else { &mut refused }) += 1;
            let outcome = if is_granted { Outcome::Success } else { Outcome::Limited };
            lease.settle(&Report::new(outcome));
        }
        advance(millis(25)).await;
    }
    (granted, refused)
}

/// How many lends a pool makes in a minute that are all granted.
async fn pace(pool: &TokenManager) -> u32 {
    want(pool, None, &mut Bucket::new(Duration::ZERO, 1), 60).await.0
}

/// Of a token that was lent as much as its upstream grants, for some minutes.
async fn taught(interval: Duration) -> TokenManager {
    let pool = sharing("a");
    want(&pool, None, &mut Bucket::new(interval, 5), 300).await;
    pool
}

fn learned(at: i64, interval: Duration, bound: Bound) -> News {
    let limit = LearnedLimit {
        interval,
        refused: interval / 50 * 49,
        cost: millis(500),
        credit: 0,
        window: 0,
        bound,
    };
    let learned = Some(LearnedNews { at: Stamp(at), limit: Some(limit) });
    News { learned, ..News::none("tests".into(), id("a")) }
}

fn told(news: &[News]) -> Vec<Option<LearnedLimit>> {
    news.iter().filter_map(|news| Some(news.learned?.limit)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_pace_that_was_learned_here_is_gone_by_there() {
    let (here, there) = (taught(millis(500)).await, sharing("a"));
    let news = here.take_news(clock(1000), 9);
    let [Some(limit)] = told(&news)[..] else { panic!("{news:?}") };
    assert!(limit.interval.abs_diff(millis(500)) < millis(25), "{limit:?}");
    there.apply(&news, clock(1000));
    assert!(!there.has_news(), "what was told is not told on");
    assert!(there.try_acquire(&[]).is_err(), "nothing is saved up");
    let lends = pace(&there).await;
    assert!((110..=130).contains(&lends), "{lends} lends in a minute");
    there.tell_all();
    assert_eq!(there.take_news(clock(61_000), 9)[0].learned, news[0].learned, "it is told again as it was");
}

#[tokio::test(start_paused = true)]
async fn an_operators_reset_forgets_it_everywhere() {
    let (here, there) = (taught(millis(500)).await, sharing("a"));
    let first = here.take_news(clock(1000), 9);
    there.apply(&first, clock(1000));
    there.reset(id("a")).unwrap();
    let second = there.take_news(clock(1000), 9);
    here.apply(&second, clock(1000));
    let late = sharing("a");
    for news in [&second, &first] {
        late.apply(news, clock(1000));
    }
    for (what, pool) in [("here", &here), ("there", &there), ("later", &late)] {
        assert!(pace(pool).await > 2000, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_that_ends_a_rest_early_forgets_no_pace() {
    let soonest = PoolParams { when_exhausted: WhenExhausted::Soonest, ..PoolParams::default() };
    let here = pool("a", soonest);
    here.share();
    let there = sharing("a");
    for pool in [&here, &there] {
        pool.apply(&[learned(0, millis(500), Bound::Ceiling)], clock(0));
    }
    advance(secs(1)).await;
    let told = Some(secs(60));
    here.try_acquire(&[]).unwrap().settle(&Report { told, ..Report::new(Outcome::Limited) });
    advance(secs(2)).await;
    here.acquire(Ask::default()).await.unwrap().settle(&Report::new(Outcome::Success));
    let news = here.take_news(clock(3000), 9);
    assert!(news[0].cleared.is_some(), "{news:?}");
    there.apply(&news, clock(3000));
    for (what, pool) in [("here", &here), ("there", &there)] {
        let lends = pace(pool).await;
        assert!(lends < 140, "{what}: {lends}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_older_than_a_day_is_not_gone_by() {
    for (what, at, now, is_paced) in [
        ("of a day ago", 5, 5 + DAY, true),
        ("older", 5, 6 + DAY, false),
        ("of the future, by a clock that was set back", 9 * DAY, 5, true),
        ("the end of all time", i64::MAX, i64::MIN, true),
        ("the beginning", i64::MIN, i64::MAX, false),
    ] {
        let pool = sharing("a");
        pool.apply(&[learned(at, millis(500), Bound::Ceiling)], clock(now));
        assert_eq!(pool.try_acquire(&[]).is_err(), is_paced, "{what}");
    }
    let pool = sharing("a");
    pool.apply(&[learned(5, secs(24 * 60 * 60 + 1), Bound::Ceiling)], clock(5));
    assert!(pool.try_acquire(&[]).is_ok(), "a pace of less than once a day");
}

#[tokio::test(start_paused = true)]
async fn a_pace_that_is_used_is_told_again_before_it_is_old() {
    let pool = sharing("a");
    pool.apply(&[learned(0, millis(500), Bound::Ceiling)], clock(0));
    let begun = Instant::now();
    let mut tellings = 0;
    while begun.elapsed() < secs(24 * 60 * 60) {
        // A tenth of the limit: there is nothing to learn of it.
        advance(secs(5)).await;
        pool.try_acquire(&[]).unwrap().settle(&Report::new(Outcome::Success));
        let now = i64::try_from(begun.elapsed().as_millis()).unwrap();
        tellings += told(&pool.take_news(clock(now), 9)).len();
    }
    assert_eq!(tellings, 4);
}

#[tokio::test(start_paused = true)]
async fn replicas_with_unequal_parts_of_a_limit_keep_each_its_own_and_come_to_rest() {
    let (one, two) = (taught(millis(300)).await, taught(millis(900)).await);
    for pool in [&one, &two] {
        pool.take_news(clock(0), 9);
        pool.apply(&[learned(1, millis(500), Bound::Ceiling)], clock(1));
        assert!(!pool.has_news(), "that others say otherwise is no news of one's own");
    }
    for (pool, want) in [(&one, 200), (&two, 66)] {
        let lends = pace(pool).await;
        assert!(lends.abs_diff(want) <= want / 8, "{lends} and not {want}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pace_belongs_to_a_scope() {
    let (here, there) = (sharing("a"), sharing("a"));
    want(&here, Some("search"), &mut Bucket::new(millis(500), 5), 300).await;
    assert!(there.try_acquire_in(Some("search"), &[]).is_ok());
    let news = here.take_news(clock(1000), 9);
    assert_eq!(told(&news).len(), 1);
    there.apply(&news, clock(1000));
    assert!(there.try_acquire_in(Some("search"), &[]).is_err());
    assert!(there.try_acquire(&[]).is_ok() && there.try_acquire_in(Some("core"), &[]).is_ok());

    // By one who does not know the scope.
    let other = sharing("a");
    other.reset(id("a")).unwrap();
    let reset = other.take_news(clock(2000), 9);
    there.apply(&reset, clock(2000));
    assert!(there.try_acquire_in(Some("search"), &[]).is_ok());
    let again = there.take_news(clock(2000), 9);
    assert!(told(&again).contains(&None), "it is told for the scope: {again:?}");
    // Who hears of the pace only then.
    let late = sharing("a");
    assert!(late.try_acquire_in(Some("search"), &[]).is_ok());
    for news in [&reset, &news] {
        late.apply(news, clock(2000));
    }
    assert!(late.try_acquire_in(Some("search"), &[]).is_ok());
}

#[tokio::test(start_paused = true)]
async fn who_listens_is_woken_where_a_lend_has_taught_something() {
    let pool = sharing("a");
    pool.apply(&[learned(0, millis(500), Bound::Ceiling)], clock(0));
    let waiting = tokio::spawn({
        let pool = pool.clone();
        async move { std::future::poll_fn(|cx| pool.poll_news(cx)).await }
    });
    // All is granted, so the pace grows: with a lend, as no result of a healthy token is told to its pool.
    while !pool.has_news() {
        advance(millis(25)).await;
        if let Ok(mut lease) = pool.try_acquire(&[]) {
            lease.settle(&Report::new(Outcome::Success));
        }
    }
    tokio::task::yield_now().await;
    assert!(waiting.is_finished());
}

#[tokio::test(start_paused = true)]
async fn without_pacing_nothing_is_taken_up() {
    let off = pool("a", PoolParams { pacing: Pacing::Off, ..PoolParams::default() });
    off.share();
    off.apply(&[learned(0, millis(500), Bound::Ceiling)], clock(0));
    assert!((0..9).all(|_| off.try_acquire(&[]).is_ok()));
}

#[tokio::test(start_paused = true)]
async fn under_a_new_value_it_is_told_anew() {
    let here = sharing("");
    let token = |value: &str| vec![TokenSpec { name: Some("it".into()), ..TokenSpec::new(value) }];
    here.reload(token("a"));
    here.apply(&[learned(0, millis(500), Bound::Ceiling)], clock(0));
    assert!(!here.has_news());
    here.renew(token("b"));
    let news = here.take_news(clock(0), 9);
    assert_eq!((news[0].id, told(&news).len()), (id("b"), 1), "{news:?}");
    here.reload(token("c"));
    assert!(!here.has_news(), "that is another token");
}

/// The figures in docs/state.md.
#[tokio::test(start_paused = true)]
async fn a_busy_token_has_little_to_tell() {
    for (what, interval, burst) in [
        ("2 a second, 10 at once", millis(500), 10),
        ("1 in 5 s, 5 at once", millis(5000), 5),
        ("20 a second, 40 at once", millis(50), 40),
    ] {
        let pool = sharing("a");
        let mut bucket = Bucket::new(interval, burst);
        let (mut refusals, mut calls, mut pieces, mut learned, mut alone) = (0, 0, 0, 0, 0);
        for second in 0..3600 {
            let (granted, refused) = want(&pool, None, &mut bucket, 1).await;
            (refusals, calls) = (refusals + refused, calls + granted + refused);
            for news in pool.take_news(clock(1000 * second), 9) {
                pieces += 1;
                learned += u32::from(news.learned.is_some());
                alone += u32::from(news.rest.is_none() && news.recovered.is_none());
            }
        }
        let figures = format!(
            "{what}: {calls} calls, {refusals} refused; {pieces} pieces of news, {learned} of them with what was \
             learned, {alone} with that alone"
        );
        println!("{figures}");
        assert!(learned > 0 && alone <= 12, "{figures}");
    }
}
