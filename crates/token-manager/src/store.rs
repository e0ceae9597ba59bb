use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::{Clock, IdKey, News, TokenId};

/// A token, by its pool's name and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The pool's name in the settings.
    pub pool: Arc<str>,
    /// The token.
    pub id: TokenId,
}

/// Where the state of tokens is kept beyond the process, or shared by several.
///
/// A store knows tokens by their ids alone. It is driven by one task and may be slow, or away: whoever lends
/// tokens never waits for it.
pub trait Store: Send + 'static {
    /// Connects, or connects again, and begins to listen for [`subscribe`](Self::subscribe): before [`load`](Self::load), so
    /// that nothing is missed between the two.
    ///
    /// # Errors
    ///
    /// The store is away, or refuses. The caller tries again, by a schedule of its own.
    fn open(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The key under which all who share the store make ids, made by the first of them; none if it is the one
    /// that was told last. Called after [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    fn key(&mut self) -> impl Future<Output = Result<Option<IdKey>, StoreError>> + Send;

    /// The present by the store's clock, by which all [`News`] are dated.
    fn clock(&self) -> Clock;

    /// What is known of these tokens.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    fn load(&mut self, tokens: &[Place]) -> impl Future<Output = Result<Vec<News>, StoreError>> + Send;

    /// Keeps news, and tells them to the others. What the store knows already is merged with them.
    ///
    /// # Errors
    ///
    /// They may not have been kept, or only some of them. The caller tells everything again after the next
    /// [`open`](Self::open).
    fn publish(&mut self, news: &[News]) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Waits for news of others: at least one, or none where what there was could not be read. May be dropped
    /// at any time.
    ///
    /// # Errors
    ///
    /// The store has gone.
    fn subscribe(&mut self) -> impl Future<Output = Result<Vec<News>, StoreError>> + Send;

    /// How long to gather news before they are published together.
    fn gathers(&self) -> Duration {
        Duration::ZERO
    }
}

/// Why a store could not be used. The message names the place and never holds a secret.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// An error of this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// The same with its cause, which the message does not repeat.
    #[must_use = "returns the error, changes nothing"]
    pub fn because(self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: Some(cause.into()), ..self }
    }
}
