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

/// What is known, in parts: with many tokens, to go through all of it at once would hold up what is to be saved.
#[derive(Debug)]
struct Table(Vec<HashMap<Place, News>>);

impl Table {
    const PARTS: usize = 64;

    fn new() -> Self {
        Self(vec![HashMap::new(); Self::PARTS])
    }

    fn part(&mut self, place: &Place) -> &mut HashMap<Place, News> {
        // An id is a piece of a hash.
        &mut self.0[usize::from(place.id.to_bytes()[7]) % Self::PARTS]
    }

    fn get(&mut self, place: &Place) -> Option<&News> {
        self.part(place).get(place)
    }

    fn merge(&mut self, news: &News) {
        let place = place(news);
        let part = self.part(&place);
        part.entry(place).and_modify(|known| known.merge(news)).or_insert_with(|| news.clone());
    }
}

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
            self.table.merge(news);
        }
        self.log = found.log;
        if found.was_damaged {
            let places = self.table.0.iter().flat_map(HashMap::keys).cloned();
            self.unsaved.extend(places);
        }
        self.save()
    }

    pub(super) fn take_in(&mut self, news: &[News]) {
        for news in news {
            self.table.merge(news);
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
            let text = self.records_of(some.iter());
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
        for part in &mut self.table.0 {
            part.retain(|place, news| is_kept(news, self.named.contains(place), now));
        }
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
        let mut text = Vec::new();
        (0..Table::PARTS).for_each(|part| self.add_part(part, &mut text));
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

    /// Forgets what is too old of a part, and adds the records of the rest.
    fn add_part(&mut self, part: usize, text: &mut Vec<u8>) {
        let now = Clock::wall().stamp;
        let part = &mut self.table.0[part];
        part.retain(|_, news| is_kept(news, true, now));
        part.values().for_each(|news| format::write(news, text));
    }

    fn records_of<'a>(&mut self, places: impl Iterator<Item = &'a Place>) -> Vec<u8> {
        let mut text = Vec::new();
        for place in places {
            if let Some(news) = self.table.get(place) {
                format::write(news, &mut text);
            }
        }
        text
    }
}

/// Writes the file anew. The book is held for a part at a time, and at the end.
pub(super) fn rewrite(book: &Mutex<Book>) -> Result<(), StoreError> {
    let path = {
        let mut book = lock(book);
        book.meanwhile = Some(HashSet::new());
        book.path.clone()
    };
    let mut text = Vec::new();
    (0..Table::PARTS).for_each(|part| lock(book).add_part(part, &mut text));
    let begun = disk::begin(&path, &text);
    drop(text);
    let mut book = lock(book);
    let Some(meanwhile) = book.meanwhile.take() else { return Ok(()) };
    // If it fails, it is tried again when as much has been added once more.
    book.whole = book.log.as_ref().map_or(0, Log::length);
    let mut log = begun?;
    let text = book.records_of(meanwhile.iter());
    log.append(&text).map_err(|error| disk::failed(&path, "cannot be written", error))?;
    book.install(log)
}

pub(super) fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

fn place(news: &News) -> Place {
    Place { pool: Arc::clone(&news.pool), id: news.id }
}

fn is_kept(news: &News, is_known: bool, now: Stamp) -> bool {
    let age = news.latest().map_or(i64::MAX, |latest| now.since(latest));
    age < KEPT_MS || news.is_barred() && (is_known || age < BARS_KEPT_MS)
}
