//! A file that outlives the process.

mod book;
mod disk;
mod format;
mod learned;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tidegate_token_manager::{Clock, IdKey, News, Place, Store, StoreError};

use self::book::{Book, lock};
use crate::key::StoreKey;

/// Changes within this long are written together. Well below the 100 ms within which a change is on disk.
const GATHERS: Duration = Duration::from_millis(20);

/// State in a file, for one process at a time.
///
/// Every change is added to the end of the file, and synced. A file that has grown to twice its size is written whole to
/// a temporary file beside it, synced, and renamed over the old one, while changes still go to that. After a
/// `kill -9` or a power cut all is there that was synced: what was torn is known by its checksum. The file has mode
/// 0600. The key of the ids is in a file beside it, `PATH.key`.
///
/// What cannot be read (foreign, damaged, of a newer version) is set aside under another name with a warning; the state
/// begins anew, with what of a damaged file can be read.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    is_open: bool,
    has_key: bool,
    book: Arc<Mutex<Book>>,
}

impl FileStore {
    /// A store at this path. Nothing is read or made before it is opened.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let book = Arc::new(Mutex::new(Book::new(path.clone())));
        Self { path, is_open: false, has_key: false, book }
    }

    /// Does something slow where it holds up nobody.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let failed = |error| {
            let what = format!("file {} was not used", self.path.display());
            Err(StoreError::new(what).because(error))
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(failed)
    }

    async fn with_book<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Book) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let book = Arc::clone(&self.book);
        self.blocking(move || work(&mut lock(&book))).await
    }
}

impl Store for FileStore {
    async fn open(&mut self) -> Result<(), StoreError> {
        // What was read once is in the book, and newer there than on disk.
        let is_open = self.is_open;
        self.with_book(move |book| if is_open { book.save() } else { book.read() }).await?;
        self.is_open = true;
        Ok(())
    }

    async fn key(&mut self) -> Result<Option<IdKey>, StoreError> {
        if self.has_key {
            return Ok(None);
        }
        let path = self.path.clone();
        let key = self.blocking(move || disk::key(&path)).await?;
        self.has_key = true;
        Ok(Some(StoreKey::id_key(&key)))
    }

    fn clock(&self) -> Clock {
        Clock::wall()
    }

    async fn load(&mut self, tokens: &[Place]) -> Result<Vec<News>, StoreError> {
        let tokens = tokens.to_vec();
        self.with_book(move |book| Ok(book.load(&tokens))).await
    }

    async fn publish(&mut self, news: &[News]) -> Result<(), StoreError> {
        let news = news.to_vec();
        let has_grown = self.with_book(move |book| {
            book.take_in(&news);
            book.save().map(|()| book.has_grown())
        });
        if has_grown.await? {
            let book = Arc::clone(&self.book);
            // Nobody waits for it: until it is done, changes go to the old file.
            drop(tokio::task::spawn_blocking(move || {
                if let Err(error) = book::rewrite(&book) {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the store's file goes on growing"
                    );
                }
            }));
        }
        Ok(())
    }

    async fn subscribe(&mut self) -> Result<Vec<News>, StoreError> {
        std::future::pending().await
    }

    fn gathers(&self) -> Duration {
        GATHERS
    }
}
