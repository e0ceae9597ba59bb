//! What stands alone: replicas, the store, the log, and the settings' own file.

use std::path::PathBuf;

use super::{Default::*, Entry, Form, Known};
use crate::{
    parse,
    problem::Privacy,
    secret::Secret,
    settings::{LogFormat, LogLevel, StorePlace},
};

pub(crate) static REPLICAS: Entry<u32> = Entry::new(
    "replicas",
    &["TIDEGATE_REPLICAS"],
    Fixed("1"),
    Form::Number(parse::count::<1, 100_000>),
    "How many gateways share the tokens: each keeps its part of `token.limit`",
);

/// The same beside the limit that it is about.
pub(crate) static TOKEN_REPLICAS: Entry<u32> = Entry::new(
    "token.replicas",
    &[],
    REPLICAS.default,
    Form::Number(parse::count::<1, 100_000>),
    REPLICAS.help,
);

pub(crate) static STORE: Entry<StorePlace> = Entry::new(
    "store.url",
    &["TIDEGATE_STORE"],
    Fixed("memory:"),
    Form::Text(parse::store_place),
    "Where cool-downs and disables are kept: `memory:`, `file:PATH`, or shared by replicas in `redis://...` (`rediss://`, `unix://`)",
)
.private(Privacy::Url);

pub(crate) static STORE_KEY: Entry<Secret> = Entry::new(
    "store.key",
    &["TIDEGATE_STORE_KEY"],
    Absent("made by the store"),
    Form::Text(parse::secret),
    "The key under which tokens become ids",
)
.private(Privacy::Secret);

pub(crate) static LOG_LEVEL: Entry<LogLevel> = Entry::new(
    "log.level",
    &["TIDEGATE_LOG"],
    Fixed("info"),
    Form::Text(parse::log_level),
    "`error`, `warn`, `info`, `debug`, `trace`, `off`",
);

pub(crate) static LOG_FORMAT: Entry<LogFormat> = Entry::new(
    "log.format",
    &["TIDEGATE_LOG_FORMAT"],
    Fixed("text"),
    Form::Text(parse::log_format),
    "`text` or `json`",
);

pub(crate) static CONFIG: Entry<PathBuf> = Entry::new(
    "TIDEGATE_CONFIG",
    &["TIDEGATE_CONFIG"],
    Absent("`./tidegate.toml` if there is one"),
    Form::Text(parse::path),
    "The TOML file; `-c` beats it",
);

pub(super) static ALL: &[&dyn Known] = &[&REPLICAS, &STORE, &STORE_KEY, &LOG_LEVEL, &LOG_FORMAT, &CONFIG];
