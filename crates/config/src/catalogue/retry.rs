//! `[retry]`: level one, the API request.

use std::time::Duration;

use tidegate_backoff_core::{Jitter, Ratio};

use super::{Default::*, Entry, Form, Known};
use crate::{parse, size};

pub(crate) static MAX_RETRIES: Entry<u32> = Entry::new(
    "retry.max_retries",
    &["TIDEGATE_RETRY_MAX_RETRIES", "PIXIVFE_API_MAX_RETRIES"],
    Fixed("3"),
    Form::Number(parse::count::<0, { u32::MAX }>),
    "How often a request is repeated after the upstream's fault",
);

pub(crate) static BASE: Entry<Duration> = Entry::new(
    "retry.base",
    &["TIDEGATE_RETRY_BASE", "PIXIVFE_API_BASE_TIMEOUT"],
    Fixed("500ms"),
    Form::Text(parse::duration),
    "The wait before the first repetition; it doubles",
);

pub(crate) static MAX: Entry<Duration> = Entry::new(
    "retry.max",
    &["TIDEGATE_RETRY_MAX", "PIXIVFE_API_MAX_BACKOFF_TIME"],
    Fixed("8s"),
    Form::Text(parse::duration),
    "The longest such wait",
);

pub(crate) static JITTER: Entry<Jitter> = Entry::new(
    "retry.jitter",
    &["TIDEGATE_RETRY_JITTER"],
    Fixed("full"),
    Form::Text(parse::jitter),
    "How waits are spread: `full`, `equal`, `decorrelated`, `none`",
);

pub(crate) static MAX_RETRY_AFTER: Entry<Duration> = Entry::new(
    "retry.max_retry_after",
    &["TIDEGATE_MAX_RETRY_AFTER"],
    Fixed("30s"),
    Form::Text(parse::duration),
    "The longest told delay (Retry-After) that a request waits out",
);

pub(crate) static BUDGET: Entry<(Ratio, u32)> = Entry::new(
    "retry.budget",
    &["TIDEGATE_RETRY_BUDGET"],
    Fixed("0.2/10"),
    Form::Text(parse::budget),
    "Retries for each request of the last 10 s / retries a second beside them",
);

pub(crate) static REPLAY_LIMIT: Entry<u64> = Entry::new(
    "retry.replay_limit",
    &["TIDEGATE_REPLAY_LIMIT"],
    Fixed("1MiB"),
    Form::Size(size::within::<0, { 1 << 30 }>),
    "The longest request body that is held for a repetition",
);

pub(crate) static REPLAY_MEMORY: Entry<u64> = Entry::new(
    "retry.replay_memory",
    &["TIDEGATE_REPLAY_MEMORY"],
    Fixed("64MiB"),
    Form::Size(size::within::<0, { 1 << 40 }>),
    "All held bodies together",
);

pub(crate) static RETRY_UNSAFE: Entry<bool> = Entry::new(
    "retry.retry_unsafe",
    &["TIDEGATE_RETRY_UNSAFE"],
    Fixed("false"),
    Form::Flag(parse::flag),
    "Repeat POST and PATCH too, though they may happen twice",
);

pub(super) static ALL: &[&dyn Known] = &[
    &MAX_RETRIES,
    &BASE,
    &MAX,
    &JITTER,
    &MAX_RETRY_AFTER,
    &BUDGET,
    &REPLAY_LIMIT,
    &REPLAY_MEMORY,
    &RETRY_UNSAFE,
];
