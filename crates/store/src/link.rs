//! Carries news between pools and a store.

mod carrier;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tidegate_token_manager::{IdKey, Store, TokenManager};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use self::carrier::Carrier;

/// The task that carries news between pools and a store, until [`stop`](Self::stop) or until it is dropped.
#[derive(Debug)]
pub struct Link {
    pools: watch::Sender<Vec<TokenManager>>,
    status: watch::Receiver<Status>,
    counts: Arc<Counts>,
    stop: watch::Sender<bool>,
    task: AbortHandle,
}

/// How it stands with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// What is in it has not been read yet.
    Starting,
    /// It is read, and is told of changes.
    Connected,
    /// It is away. The pools go on with what they know.
    Alone,
}

/// What has been carried, and how often that failed.
#[derive(Debug, Default)]
pub struct Counts {
    /// Tokens' news told to the store.
    pub told: AtomicU64,
    /// Tokens' news that were heard from it.
    pub heard: AtomicU64,
    /// How often it was, or stayed, away.
    pub failures: AtomicU64,
}

/// Where the key comes from under which tokens have their ids.
pub enum Keys {
    /// From the settings: the pools have it already.
    Given,
    /// From the store. Told here whenever it is another; the pools of the link get it from the link.
    OfTheStore(Box<dyn Fn(&IdKey) + Send + Sync>),
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "Given",
            Self::OfTheStore(_) => "OfTheStore",
        })
    }
}

impl Link {
    /// Begins to carry news.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(store: impl Store, keys: Keys, pools: Vec<TokenManager>) -> Self {
        // From the first moment on: what happens before the store is reached is told then.
        pools.iter().for_each(TokenManager::share);
        let (pools, changing) = watch::channel(pools);
        let (tell_status, status) = watch::channel(Status::Starting);
        let (stop, stopping) = watch::channel(false);
        let counts = Arc::new(Counts::default());
        let carrier = Carrier {
            store,
            keys,
            key: None,
            keyed: Vec::new(),
            pools: changing,
            stopping,
            status: tell_status,
            tells_return: true,
            counts: Arc::clone(&counts),
        };
        Self { pools, status, counts, stop, task: tokio::spawn(carrier.run()).abort_handle() }
    }

    /// Takes these for the pools, as after a reload: new tokens are looked up.
    pub fn set_pools(&self, pools: Vec<TokenManager>) {
        pools.iter().for_each(TokenManager::share);
        self.pools.send_replace(pools);
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        *self.status.borrow()
    }

    /// Waits until the store was read or has failed to be, at most so long.
    pub async fn first_read(&self, longest: Duration) {
        let mut status = self.status.clone();
        let _ = timeout(longest, status.wait_for(|status| *status != Status::Starting)).await;
    }

    /// Waits until it stands so with the store; for ever if the link ends before.
    pub async fn reaches(&self, wanted: Status) {
        let mut status = self.status.clone();
        if status.wait_for(|status| *status == wanted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// What has been carried so far.
    pub fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// Tells what is left to tell, in at most so long, and ends.
    pub async fn stop(&self, longest: Duration) {
        self.stop.send_replace(true);
        let mut status = self.status.clone();
        // The task's end closes the channel.
        if timeout(longest, status.wait_for(|_| false)).await.is_err() {
            tracing::warn!("the store has not taken the latest changes in time");
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}
