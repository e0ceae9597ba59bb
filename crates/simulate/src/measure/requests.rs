use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The upstream answered it: 200, or 404 where there is nothing.
    Served,
    /// It got no token, or the upstream's refusal.
    Refused,
    /// It got the upstream's fault, or nothing before its deadline.
    Failed,
}

/// One request's way, in short. Moments count from the simulation's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it came in.
    pub asked: Duration,
    /// When its client had an answer.
    pub ended: Duration,
    /// Whose it is.
    pub client: usize,
    /// How it ended.
    pub outcome: Outcome,
}

/// All requests, in the order in which they ended; a clone is the same list.
#[derive(Clone, Debug, Default)]
pub struct Requests(Arc<Mutex<Vec<Request>>>);

impl Requests {
    /// One that has ended.
    pub fn push(&self, request: Request) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    }

    /// The list as it is now.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
