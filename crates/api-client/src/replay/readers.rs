//! Wakes every try that waits for the original, whichever polled it last.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Wake, Waker},
};

/// The wakers of the tries that wait. It is itself the waker that the original body gets: that one keeps only the
/// last, and the last may be a try that was given up.
///
/// Apart from the body's state, so that a body that keeps its waker does not keep itself.
#[derive(Default)]
pub(super) struct Readers(Mutex<Vec<(u64, Waker)>>);

impl Readers {
    /// The reader of this number waits.
    pub(super) fn register(&self, number: u64, waker: &Waker) {
        let mut waiting = self.lock();
        match waiting.iter_mut().find(|(other, _)| *other == number) {
            Some((_, own)) => own.clone_from(waker),
            None => waiting.push((number, waker.clone())),
        }
    }

    /// This reader has read something: all the others look again.
    pub(super) fn wake_others(&self, number: u64) {
        let waiting = std::mem::take(&mut *self.lock());
        waiting.into_iter().filter(|(other, _)| *other != number).for_each(|(_, waker)| waker.wake());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Waker)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Readers {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Taken out first: a waker may run code that comes back here.
        let waiting = std::mem::take(&mut *self.lock());
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }
}
