//! Where the pools' state outlives the process, as the settings have it.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};

use tidegate_config as config;
use tidegate_store::{AddressError, FileStore, Keys, Link, RedisAddress, RedisStore, Status};
use tidegate_token_manager::{IdKey, TokenManager};

use crate::metrics::StoreScrape;

/// Why the store cannot be set up. One that is only away does not keep a gateway from starting.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreStartError {
    #[error("store.url is no address of a Redis")]
    Address(#[from] AddressError),
    #[error("there is no randomness for the store")]
    Random(#[from] std::io::Error),
}

/// The key under which tokens have their ids: of the settings, or of the store once that is reached, or else of
/// the process. What is made anew by a reload has the latest.
#[derive(Clone)]
pub(crate) struct SharedKey(Arc<RwLock<IdKey>>);

impl SharedKey {
    /// The settings' key, or one of the process.
    pub(crate) fn new(settings: &config::Store) -> Result<Self, StoreStartError> {
        let key = match &settings.key {
            Some(key) => IdKey::from_bytes(key.expose().as_bytes()),
            None => IdKey::random()?,
        };
        Ok(Self(Arc::new(RwLock::new(key))))
    }

    pub(crate) fn get(&self) -> IdKey {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, key: &IdKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = key.clone();
    }
}

/// A store in use.
pub(crate) struct Stored {
    /// What to call it, without a password.
    pub(crate) place: String,
    pub(crate) link: Link,
}

impl Stored {
    /// Begins to read and to tell; nothing for `memory:`.
    pub(crate) fn start(
        settings: &config::Store,
        key: &SharedKey,
        pools: Vec<TokenManager>,
    ) -> Result<Option<Self>, StoreStartError> {
        let keys = match &settings.key {
            Some(_) => Keys::Given,
            None => {
                let key = key.clone();
                Keys::OfTheStore(Box::new(move |new| key.set(new)))
            }
        };
        Ok(match &settings.place {
            config::StorePlace::Memory => None,
            config::StorePlace::File(path) => {
                let place = format!("file {}", path.display());
                Some(Self { place, link: Link::start(FileStore::new(path), keys, pools) })
            }
            config::StorePlace::Redis(url) => {
                let address: RedisAddress = url.expose().parse()?;
                let place = address.to_string();
                Some(Self { place, link: Link::start(RedisStore::new(address)?, keys, pools) })
            }
        })
    }

    pub(crate) fn scrape(&self) -> StoreScrape {
        let counts = self.link.counts();
        StoreScrape {
            connected: self.link.status() == Status::Connected,
            told: counts.told.load(Relaxed),
            heard: counts.heard.load(Relaxed),
            failures: counts.failures.load(Relaxed),
        }
    }
}
