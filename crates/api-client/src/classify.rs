//! The one place where a response is judged.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::{HeaderMap, StatusCode, header};

use crate::quota::Quota;
use crate::rule::Rule;
use crate::told;
use crate::verdict::{Fault, Verdict};

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
///
/// | status | fault with a token | fault without |
/// |---|---|---|
/// | 1xx-3xx | none | none |
/// | 429 | the token's: limited | the upstream's |
/// | 401, 402 | the token's: rejected | the request's |
/// | 403 with `Retry-After`, or with a quota told to be used up | the token's: limited | the request's |
/// | 403 otherwise | open | the request's |
/// | 408, 425, 500, 502, 503, 504, 507, 520-524, 529, 530 | the upstream's | the upstream's |
/// | all others | the request's | the request's |
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use tidegate_api_client::{Classifier, Fault, Pooled};
///
/// let response = http::Response::builder().status(429).header("retry-after", "7").body(())?;
/// let verdict = Classifier::default().classify(
///     response.status(), response.headers(), None, Pooled::Yes, SystemTime::UNIX_EPOCH);
/// assert_eq!(verdict.fault, Fault::TokenLimited);
/// assert_eq!(verdict.told, Some(Duration::from_secs(7)));
/// # Ok::<(), http::Error>(())
/// ```
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

    /// Whether the verdict on this head hangs on the body's first [`RULE_BODY_LIMIT`] bytes: some rule that looks
    /// at bodies may match, none before it does, and the body is a JSON text as it stands (not compressed).
    pub fn needs_body(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        let first = self.rules.iter().filter(|rule| rule.matches_head(status, headers));
        let readable = is_plain_json(headers);
        first
            .filter(|rule| rule.body_contains.is_none() || readable)
            .map(|rule| rule.body_contains.is_some())
            .next()
            == Some(true)
    }

    /// The verdict on a response. `body` is what was read of its body where [`needs_body`](Self::needs_body)
    /// asked for it; `now` is the wall clock, for the dates and epochs of a response without a `Date`.
    pub fn classify(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<&[u8]>,
        pooled: Pooled,
        now: SystemTime,
    ) -> Verdict {
        let quota = Quota::read(headers, now);
        let mut matching = self.rules.iter().filter(|rule| rule.matches_head(status, headers));
        if let Some(rule) = matching.find(|rule| rule.matches_body(body)) {
            let fault = rule.verdict.fault(pooled);
            // A rule may find a refusal behind any status, and then its delay counts too.
            let told = match fault {
                Fault::None | Fault::Request => None,
                _ => told_by_refusal(headers, now),
            };
            return Verdict { fault, told, quota: quota.rest };
        }
        let mut told = told::told_delay(status, headers, now);
        let fault = match (status.as_u16(), pooled) {
            (..=399, _) => Fault::None,
            (429, Pooled::Yes) => Fault::TokenLimited,
            (401 | 402, Pooled::Yes) => Fault::TokenRejected,
            (403, Pooled::Yes) if told.is_some() || quota.is_empty => Fault::TokenLimited,
            (403, Pooled::Yes) => Fault::Forbidden,
            (408 | 425 | 429 | 500 | 502..=504 | 507 | 520..=524 | 529 | 530, _) => Fault::Upstream,
            _ => Fault::Request,
        };
        // Whose quota is used up is refused whatever comes: without a token that could be rested, the request waits.
        if fault == Fault::Upstream && pooled == Pooled::No {
            told = told.max(quota.rest);
        }
        Verdict { fault, told, quota: quota.rest }
    }
}

fn told_by_refusal(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let origin = told::origin(headers, now);
    told::retry_after(headers, origin).or_else(|| told::reset_of_a_refusal(headers, origin))
}

/// Whether the body can be searched as a JSON text. One without a type may be one.
fn is_plain_json(headers: &HeaderMap) -> bool {
    let encoded = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity"));
    let json = headers.get(header::CONTENT_TYPE).is_none_or(|value| {
        let essence = value.as_bytes().split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        essence.to_ascii_lowercase().ends_with(b"json")
    });
    json && !encoded
}

#[cfg(test)]
mod tests;
