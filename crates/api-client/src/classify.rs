//! The one place where a response is judged.

use std::{sync::Arc, time::SystemTime};

use http::{HeaderMap, StatusCode};

use crate::{Fault, Rule, Verdict};

/// How much of a body rules may look at: 64 KiB.
pub const RULE_BODY_LIMIT: usize = 64 * 1024;

/// Whether the request went out with a token of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooled {
    /// With a token of the pool: a limit is the token's.
    Yes,
    /// Without: there is no token to blame or to switch.
    No,
}

/// Judges responses: rules first, then the table.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    rules: Arc<[Rule]>,
}

impl Classifier {
    /// A classifier whose `rules` come before the table; the first that matches wins.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules: rules.into() }
    }

    /// Whether some rule looks at bodies. Such a route asks the upstream for the `identity` encoding.
    pub fn reads_bodies(&self) -> bool {
        self.rules.iter().any(|rule| rule.body_contains.is_some())
    }

    /// Whether the verdict on this head hangs on the body's first [`RULE_BODY_LIMIT`] bytes.
    pub fn needs_body(&self, _status: StatusCode, _headers: &HeaderMap) -> bool {
        false
    }

    /// The verdict on a response. `body_prefix` is what was read of the body, if [`needs_body`](Self::needs_body)
    /// asked for it; `now` is the wall clock, for the dates and epochs of a response without a `Date`.
    pub fn classify(
        &self,
        _status: StatusCode,
        _headers: &HeaderMap,
        _body_prefix: Option<&[u8]>,
        _pooled: Pooled,
        _now: SystemTime,
    ) -> Verdict {
        Verdict::new(Fault::None)
    }
}
