//! The bytes that are held of one body, and a reader's place in them.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};

use super::memory::{NoRoom, ReplayMemory, Reservation};

/// Pieces that are shorter are copied together: a body that comes byte by byte must not cost a handle of 32 bytes
/// for each.
const SHORT: usize = 4096;
/// Where copies are put together.
const PAGE: usize = 16 * 1024;

pub(super) struct Held {
    limit: usize,
    reservation: Reservation,
    pieces: Vec<Bytes>,
    /// The last piece, still growing.
    page: BytesMut,
}

/// A reader's place: a piece and an offset in it. One past the last piece is the page.
pub(super) struct Cursor {
    number: u64,
    piece: usize,
    offset: usize,
}

impl Cursor {
    /// The start, for a reader of its own number. No number is 0.
    pub(super) fn start() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), piece: 0, offset: 0 }
    }

    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    pub(super) const fn is_number(&self, number: u64) -> bool {
        self.number == number
    }
}

impl Held {
    pub(super) fn new(limit: usize, memory: &ReplayMemory) -> Self {
        Self { limit, reservation: Reservation::new(memory), pieces: Vec::new(), page: BytesMut::new() }
    }

    /// The bytes after `cursor`, which moves past them; `None` at the end of what is held.
    pub(super) fn next(&self, cursor: &mut Cursor) -> Option<Bytes> {
        while let Some(piece) = self.pieces.get(cursor.piece) {
            let bytes = piece.slice(cursor.offset..);
            cursor.piece += 1;
            cursor.offset = 0;
            if !bytes.is_empty() {
                return Some(bytes);
            }
        }
        let bytes = &self.page[cursor.offset..];
        cursor.offset = self.page.len();
        (!bytes.is_empty()).then(|| Bytes::copy_from_slice(bytes))
    }

    /// Whether nothing that is held lies ahead of `cursor`.
    pub(super) fn is_read(&self, cursor: &Cursor) -> bool {
        let in_pieces = self.pieces.iter().skip(cursor.piece).map(Bytes::len).sum::<usize>();
        in_pieces + self.page.len() == cursor.offset
    }

    /// Holds `bytes`, which the reader at `cursor` has just got from the original.
    pub(super) fn push(&mut self, bytes: &Bytes, cursor: &mut Cursor) -> Result<(), NoRoom> {
        if self.reservation.bytes().saturating_add(bytes.len()) > self.limit {
            return Err(NoRoom);
        }
        self.reservation.grow(bytes.len())?;
        // The first piece is most often the only one, and not worth a copy.
        let whole = bytes.len() >= SHORT || (self.pieces.is_empty() && self.page.is_empty());
        if whole || self.page.len() + bytes.len() > PAGE {
            self.seal();
        }
        if whole {
            self.pieces.push(bytes.clone());
        } else {
            self.page.extend_from_slice(bytes);
        }
        // The reader was at the end, and is again.
        (cursor.piece, cursor.offset) = (self.pieces.len(), self.page.len());
        Ok(())
    }

    /// Makes the page a piece. It keeps its number, so that readers in it stay where they are.
    fn seal(&mut self) {
        if !self.page.is_empty() {
            self.pieces.push(self.page.split().freeze());
        }
    }
}
