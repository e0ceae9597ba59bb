//! What all lanes tell others, and what they are told.

use std::sync::Arc;

use tokio::time::Instant;

use super::Lanes;
use crate::entry::Entry;
use crate::manager::Wakers;
use crate::pool::Mask;
use crate::{Clock, News, TokenId};

impl Lanes {
    /// From now on notes what there is to tell others.
    pub(in crate::manager) fn share(&mut self) {
        self.base.pool.share(Mask::NONE);
        self.scoped.iter_mut().for_each(|lane| lane.desk.pool.share(Mask::of_scope(&lane.scope)));
    }

    /// Whether there is something to tell, or to ask.
    pub(in crate::manager) fn has_news(&self) -> bool {
        !self.unread.is_empty()
            || self.base.pool.untold() > 0
            || self.scoped.iter().any(|lane| lane.desk.pool.untold() > 0)
    }

    pub(in crate::manager) fn untold(&self) -> usize {
        let scoped = self.scoped.iter().map(|lane| lane.desk.pool.untold());
        self.base.pool.untold() + scoped.sum::<usize>()
    }

    /// Has the courier called if there is something to tell, or to ask.
    pub(in crate::manager) fn call_courier(&mut self, wakers: &mut Wakers) {
        if self.base.courier.is_some() && self.has_news() {
            wakers.extend(self.base.courier.take());
        }
    }

    /// The same where there can only be something to ask.
    pub(in crate::manager) fn call_courier_of_new(&mut self, wakers: &mut Wakers) {
        if !self.unread.is_empty() {
            wakers.extend(self.base.courier.take());
        }
    }

    /// Up to `most` pieces of news.
    pub(in crate::manager) fn take_news(&mut self, pool: &Arc<str>, clock: Clock, most: usize) -> Vec<News> {
        let mut news = Vec::new();
        for desk in self.desks() {
            if news.len() < most && desk.pool.untold() > 0 {
                news.extend(desk.pool.take_news(pool, clock, most - news.len()));
            }
        }
        news
    }

    /// Lanes that were made since this was last asked.
    pub(in crate::manager) fn take_unread(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.unread)
    }

    pub(in crate::manager) fn numbers(&self) -> Vec<u32> {
        std::iter::once(0).chain(self.scoped.iter().map(|lane| lane.number)).collect()
    }

    /// News of others. Those without a scope are of the tokens in the first lane; what of them is the token's in every
    /// lane is told to all, and so is a reset.
    pub(in crate::manager) fn apply(&mut self, news: &[News], clock: Clock, now: Instant) {
        for news in news {
            if let Some(heard) = self.base.pool.apply(news, clock) {
                for lane in &mut self.scoped {
                    lane.desk.pool.apply_reset(heard.id, heard.reset, &news.pool, clock);
                }
                continue;
            }
            // It is of one lane at most. That it tells of a rest from before a reset, nobody may have known where the
            // reset was made.
            let pools = self.scoped.iter_mut().map(|lane| &mut lane.desk.pool);
            if let Some((lane, heard)) =
                pools.into_iter().find_map(|lane| lane.apply(news, clock).map(|it| (lane, it)))
            {
                let reset = self.base.pool.reset_of(heard.id, clock);
                lane.apply_reset(heard.id, reset, &news.pool, clock);
            }
        }
        for lane in &mut self.scoped {
            lane.desk.pool.follow_some(&self.base.pool, news.iter().map(|news| news.id), now);
        }
    }

    /// Gives tokens other ids.
    pub(in crate::manager) fn rename(&mut self, ids: &[(Arc<Entry>, TokenId)]) {
        let mut renamed = Vec::with_capacity(ids.len());
        for (entry, id) in ids {
            renamed.push((entry.id(), *id));
            entry.set_id(*id);
        }
        self.desks().for_each(|desk| desk.pool.take_ids(&renamed));
    }
}
