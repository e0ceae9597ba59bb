use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use tidegate_api_client::Attempts;
use tokio::time::Instant;

/// How many requests are kept.
const KEPT: usize = 50;

/// What a client asked for, shared by everything that writes it down.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) method: Method,
    /// Without the query, which may hold what is nobody else's matter.
    pub(crate) path: String,
}

/// One request, as far as its answer's head.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) asked: Arc<Asked>,
    pub(crate) route: String,
    /// The name of its client's key, or its address.
    pub(crate) client: Option<Arc<str>>,
    /// What its caller got; none where it had gone.
    pub(crate) status: Option<StatusCode>,
    pub(crate) attempts: Attempts,
    pub(crate) at: Instant,
    pub(crate) took: Duration,
}

/// The latest requests, numbered from 0 on.
#[derive(Debug, Default)]
pub(super) struct Recent {
    kept: VecDeque<Seen>,
    /// The number of the next one.
    next: u64,
}

impl Recent {
    pub(super) fn push(&mut self, seen: Seen) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(seen);
        self.next += 1;
    }

    pub(super) fn since(&self, from: u64) -> Vec<(u64, Seen)> {
        let first = self.next - self.kept.len() as u64;
        (first..).zip(&self.kept).filter(|(n, _)| *n >= from).map(|(n, seen)| (n, seen.clone())).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn seen(path: &str) -> Seen {
        let asked = Asked { id: "id".to_owned(), method: Method::GET, path: path.to_owned() };
        Seen {
            asked: Arc::new(asked),
            route: "/".to_owned(),
            client: None,
            status: Some(StatusCode::OK),
            attempts: Attempts::default(),
            at: Instant::now(),
            took: Duration::from_millis(20),
        }
    }

    #[test]
    fn the_latest_are_kept_and_each_has_its_number() {
        let mut recent = Recent::default();
        let numbers = |found: Vec<(u64, Seen)>| {
            assert!(found.iter().all(|(n, seen)| seen.asked.path == format!("/{n}")));
            found.first().map(|(n, _)| *n).zip(found.last().map(|(n, _)| *n))
        };
        assert_eq!(numbers(recent.since(0)), None);
        for n in 0..73 {
            recent.push(seen(&format!("/{n}")));
        }
        for (from, want) in
            [(0, Some((23, 72))), (23, Some((23, 72))), (70, Some((70, 72))), (73, None), (900, None)]
        {
            assert_eq!(numbers(recent.since(from)), want, "{from}");
        }
    }
}
