//! The customs of HTTP, and of some APIs.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::{HeaderMap, StatusCode, header};

use crate::classify::{Answer, Classifier, Pooled};
use crate::quota::Quota;
use crate::rule::{Rule, RuleVerdict, contains};
use crate::told;
use crate::verdict::{Fault, Verdict};

/// How much of a body rules may look at: 64 KiB.
pub const RULE_BODY_LIMIT: usize = 64 * 1024;

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
/// use http::StatusCode;
/// use std::time::Duration;
/// use tidegate_api_client::{Answer, Classifier, Fault, Pooled, StandardClassifier};
///
/// let response = http::Response::builder().status(429).header("retry-after", "7").body(())?;
/// let mut answer = Answer::new(response.status(), response.headers());
/// answer.pooled = Pooled::Yes;
/// let verdict = StandardClassifier::generic().classify(&answer);
/// assert_eq!((verdict.fault, verdict.told), (Fault::TokenLimited, Some(Duration::from_secs(7))));
/// # Ok::<(), http::Error>(())
/// ```
///
/// What an API calls its limits is read for all of them: `Retry-After`, `X-RateLimit-*` in its many spellings (OpenAI's
/// `x-ratelimit-reset-tokens: 6m0s` too), `RateLimit`. The presets add what only one API says.
#[derive(Clone, Debug, Default)]
pub struct StandardClassifier {
    rules: Arc<[Rule]>,
    customs: &'static [Custom],
}

/// What one API says in a body of its own.
#[derive(Debug)]
struct Custom {
    status: &'static [u16],
    body_contains: &'static str,
    verdict: RuleVerdict,
    /// How long it asks to be left alone where the answer does not say.
    told: Option<Duration>,
}

/// "If ... you exceed the secondary rate limit, ... wait for at least one minute before retrying", unless `retry-after`
/// or `x-ratelimit-reset` say when (docs.github.com: "Rate limits for the REST API").
const GITHUB: &[Custom] = &[Custom {
    status: &[403, 429],
    body_contains: "secondary rate limit",
    verdict: RuleVerdict::TokenLimited,
    told: Some(Duration::from_secs(60)),
}];

/// A 429 that no wait mends: the account behind the token has no credit ("Error codes" of OpenAI's documentation).
const OPENAI: &[Custom] = &[Custom {
    status: &[429],
    body_contains: "insufficient_quota",
    verdict: RuleVerdict::TokenRejected,
    told: None,
}];

impl StandardClassifier {
    /// A classifier whose `rules` come before the table; the first that matches wins.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules: rules.into(), customs: &[] }
    }

    /// HTTP's customs alone.
    pub fn generic() -> Self {
        Self::default()
    }

    /// pixiv's: it says nothing beyond HTTP's.
    pub fn pixiv() -> Self {
        Self::default()
    }

    /// GitHub's: its secondary limits (403 or 429 with a body that says so) rest the token for a minute, unless
    /// `retry-after` or an `x-ratelimit-remaining` of 0 with its reset say how long.
    pub fn github() -> Self {
        Self { customs: GITHUB, ..Self::default() }
    }

    /// OpenAI's: `insufficient_quota` is a token without credit, which is rejected as with 402.
    pub fn openai() -> Self {
        Self { customs: OPENAI, ..Self::default() }
    }

    /// The same with `rules` before all else; the first that matches wins.
    pub fn with_rules(self, rules: Vec<Rule>) -> Self {
        Self { rules: rules.into(), ..self }
    }

    fn custom(&self, answer: &Answer<'_>) -> Option<&'static Custom> {
        let body = answer.body?;
        let says = |custom: &&Custom| {
            custom.status.contains(&answer.status.as_u16()) && contains(body, custom.body_contains.as_bytes())
        };
        self.customs.iter().find(says)
    }
}

impl Classifier for StandardClassifier {
    fn classify(&self, answer: &Answer<'_>) -> Verdict {
        let Answer { status, headers, body, pooled, now } = *answer;
        let quota = Quota::read(headers, now);
        let mut matching = self.rules.iter().filter(|rule| rule.matches_head(status, headers));
        let found = match matching.find(|rule| rule.matches_body(body)) {
            Some(rule) => Some((rule.verdict, None)),
            None => self.custom(answer).map(|custom| (custom.verdict, custom.told)),
        };
        if let Some((verdict, unless_told)) = found {
            let fault = verdict.fault(pooled);
            // A rule may find a refusal behind any status, and then its delay counts too.
            let told = match fault {
                Fault::None | Fault::Request => None,
                _ => told_by_refusal(headers, now).or(unless_told),
            };
            return Verdict { fault, told, quota: quota.rest, remaining: quota.remaining };
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
        Verdict { fault, told, quota: quota.rest, remaining: quota.remaining }
    }

    /// Whether some rule or custom looks at bodies.
    fn reads_bodies(&self) -> bool {
        !self.customs.is_empty() || self.rules.iter().any(|rule| rule.body_contains.is_some())
    }

    /// Some rule that looks at bodies may match, none before it does, and the body is a JSON text as it stands (not
    /// compressed).
    fn needs_body(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        if !self.reads_bodies() {
            return false;
        }
        let readable = is_plain_json(headers);
        let mut rules = self.rules.iter().filter(|rule| rule.matches_head(status, headers));
        match rules.find(|rule| rule.body_contains.is_none() || readable) {
            Some(rule) => rule.body_contains.is_some(),
            None => readable && self.customs.iter().any(|custom| custom.status.contains(&status.as_u16())),
        }
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
