//! What the running gateway's parts share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::gateway::Gateway;
use crate::live::Live;
use crate::metrics::{Metrics, Scrape};
use crate::store::Stored;

/// The gateway as it stands, its metrics, and whether it is about to stop.
pub(crate) struct State {
    gateway: RwLock<Arc<Gateway>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) live: Arc<Live>,
    /// Where the pools' state outlives the process, if it does.
    pub(crate) store: Option<Stored>,
    stopping: AtomicBool,
    ended: AtomicBool,
}

impl State {
    pub(crate) fn new(gateway: Gateway, metrics: Metrics, store: Option<Stored>) -> Self {
        metrics.know_clients(gateway.client_keys.names());
        Self {
            gateway: RwLock::new(Arc::new(gateway)),
            metrics: Arc::new(metrics),
            live: Arc::new(Live::new()),
            store,
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        }
    }

    /// The gateway that stands now.
    pub(crate) fn gateway(&self) -> Arc<Gateway> {
        self.gateway.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another in its place; requests under way keep theirs.
    pub(crate) fn replace(&self, gateway: Gateway) {
        self.metrics.know_clients(gateway.client_keys.names());
        if let Some(store) = &self.store {
            store.link.set_pools(gateway.pools.clone());
        }
        *self.gateway.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(gateway);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    pub(crate) fn set_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether the gateway's own listener has closed, and whoever still watches should go.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn set_ended(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// What the metrics page shows of the pools and budgets.
    pub(crate) fn scrape(&self) -> Scrape {
        let gateway = self.gateway();
        Scrape {
            pools: gateway.pools.iter().map(|pool| (pool.name().to_owned(), pool.snapshot())).collect(),
            budgets: self.budgets(),
            store: self.store.as_ref().map(Stored::scrape),
        }
    }

    /// Each upstream's origin and how many retries its budget would grant now.
    pub(crate) fn budgets(&self) -> Vec<(String, u64)> {
        let gateway = self.gateway();
        gateway.budgets.iter().map(|(origin, budget)| (origin.clone(), budget.balance())).collect()
    }
}
