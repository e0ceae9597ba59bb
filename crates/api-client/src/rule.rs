//! Rules that override the table of verdicts.

use http::{HeaderMap, HeaderName, StatusCode};

use crate::{Fault, Pooled};

/// What a rule that matches says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleVerdict {
    /// The token is limited: it cools down, the request switches.
    TokenLimited,
    /// The token is not accepted: it cools down, the second time in a row it is unavailable.
    TokenRejected,
    /// The upstream's fault: the request is retried.
    Upstream,
    /// The request's own fault: the answer is handed on.
    Request,
    /// A good answer.
    Success,
}

impl RuleVerdict {
    /// The fault this stands for. Without a pool there is no token to blame: a limit is then the upstream's
    /// fault and a rejection the request's, as with 429 and 401 in the table.
    pub(crate) const fn fault(self, pooled: Pooled) -> Fault {
        match (self, pooled) {
            (Self::TokenLimited, Pooled::Yes) => Fault::TokenLimited,
            (Self::TokenRejected, Pooled::Yes) => Fault::TokenRejected,
            (Self::TokenLimited, Pooled::No) | (Self::Upstream, _) => Fault::Upstream,
            (Self::TokenRejected, Pooled::No) | (Self::Request, _) => Fault::Request,
            (Self::Success, _) => Fault::None,
        }
    }
}

/// One override: when all of its conditions hold, `verdict` counts instead of the table.
///
/// A condition that is not given holds always; of several rules the first that matches wins.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The statuses it is for; empty: any.
    pub status: Vec<u16>,
    /// A response header that must be there, and, if given, what one of its values must be (letter case of
    /// ASCII does not count, blanks around it neither).
    pub header: Option<(HeaderName, Option<String>)>,
    /// A response header that must not be there.
    pub header_missing: Option<HeaderName>,
    /// A text that the first 64 KiB of a JSON body must contain, byte for byte.
    pub body_contains: Option<String>,
    /// What it says.
    pub verdict: RuleVerdict,
}

impl Rule {
    /// Whether all conditions but the body's hold.
    pub(crate) fn matches_head(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        (self.status.is_empty() || self.status.contains(&status.as_u16()))
            && self.header.as_ref().is_none_or(|(name, wanted)| has(headers, name, wanted.as_deref()))
            && self.header_missing.as_ref().is_none_or(|name| !headers.contains_key(name))
    }

    /// Whether the body's condition holds; a body that was not read holds nothing.
    pub(crate) fn matches_body(&self, body: Option<&[u8]>) -> bool {
        let Some(text) = &self.body_contains else { return true };
        body.is_some_and(|body| contains(body, text.as_bytes()))
    }
}

fn has(headers: &HeaderMap, name: &HeaderName, wanted: Option<&str>) -> bool {
    let Some(wanted) = wanted else { return headers.contains_key(name) };
    headers
        .get_all(name)
        .iter()
        .any(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(wanted.trim_ascii().as_bytes()))
}

pub(crate) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    needle.is_empty() || haystack.windows(needle.len()).any(|window| window == needle)
}
