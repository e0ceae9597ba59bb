//! Redis or Valkey, shared by replicas.

mod address;
mod connection;
mod learned;
mod value;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tidegate_token_manager::{Clock, IdKey, News, Place, Store, StoreError};

pub use self::address::{AddressError, RedisAddress};
use self::connection::{Connection, Published};
use self::value::Message;
use crate::key::StoreKey;

/// How many keys are read by one command, and how many pieces of news are sent before their answers are
/// awaited: some 10 ms of a server's time, so that nobody else waits long for it.
const TOGETHER: usize = 512;
/// How many keys that cannot be used are named in the log.
const MOST_NAMED: usize = 64;

/// State in Redis or Valkey, for any number of replicas.
///
/// Each token has a key, `PREFIX:token:POOL:ID`, whose value is changed by a script, so that two replicas' news are
/// merged in one step; it expires a day after it has ceased to matter. Changes are told on the channel
/// `PREFIX:news:DATABASE`. The key of the ids is in `PREFIX:key`. All moments are by the server's clock.
#[derive(Debug)]
pub struct RedisStore {
    address: RedisAddress,
    /// By which a replica knows its own news.
    origin: String,
    connection: Option<Connection>,
    key: Option<StoreKey>,
    /// Keys that hold something else, each told of once.
    unusable: HashSet<String>,
}

// The key is a secret.
impl std::fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoreKey(…)")
    }
}

impl RedisStore {
    /// A store at this address. Nothing is sent before it is opened.
    ///
    /// # Errors
    ///
    /// The operating system has no random bytes to give, from which the replica's name is made.
    pub fn new(address: RedisAddress) -> std::io::Result<Self> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(std::io::Error::other)?;
        let origin = format!("{:016x}", u64::from_be_bytes(name));
        Ok(Self { address, origin, connection: None, key: None, unusable: HashSet::new() })
    }

    fn connection(&mut self) -> Result<&mut Connection, StoreError> {
        let address = &self.address;
        self.connection.as_mut().ok_or_else(|| StoreError::new(format!("{address} is not connected")))
    }

    fn token_key(&self, place: &Place) -> String {
        format!("{}:token:{}:{}", self.address.prefix(), place.pool, place.id)
    }

    fn warn_once(&mut self, key: &str, why: &str) {
        if self.unusable.len() < MOST_NAMED && self.unusable.insert(key.to_owned()) {
            tracing::warn!(store = %self.address, key, why, "a key of the store cannot be used; its token is not shared");
        }
    }
}

impl Store for RedisStore {
    async fn open(&mut self) -> Result<(), StoreError> {
        self.connection = None;
        let mut connection = Connection::open(&self.address, &self.origin).await?;
        let sign = format!("{}:replica:{}", self.address.prefix(), self.origin);
        connection.sign(&sign, env!("CARGO_PKG_VERSION")).await?;
        self.connection = Some(connection);
        Ok(())
    }

    async fn key(&mut self) -> Result<Option<IdKey>, StoreError> {
        let name = format!("{}:key", self.address.prefix());
        // A server that has lost everything gets the key that its replicas have: their ids stay.
        let ours = match &self.key {
            Some(key) => key.clone(),
            None => StoreKey::random()
                .map_err(|error| StoreError::new("there is no randomness for a key").because(error))?,
        };
        let text = self.connection()?.get_or_set(&name, &ours.write()).await?;
        let key = StoreKey::read(&text).ok_or_else(|| {
            let address = &self.address;
            StoreError::new(format!(
                "{address}: the key {name} holds no key of ids; delete it, or set another prefix"
            ))
        })?;
        if self.key.as_ref() == Some(&key) {
            return Ok(None);
        }
        let id_key = key.id_key();
        self.key = Some(key);
        Ok(Some(id_key))
    }

    fn clock(&self) -> Clock {
        self.connection.as_ref().map_or_else(Clock::wall, Connection::clock)
    }

    async fn load(&mut self, tokens: &[Place]) -> Result<Vec<News>, StoreError> {
        let mut all = Vec::new();
        for some in tokens.chunks(TOGETHER) {
            let keys: Vec<String> = some.iter().map(|place| self.token_key(place)).collect();
            let values = self.connection()?.get_all(&keys).await?;
            for ((place, key), value) in some.iter().zip(&keys).zip(values) {
                match value.map(|text| value::read(Arc::clone(&place.pool), place.id, &text)) {
                    Some(Ok(news)) => all.push(news),
                    Some(Err(why)) => self.warn_once(key, &why.to_string()),
                    None => {}
                }
            }
        }
        Ok(all)
    }

    async fn publish(&mut self, news: &[News]) -> Result<(), StoreError> {
        for some in news.chunks(TOGETHER) {
            let keyed = some.iter().map(|news| {
                let place = Place { pool: Arc::clone(&news.pool), id: news.id };
                (self.token_key(&place), value::write(news), Message::tail(&self.origin, news))
            });
            let keyed: Vec<_> = keyed.collect();
            let answers = self.connection()?.merge(&keyed).await?;
            for ((key, ..), answer) in keyed.iter().zip(answers) {
                if let Published::Unusable(why) = answer {
                    self.warn_once(key, &why);
                }
            }
        }
        Ok(())
    }

    async fn subscribe(&mut self) -> Result<Vec<News>, StoreError> {
        let origin = self.origin.clone();
        let texts = self.connection()?.hear().await?;
        let messages = texts.iter().filter_map(|text| Message::read(text));
        Ok(messages.filter(|message| message.origin != origin).map(|message| message.news).collect())
    }

    fn gathers(&self) -> Duration {
        // A round trip gathers by itself what happens meanwhile.
        Duration::ZERO
    }
}
