//! tower layers for calling a rate-limited HTTP API.

mod body;
mod classify;
mod credential;
mod error;
mod quota;
mod replay;
mod rule;
mod told;
pub mod transport;
mod verdict;

pub use self::{
    body::{Body, BoxError, Prefix, read_prefix},
    classify::{Classifier, Pooled, RULE_BODY_LIMIT},
    credential::{Credential, ExtraCookies},
    error::Error,
    quota::quota_empty,
    replay::{ReplayBody, ReplayMemory},
    rule::{Rule, RuleVerdict},
    told::told_delay,
    verdict::{Fault, Verdict},
};
