/// One `[[rule]]`: a response that matches everything that is said gets this verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The statuses; empty is any.
    pub status: Statuses,
    /// A field that must be there.
    pub header: Option<HeaderMatch>,
    /// A field that must not be there, in lower case.
    pub header_missing: Option<String>,
    /// A text in the first 64 KiB of a JSON body.
    pub body_contains: Option<String>,
    /// What it means.
    pub verdict: RuleVerdict,
}

/// A set of statuses, as inclusive ranges in the order they were written; empty stands for any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses(pub Vec<(u16, u16)>);

impl Statuses {
    /// Whether it holds `status`; the empty set holds all.
    pub fn contains(&self, status: u16) -> bool {
        self.0.is_empty() || self.0.iter().any(|(first, last)| (*first..=*last).contains(&status))
    }
}

/// A field by its name and, if said, its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMatch {
    /// The field's name, in lower case.
    pub name: String,
    /// The whole value that it must have.
    pub value: Option<String>,
}

/// What a rule makes of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleVerdict {
    /// The token is limited: it cools, the request switches.
    TokenLimited,
    /// The token is refused: it cools, at the second time it is unavailable.
    TokenRejected,
    /// The upstream failed: the request is retried.
    Upstream,
    /// The request itself is at fault: it is returned.
    Request,
    /// All is well.
    Success,
}
