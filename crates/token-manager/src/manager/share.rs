//! What a pool tells others of its tokens, and what it is told.

use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use super::TokenManager;
use crate::pool::Pool;
use crate::{Clock, IdKey, News, Place};

/// How many tokens are gone through at once.
const TOGETHER: usize = 1024;

impl TokenManager {
    /// From now on notes what there is to tell: a pool that nobody listens to spares itself that.
    pub fn share(&self) {
        self.shared.lock().share();
    }

    /// Whether these are clones of one pool.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Whether there are news to tell, or a scope of which there may be news to read.
    pub fn has_news(&self) -> bool {
        self.shared.lock().has_news()
    }

    /// Ready when [`has_news`](Self::has_news). Made for one who listens: of several only the latest is woken.
    pub fn poll_news(&self, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut lanes = self.shared.lock();
        if lanes.has_news() {
            return Poll::Ready(());
        }
        let old = lanes.base_mut().courier.replace(waker);
        drop(lanes);
        // A waker may run anything when it is dropped: not under the lock.
        drop(old);
        Poll::Pending
    }

    /// The news of up to `most` tokens, each once and as they stand now, whatever has happened between. They
    /// are not told again, unless by [`tell_all`](Self::tell_all).
    pub fn take_news(&self, clock: Clock, most: usize) -> Vec<News> {
        self.shared.lock().take_news(&self.shared.name, clock, most)
    }

    /// Everything that is known of the tokens counts as news again.
    pub fn tell_all(&self) {
        self.shared.change(|lanes, _| lanes.each(Pool::tell_all));
    }

    /// Takes news of others. They are not told on.
    ///
    /// The later end of a rest counts, a reset makes void what was before it, and what is known changes
    /// nothing. A rest lasts no longer than it was to last, whatever the clocks say.
    pub fn apply(&self, news: &[News], clock: Clock) {
        self.shared.change(|lanes, now| lanes.apply(news, clock, now));
    }

    /// How many pieces of news there are to tell.
    pub fn untold(&self) -> usize {
        self.shared.lock().untold()
    }

    /// The place of each token in each scope, and of each group. With a [`reload`](Self::reload) meanwhile some may be
    /// missing, or be there twice.
    pub fn places(&self) -> Vec<Place> {
        let lanes = self.shared.lock().numbers();
        self.places_in(&lanes)
    }

    /// Places that have come about since this was last asked: those of new scopes. What others have told of them was
    /// not heard here.
    pub fn take_unread(&self) -> Vec<Place> {
        let lanes = self.shared.lock().take_unread();
        self.places_in(&lanes)
    }

    fn places_in(&self, lanes: &[u32]) -> Vec<Place> {
        let mut places = Vec::new();
        for &lane in lanes {
            let mut from = 0;
            loop {
                // Not all in one go: those who lend tokens would have to wait.
                let mut shared = self.shared.lock();
                let ids = shared.get_mut(lane).map(|desk| desk.pool.told_ids(from, TOGETHER));
                drop(shared);
                let Some(ids) = ids.filter(|ids| !ids.is_empty()) else { break };
                from += ids.len();
                places.extend(ids.into_iter().map(|id| Place { pool: Arc::clone(&self.shared.name), id }));
            }
        }
        places
    }

    /// Gives the tokens their ids under another key. States and leases stay, and so do the ways by the old
    /// ids.
    pub fn rekey(&self, key: &IdKey) {
        let mut own = self.shared.key.write().unwrap_or_else(PoisonError::into_inner);
        *own = key.clone();
        let entries = self.shared.lock().base_mut().pool.entries();
        // Without the lock: of many tokens it takes some time. None comes meanwhile, as who reloads waits for the key.
        let ids = entries.into_iter().map(|entry| (Arc::clone(&entry), key.id(&entry.value)));
        let ids: Vec<_> = ids.filter(|(entry, id)| entry.id() != *id).collect();
        self.shared.change(|lanes, _| lanes.rename(&ids));
    }
}
