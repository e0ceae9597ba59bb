//! What is known of the tokens, in memory and on disk.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_token_manager::{Clock, News, Place, Stamp, StoreError};

use super::disk::{self, Log};
use super::format;

/// A token's news are kept for a day after they have ceased to matter: failures in a row are remembered so
/// long.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
/// A bar on a token that the settings do not name any more is kept for 30 days.
const BARS_KEPT_MS: i64 = 30 * KEPT_MS;
/// The file may grow to twice what was last written whole, and this.
const GROWS_BY: u64 = 64 * 1024;
/// So many records are added and synced at once, so that the first are not held up by the last.
const TOGETHER: usize = 4096;

type Table = HashMap<Place, News>;

/// What is known, and the file that holds it.
///
/// A change is added to the end of the file. When that has grown, it is written anew beside, while changes still
/// go to the old one; then it takes the old one's place.
#[derive(Debug)]
pub(super) struct Book {
    path: PathBuf,
    table: Table,
    /// What the settings name, or have named since the start: it was asked for.
    named: HashSet<Place>,
    /// What of it is not on disk.
    unsaved: HashSet<Place>,
    /// None before there is a file, or where it cannot be added to.
    log: Option<Log>,
    /// How long the file was when it was last written whole, or was to be.
    whole: u64,
    /// While the file is written anew: what has changed meanwhile.
    meanwhile: Option<HashSet<Place>>,
}

impl Book {
    pub(super) fn new(path: PathBuf) -> Self {
        let (table, named, unsaved) = (Table::new(), HashSet::new(), HashSet::new());
        Self { path, table, named, unsaved, log: None, whole: 0, meanwhile: None }
    }

    /// Takes in what the file holds.
    pub(super) fn read(&mut self) -> Result<(), StoreError> {
        let found = disk::read(&self.path)?;
        for news in &found.news {
            merge(&mut self.table, news);
        }
        self.log = found.log;
        if found.was_damaged {
            self.unsaved.extend(self.table.keys().cloned());
        }
        self.save()
    }

    pub(super) fn take_in(&mut self, news: &[News]) {
        for news in news {
            merge(&mut self.table, news);
            let place = place(news);
            if let Some(meanwhile) = &mut self.meanwhile {
                meanwhile.insert(place.clone());
            }
            self.unsaved.insert(place);
        }
    }

    /// Puts on disk what is not there yet.
    pub(super) fn save(&mut self) -> Result<(), StoreError> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        if !self.log.as_ref().is_some_and(|log| log.is_at(&self.path)) {
            return self.write_whole();
        }
        let places: Vec<Place> = self.unsaved.iter().cloned().collect();
        for some in places.chunks(TOGETHER) {
            let text = records(some.iter().filter_map(|place| self.table.get(place)));
            if let Some(log) = &mut self.log {
                log.append(&text).map_err(|error| disk::failed(&self.path, "cannot be written", error))?;
            }
            some.iter().for_each(|place| _ = self.unsaved.remove(place));
        }
        Ok(())
    }

    /// What is known of these tokens; what has ceased to matter is forgotten.
    pub(super) fn load(&mut self, tokens: &[Place]) -> Vec<News> {
        let now = Clock::wall().stamp;
        self.named.extend(tokens.iter().cloned());
        self.table.retain(|place, news| is_kept(news, self.named.contains(place), now));
        tokens.iter().filter_map(|place| self.table.get(place).cloned()).collect()
    }

    /// Whether the file has grown so much that it is to be written anew, and is not being so.
    pub(super) fn has_grown(&self) -> bool {
        let grown = |log: &Log| log.length() > self.whole.saturating_mul(2).saturating_add(GROWS_BY);
        self.meanwhile.is_none() && self.log.as_ref().is_some_and(grown)
    }

    fn write_whole(&mut self) -> Result<(), StoreError> {
        // What is being written anew elsewhere does not count any more.
        self.meanwhile = None;
        let text = records(self.kept());
        let begun = disk::begin(&self.path, &text)?;
        self.install(begun)
    }

    fn install(&mut self, log: Log) -> Result<(), StoreError> {
        self.log = None;
        disk::install(&self.path, &log)?;
        self.whole = log.length();
        self.log = Some(log);
        self.unsaved.clear();
        Ok(())
    }

    fn kept(&mut self) -> impl Iterator<Item = &News> {
        let now = Clock::wall().stamp;
        self.table.retain(|_, news| is_kept(news, true, now));
        self.table.values()
    }
}

/// Writes the file anew. The book is held only at the beginning and at the end.
pub(super) fn rewrite(book: &Mutex<Book>) -> Result<(), StoreError> {
    let (path, kept) = {
        let mut book = lock(book);
        book.meanwhile = Some(HashSet::new());
        (book.path.clone(), book.kept().cloned().collect::<Vec<News>>())
    };
    let begun = disk::begin(&path, &records(kept.iter()));
    drop(kept);
    let mut book = lock(book);
    let Some(meanwhile) = book.meanwhile.take() else { return Ok(()) };
    // If it fails, it is tried again when as much has been added once more.
    book.whole = book.log.as_ref().map_or(0, Log::length);
    let mut log = begun?;
    let text = records(meanwhile.iter().filter_map(|place| book.table.get(place)));
    log.append(&text).map_err(|error| disk::failed(&path, "cannot be written", error))?;
    book.install(log)
}

pub(super) fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

fn merge(table: &mut Table, news: &News) {
    table.entry(place(news)).and_modify(|known| known.merge(news)).or_insert_with(|| news.clone());
}

fn records<'a>(news: impl Iterator<Item = &'a News>) -> Vec<u8> {
    let mut text = Vec::new();
    news.for_each(|news| format::write(news, &mut text));
    text
}

fn place(news: &News) -> Place {
    Place { pool: Arc::clone(&news.pool), id: news.id }
}

fn is_kept(news: &News, is_known: bool, now: Stamp) -> bool {
    let age = news.latest().map_or(i64::MAX, |latest| now.since(latest));
    age < KEPT_MS || news.is_barred() && (is_known || age < BARS_KEPT_MS)
}
