//! `[[route]]` and `[[rule]]`: the keys of tables that there may be many of. They have no variables.

use super::{Default::*, Entry, Form, Known, retry, server, upstream};
use crate::{
    parse,
    problem::Privacy,
    settings::{BaseUrl, HeaderMatch, RuleVerdict},
};

pub(crate) static PREFIX: Entry<String> = Entry::new(
    "route.prefix",
    &[],
    Absent("needed"),
    Form::Text(parse::path_prefix),
    "What the path begins with",
);

pub(crate) static UPSTREAM: Entry<BaseUrl> = Entry::new(
    "route.upstream",
    &[],
    Absent("`upstream.url`, the path kept"),
    Form::Text(parse::base_url),
    "What stands in the prefix's place",
)
.private(Privacy::Url);

pub(crate) static POOL: Entry<String> = Entry::new(
    "route.pool",
    &[],
    Absent("`default`; `none` for another upstream"),
    Form::Text(parse::text),
    "The pool that signs, or `none`",
);

pub(crate) static PUBLIC: Entry<bool> = Entry::new(
    "route.public",
    &[],
    Fixed("false"),
    Form::Flag(parse::flag),
    "Answer without a client key; only with pool `none`",
);

/// What a route takes besides its headers; the general settings are its defaults.
pub(crate) static ROUTE: &[&dyn Known] = &[
    &PREFIX,
    &UPSTREAM,
    &POOL,
    &PUBLIC,
    &upstream::ATTEMPT_TIMEOUT,
    &upstream::CONNECT_TIMEOUT,
    &upstream::IDLE_TIMEOUT,
    &server::REQUEST_TIMEOUT,
    &server::BODY_IDLE_TIMEOUT,
    &retry::REPLAY_LIMIT,
    &retry::RETRY_UNSAFE,
    &retry::MAX_RETRIES,
];

pub(crate) static HEADER: Entry<HeaderMatch> = Entry::new(
    "rule.header",
    &[],
    Absent("any"),
    Form::Text(parse::header_match),
    "A field that is there, by `name` or `name=value`",
);

pub(crate) static HEADER_MISSING: Entry<String> = Entry::new(
    "rule.header_missing",
    &[],
    Absent("any"),
    Form::Text(parse::field_name),
    "A field that is not there",
);

pub(crate) static BODY_CONTAINS: Entry<String> = Entry::new(
    "rule.body_contains",
    &[],
    Absent("any"),
    Form::Text(parse::text),
    "A text in the first 64 KiB of a JSON body",
);

pub(crate) static VERDICT: Entry<RuleVerdict> = Entry::new(
    "rule.verdict",
    &[],
    Absent("needed"),
    Form::Text(parse::rule_verdict),
    "`token_limited`, `token_rejected`, `upstream`, `request`, `success`",
);

/// What a rule takes besides its statuses.
pub(crate) static RULE: &[&dyn Known] = &[&HEADER, &HEADER_MISSING, &BODY_CONTAINS, &VERDICT];
