//! A file that outlives the process.

mod disk;
mod format;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tidegate_token_manager::{Clock, IdKey, News, Place, Stamp, Store, StoreError};

use crate::key::StoreKey;

/// Changes within this long are written together. Well below the 100 ms within which a change is on disk.
const GATHERS: Duration = Duration::from_millis(20);
/// A token's news are kept for a day after they have ceased to matter: failures in a row are remembered so
/// long.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
/// A bar on a token that the settings do not name any more is kept for 30 days.
const BARS_KEPT_MS: i64 = 30 * KEPT_MS;

/// State in a file, for one process at a time.
///
/// Every change is written whole to a temporary file beside it, synced, and renamed over the old one: after a
/// `kill -9` or a power cut there is the old state or the new, never half of one. The file has mode 0600. The
/// key of the ids is in a file beside it, `PATH.key`.
///
/// What cannot be read (torn, foreign, of a newer version) is set aside under another name with a warning, and the
/// state begins anew.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    is_open: bool,
    has_key: bool,
    /// What is in the table is not all on disk.
    is_behind: bool,
    table: Arc<Mutex<Table>>,
}

type Table = HashMap<Place, News>;

impl FileStore {
    /// A store at this path. Nothing is read or made before it is opened.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_open: false, has_key: false, is_behind: false, table: Arc::default() }
    }

    /// Does something slow where it holds up nobody.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let done = tokio::task::spawn_blocking(move || work(&path)).await;
        done.unwrap_or_else(|error| Err(self.error("was not used").because(error)))
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        self.is_behind = true;
        let table = Arc::clone(&self.table);
        let written = self.blocking(move |path| {
            let now = Clock::wall().stamp;
            let text = {
                let mut table = lock(&table);
                table.retain(|_, news| is_kept(news, true, now));
                format::write(table.values(), now)
            };
            disk::write(path, &text)
        });
        written.await?;
        self.is_behind = false;
        Ok(())
    }

    fn error(&self, what: &str) -> StoreError {
        StoreError::new(format!("file {} {what}", self.path.display()))
    }
}

impl Store for FileStore {
    async fn open(&mut self) -> Result<(), StoreError> {
        // What was read once is in the table, and newer there than on disk.
        if !self.is_open {
            let table = self.blocking(disk::read).await?;
            *lock(&self.table) = table.into_iter().map(|news| (place(&news), news)).collect();
            self.is_open = true;
        }
        if self.is_behind { self.write().await } else { Ok(()) }
    }

    async fn key(&mut self) -> Result<Option<IdKey>, StoreError> {
        if self.has_key {
            return Ok(None);
        }
        let key = self.blocking(disk::key).await?;
        self.has_key = true;
        Ok(Some(StoreKey::id_key(&key)))
    }

    fn clock(&self) -> Clock {
        Clock::wall()
    }

    async fn load(&mut self, tokens: &[Place]) -> Result<Vec<News>, StoreError> {
        let now = Clock::wall().stamp;
        let known: std::collections::HashSet<&Place> = tokens.iter().collect();
        let mut table = lock(&self.table);
        table.retain(|place, news| is_kept(news, known.contains(place), now));
        Ok(tokens.iter().filter_map(|place| table.get(place).cloned()).collect())
    }

    async fn publish(&mut self, news: &[News]) -> Result<(), StoreError> {
        {
            let mut table = lock(&self.table);
            for news in news {
                table
                    .entry(place(news))
                    .and_modify(|known| known.merge(news))
                    .or_insert_with(|| news.clone());
            }
        }
        self.write().await
    }

    async fn subscribe(&mut self) -> Result<Vec<News>, StoreError> {
        std::future::pending().await
    }

    fn gathers(&self) -> Duration {
        GATHERS
    }
}

fn place(news: &News) -> Place {
    Place { pool: Arc::clone(&news.pool), id: news.id }
}

fn is_kept(news: &News, is_known: bool, now: Stamp) -> bool {
    let age = news.latest().map_or(i64::MAX, |latest| now.since(latest));
    age < KEPT_MS || news.is_barred() && (is_known || age < BARS_KEPT_MS)
}

fn lock(table: &Mutex<Table>) -> std::sync::MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
