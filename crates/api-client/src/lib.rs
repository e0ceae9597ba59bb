//! tower layers for calling a rate-limited HTTP API.

mod body;
mod budget;
mod classify;
mod client;
mod credential;
mod deadline;
mod decision;
mod entry;
mod error;
mod held;
mod idle;
mod journey;
mod judge;
mod lease;
mod policy;
mod quota;
mod replay;
mod rule;
mod signature;
mod stack;
mod timeout;
mod told;
pub mod transport;
mod upload;
mod verdict;

pub use self::{
    body::{Body, BoxError, Prefix, read_prefix},
    budget::RetryBudget,
    classify::{Classifier, Pooled, RULE_BODY_LIMIT},
    client::{ApiClient, Builder},
    credential::{Credential, ExtraCookies},
    deadline::Deadline,
    decision::{RetryParams, UnsafeRepeats},
    entry::{ATTEMPTS_HEADER, Entry, EntryLayer, EntryParams, Failure},
    error::Error,
    held::held,
    idle::{BodyIdle, idle_limited},
    journey::{Attempt, Attempts, Cause, Ended, Journey},
    judge::{Classify, ClassifyLayer},
    lease::{BypassPool, Client, LeaseLayer, LeaseTokens, Pool, SignedBy},
    policy::{RetryPolicy, whole_seconds},
    quota::quota_empty,
    replay::{ReplayBody, ReplayMemory},
    rule::{Rule, RuleVerdict},
    signature::Signature,
    stack::{Stack, StackParams, stack},
    timeout::{AttemptTimeout, AttemptTimeoutLayer, Timeouts},
    told::told_delay,
    verdict::{Fault, Verdict},
};
