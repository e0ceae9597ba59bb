//! When a store is read, told, and tried again.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;
use std::time::Duration;

use tidegate_backoff_core::{Backoff, Exponential, Jitter};
use tidegate_token_manager::{IdKey, News, Store, StoreError, TokenId, TokenManager};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Counts, Keys, Status};

/// How soon a store that is away is tried again: 50 ms at first, then less and less often, at most a second
/// apart. Replicas do not come back all at once.
const RETRIES: Backoff =
    Backoff::new(Exponential::new(Duration::from_millis(50), Duration::from_secs(1)), Jitter::Equal);
/// How many tokens' news are taken from a pool, or given to it, at once: its lock is held for so long, some 40 us.
/// Between two such batches others have their turn, at the lock and at the thread.
const TOGETHER: usize = 128;
/// Everything is read and told again so often, for what may have been missed, and so that bars do not expire.
const RENEWS_EVERY: Duration = Duration::from_secs(60 * 60);
/// A store that goes away again within this long was not really back: it is not tried at once, nor told of again.
const STABLE_AFTER: Duration = Duration::from_secs(5);

pub(super) struct Carrier<S> {
    pub(super) store: S,
    pub(super) keys: Keys,
    pub(super) key: Option<IdKey>,
    /// The pools that have the key.
    pub(super) keyed: Vec<TokenManager>,
    pub(super) pools: watch::Receiver<Vec<TokenManager>>,
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) status: watch::Sender<Status>,
    pub(super) tells_return: bool,
    pub(super) counts: Arc<Counts>,
}

/// The link is to end.
struct Stopped;

impl<S: Store> Carrier<S> {
    pub(super) async fn run(mut self) {
        let (mut attempt, mut wait) = (0, Duration::ZERO);
        let mut said = String::new();
        loop {
            let begun = Instant::now();
            let why = match self.connected().await {
                Ok(Stopped) => return,
                Err(error) => said_in_full(&error),
            };
            self.counts.failures.fetch_add(1, Relaxed);
            let was = self.status.send_replace(Status::Alone);
            let was_stable = was == Status::Connected && begun.elapsed() > STABLE_AFTER;
            // Once, and again only for another reason.
            if was_stable || why != said {
                tracing::warn!(why, "the store cannot be used: going on alone");
                self.tells_return = true;
            }
            said = why;
            if was_stable {
                (attempt, wait) = (0, Duration::ZERO);
            }
            wait = RETRIES.delay(attempt, wait, fastrand::u64(..));
            attempt = attempt.saturating_add(1);
            tokio::select! {
                () = sleep(wait) => {}
                () = is_true(&mut self.stopping) => return,
            }
        }
    }

    /// From the connection to its end, or to the end of all.
    async fn connected(&mut self) -> Result<Stopped, StoreError> {
        let opening = async {
            self.store.open().await?;
            match &self.keys {
                Keys::OfTheStore(_) => self.store.key().await,
                Keys::Given => Ok(None),
            }
        };
        let key = tokio::select! {
            opened = opening => opened?,
            () = is_true(&mut self.stopping) => return Ok(Stopped),
        };
        if let (Some(key), Keys::OfTheStore(tell)) = (key, &self.keys) {
            tell(&key);
            (self.key, self.keyed) = (Some(key), Vec::new());
        }
        loop {
            let pools = self.pools.borrow_and_update().clone();
            self.take_up(&pools);
            self.agree(&pools).await?;
            self.status.send_replace(Status::Connected);
            if std::mem::take(&mut self.tells_return) {
                tracing::info!("the store is read, and told of changes");
            }
            if self.carry(&pools).await? == Then::Stop {
                return Ok(Stopped);
            }
        }
    }

    fn take_up(&mut self, pools: &[TokenManager]) {
        if let Some(key) = &self.key {
            let had = std::mem::take(&mut self.keyed);
            let new = pools.iter().filter(|pool| !had.iter().any(|known| known.is_same(pool)));
            new.for_each(|pool| pool.rekey(key));
            self.keyed = pools.to_vec();
        }
    }

    /// Reads everything, and tells whatever is known here and not there.
    async fn agree(&mut self, pools: &[TokenManager]) -> Result<(), StoreError> {
        // What is new among them is read with the others.
        pools.iter().for_each(|pool| drop(pool.take_unread()));
        let places: Vec<_> = pools.iter().flat_map(TokenManager::places).collect();
        let known = self.store.load(&places).await?;
        pools.iter().for_each(TokenManager::tell_all);
        let ours = self.take_news(pools).await;
        self.apply(pools, &known).await;
        let mut there: HashMap<(&str, TokenId), &News> = HashMap::with_capacity(known.len());
        for some in known.chunks(TOGETHER) {
            there.extend(some.iter().map(|news| ((&*news.pool, news.id), news)));
            yield_now().await;
        }
        let mut missing = Vec::new();
        for some in ours.chunks(TOGETHER) {
            let adds = |news: &&News| {
                let known = there.get(&(&*news.pool, news.id));
                known.is_none_or(|known| news.adds_to(known))
            };
            missing.extend(some.iter().filter(adds).cloned());
            yield_now().await;
        }
        self.publish(&missing).await
    }

    async fn apply(&mut self, pools: &[TokenManager], news: &[News]) {
        let clock = self.store.clock();
        for pool in pools {
            for some in news.chunk_by(|a, b| a.pool == b.pool).filter(|some| *some[0].pool == *pool.name()) {
                for some in some.chunks(TOGETHER) {
                    pool.apply(some, clock);
                    yield_now().await;
                }
            }
        }
        self.counts.heard.fetch_add(news.len().try_into().unwrap_or(u64::MAX), Relaxed);
    }

    /// Tells what is new, and reads what others have told of scopes that are new here.
    async fn tell(&mut self, pools: &[TokenManager]) -> Result<(), StoreError> {
        let unread: Vec<_> = pools.iter().flat_map(TokenManager::take_unread).collect();
        if !unread.is_empty() {
            let known = self.store.load(&unread).await?;
            self.apply(pools, &known).await;
        }
        let news = self.take_news(pools).await;
        self.publish(&news).await
    }

    /// At most one piece of news for each token, however much has happened.
    async fn take_news(&mut self, pools: &[TokenManager]) -> Vec<News> {
        let mut all = Vec::new();
        for pool in pools {
            // Not without an end, where news are made as fast as they are taken.
            for _ in 0..=pool.untold() / TOGETHER {
                all.extend(pool.take_news(self.store.clock(), TOGETHER));
                yield_now().await;
            }
        }
        all
    }

    async fn publish(&mut self, news: &[News]) -> Result<(), StoreError> {
        if !news.is_empty() {
            self.store.publish(news).await?;
            self.counts.told.fetch_add(news.len().try_into().unwrap_or(u64::MAX), Relaxed);
        }
        Ok(())
    }

    async fn carry(&mut self, pools: &[TokenManager]) -> Result<Then, StoreError> {
        let renews_at = Instant::now() + RENEWS_EVERY;
        loop {
            tokio::select! {
                () = any_news(pools) => {
                    tokio::select! {
                        () = sleep(self.store.gathers()) => {}
                        () = is_true(&mut self.stopping) => {}
                    }
                    self.tell(pools).await?;
                }
                news = self.store.subscribe() => self.apply(pools, &news?).await,
                _ = self.pools.changed() => return Ok(Then::ReadAll),
                () = sleep_until(renews_at) => return Ok(Then::ReadAll),
                () = is_true(&mut self.stopping) => {
                    self.tell(pools).await?;
                    return Ok(Then::Stop);
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    ReadAll,
    Stop,
}

/// Waits until one of the pools has news.
async fn any_news(pools: &[TokenManager]) {
    poll_fn(|cx| {
        // All are asked, so that all know whom to wake.
        let mut any = Poll::Pending;
        for pool in pools {
            if pool.poll_news(cx).is_ready() {
                any = Poll::Ready(());
            }
        }
        any
    })
    .await;
}

/// Waits until it is true. A sender that is gone says so too.
async fn is_true(flag: &mut watch::Receiver<bool>) {
    let _ = flag.wait_for(|flag| *flag).await;
}

/// The message and its causes, in one line.
fn said_in_full(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
