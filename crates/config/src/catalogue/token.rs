//! `[token]`, which is the pool `default`, and the same keys in `[pool.NAME]`: level two, the token.

use std::{path::PathBuf, time::Duration};

use super::{Default::*, Entry, Form, Known};
use crate::{
    parse,
    problem::Privacy,
    secret::Secret,
    settings::{Limit, MaxRest, Pacing, Scope, Strategy, WhenExhausted},
};

pub(crate) static TOKENS: Entry<Vec<Secret>> = Entry::new(
    "token.tokens",
    &["TIDEGATE_TOKEN", "PIXIVFE_TOKEN"],
    Absent("none"),
    Form::List(parse::tokens),
    "The tokens, with commas between",
)
.private(Privacy::Counted("token"));

pub(crate) static FILE: Entry<PathBuf> = Entry::new(
    "token.file",
    &["TIDEGATE_TOKEN_FILE"],
    Absent("none"),
    Form::Text(parse::path),
    "A file of tokens, one a line: `value` or `name=value`, then `weight=3 group=org1` if wanted",
);

pub(crate) static COMMAND: Entry<String> = Entry::new(
    "token.command",
    &["TIDEGATE_TOKEN_COMMAND"],
    Absent("none"),
    Form::Text(parse::text),
    "A program that prints tokens as the token file has them; run at the start, at a reload, and after a rejection",
);

pub(crate) static REFRESH: Entry<Duration> = Entry::new(
    "token.refresh",
    &["TIDEGATE_TOKEN_REFRESH"],
    Fixed("0s"),
    Form::Text(parse::duration),
    "How often `token.command` is run again; 0 is only when it must",
);

pub(crate) static METHODS: Entry<Vec<String>> = Entry::new(
    "token.methods",
    &["TIDEGATE_TOKEN_METHODS"],
    Absent("by the preset"),
    Form::List(parse::methods),
    "Methods that the pool signs; pixiv GET and HEAD, else all",
);

pub(crate) static PATHS: Entry<(Vec<String>, Vec<String>)> = Entry::new(
    "token.paths",
    &["TIDEGATE_TOKEN_PATHS"],
    Absent("by the preset"),
    Form::List(parse::paths),
    "What signed paths begin with, after `!` what they must not; pixiv its public reads, else all",
);

pub(crate) static STRATEGY: Entry<Strategy> = Entry::new(
    "token.strategy",
    &["TIDEGATE_TOKEN_STRATEGY", "PIXIVFE_TOKEN_LOAD_BALANCING"],
    Fixed("round-robin"),
    Form::Text(parse::strategy),
    "`round-robin`, `random`, `least-recently-used`, `least-loaded`",
);

pub(crate) static MAX_RETRIES: Entry<u32> = Entry::new(
    "token.max_retries",
    &["TIDEGATE_TOKEN_MAX_RETRIES", "PIXIVFE_TOKEN_MAX_RETRIES", "PIXIVFE_MAX_RETRIES"],
    Fixed("5"),
    // Failures are counted on from there, in as many bits.
    Form::Number(parse::count::<0, { u32::MAX / 2 }>),
    "Failures in a row after which a token is unavailable",
);

pub(crate) static BASE: Entry<Duration> = Entry::new(
    "token.base",
    &["TIDEGATE_TOKEN_BASE", "PIXIVFE_TOKEN_BASE_TIMEOUT", "PIXIVFE_BASE_TIMEOUT"],
    Fixed("1s"),
    Form::Text(parse::duration),
    "The first cool-down of a token; it doubles",
);

pub(crate) static MAX: Entry<Duration> = Entry::new(
    "token.max",
    &["TIDEGATE_TOKEN_MAX", "PIXIVFE_TOKEN_MAX_BACKOFF_TIME", "PIXIVFE_MAX_BACKOFF_TIME"],
    Fixed("32s"),
    Form::Text(parse::duration),
    "The longest cool-down",
);

pub(crate) static MAX_REST: Entry<MaxRest> = Entry::new(
    "token.max_rest",
    &["TIDEGATE_TOKEN_MAX_REST"],
    Absent("1h, or `token.max` if longer"),
    Form::Text(parse::max_rest),
    "The longest rest of an unavailable token; `max` for the value of `token.max`",
);

pub(crate) static REJECT_REST: Entry<Duration> = Entry::new(
    "token.reject_rest",
    &["TIDEGATE_TOKEN_REJECT_REST"],
    Fixed("5m"),
    Form::Text(parse::duration),
    "The least rest of a token that was rejected (401, 402) twice",
);

pub(crate) static MAX_SWITCHES: Entry<u32> = Entry::new(
    "token.max_switches",
    &["TIDEGATE_TOKEN_MAX_SWITCHES"],
    Fixed("5"),
    Form::Number(parse::count::<0, { u32::MAX }>),
    "How often one request may move to another token",
);

pub(crate) static MAX_CONCURRENCY: Entry<u32> = Entry::new(
    "token.max_concurrency",
    &["TIDEGATE_TOKEN_MAX_CONCURRENCY"],
    Fixed("0"),
    Form::Number(parse::count::<0, { u32::MAX }>),
    "Requests at once on one token; 0 is no bound",
);

pub(crate) static MAX_WAIT: Entry<Duration> = Entry::new(
    "token.max_wait",
    &["TIDEGATE_TOKEN_MAX_WAIT"],
    Fixed("5s"),
    Form::Text(parse::duration),
    "How long one request may wait for tokens, in all",
);

pub(crate) static MAX_WAITING: Entry<u32> = Entry::new(
    "token.max_waiting",
    &["TIDEGATE_TOKEN_MAX_WAITING"],
    Fixed("1024"),
    Form::Number(parse::count::<0, 1_000_000>),
    "How many requests may wait for a token at a time; more are refused at once",
);

pub(crate) static SCOPE: Entry<Scope> = Entry::new(
    "token.scope",
    &["TIDEGATE_TOKEN_SCOPE"],
    Fixed("none"),
    Form::Text(parse::scope),
    "What has limits of its own for a token: `none`, `route`, `header:NAME` (github), `json:/POINTER` (openai)",
);

pub(crate) static WHEN_EXHAUSTED: Entry<WhenExhausted> = Entry::new(
    "token.when_exhausted",
    &["TIDEGATE_WHEN_EXHAUSTED"],
    Fixed("wait"),
    Form::Text(parse::when_exhausted),
    "Without a ready token: `wait`, `fail`, or `soonest` (use the one that is free first, as PixivFE does)",
);

pub(crate) static LIMIT: Entry<Option<Limit>> = Entry::new(
    "token.limit",
    &["TIDEGATE_TOKEN_LIMIT"],
    Absent("none"),
    Form::Text(parse::limit),
    "A known limit of the upstream for one token, such as `100/1m`, or a bucket: `2/1s burst 10`",
);

pub(crate) static PACING: Entry<Pacing> = Entry::new(
    "token.pacing",
    &["TIDEGATE_TOKEN_PACING"],
    Fixed("learned"),
    Form::Text(parse::pacing),
    "Whether a token that was refused is used as fast as its upstream seems to grant: `learned`, `off`",
);

/// Its own keys, and those of `[pool.NAME]`, which has `credential` besides.
pub(crate) static ALL: &[&dyn Known] = &[
    &TOKENS,
    &FILE,
    &COMMAND,
    &REFRESH,
    &METHODS,
    &PATHS,
    &STRATEGY,
    &MAX_RETRIES,
    &BASE,
    &MAX,
    &MAX_REST,
    &REJECT_REST,
    &MAX_SWITCHES,
    &MAX_CONCURRENCY,
    &MAX_WAIT,
    &MAX_WAITING,
    &SCOPE,
    &WHEN_EXHAUSTED,
    &LIMIT,
    &PACING,
];
