use std::time::Duration;

/// What an attempt says about the token that it was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The upstream took the token. Ends a probe well.
    Success,
    /// The token is over its limit (429 and the like): it cools down.
    Limited,
    /// The token itself was refused (401, 402): it cools down, and two in a row make it unavailable.
    Rejected,
    /// Nothing, as after an upstream fault: gives a probe back.
    Unaffected,
}

/// What is known about a token once the head of the response is there, or the attempt has failed.
///
/// ```
/// use std::time::Duration;
/// use tidegate_token_manager::{Outcome, Report};
///
/// let report = Report { status: Some(429), told: Some(Duration::from_secs(30)),
/// ..Report::new(Outcome::Limited) };
/// # let _ = report;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    /// Whose fault it was, if any.
    pub outcome: Outcome,
    /// The response's status, for people to see; none where there was no response.
    pub status: Option<u16>,
    /// The upstream asks to rest at least this long. Read with `Limited` and `Rejected`; a floor under the
    /// schedule, kept up to 30 days.
    pub told: Option<Duration>,
    /// The token's quota is used up for this long: it rests without being at fault, whatever the outcome. Up
    /// to 30 days.
    pub quota: Option<Duration>,
    /// What is told to be left of the token's quota: no more are lent than that, less those that are out, until an
    /// answer says more.
    pub remaining: Option<Remaining>,
}

/// What a response tells of a quota that is not used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Remaining {
    /// How many more calls were allowed when the response was written.
    pub calls: u32,
    /// When the quota is full again, from then on. Zero: that is not told, or it fills all the time.
    pub reset: Duration,
}

impl Report {
    /// A report of the outcome alone.
    pub const fn new(outcome: Outcome) -> Self {
        Self { outcome, status: None, told: None, quota: None, remaining: None }
    }
}
