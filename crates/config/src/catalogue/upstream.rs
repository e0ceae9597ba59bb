//! `[upstream]`: the API behind the gateway.

use std::time::Duration;

use super::{Default::*, Entry, Form, Known};
use crate::{
    parse,
    preset::Preset,
    problem::Privacy,
    settings::{BaseUrl, ClientCredential, Credential, Proxy},
};

pub(crate) static URL: Entry<BaseUrl> = Entry::new(
    "upstream.url",
    &["TIDEGATE_UPSTREAM"],
    Fixed("https://www.pixiv.net"),
    Form::Text(parse::base_url),
    "The API: scheme, host, and a port and base path if wanted",
)
.private(Privacy::Url);

pub(crate) static PRESET: Entry<Preset> = Entry::new(
    "upstream.preset",
    &["TIDEGATE_PRESET"],
    Absent("by the url"),
    Form::Text(parse::preset),
    "A set of defaults: `pixiv`, `generic`, `github`, `openai`",
);

pub(crate) static CREDENTIAL: Entry<Credential> = Entry::new(
    "upstream.credential",
    &["TIDEGATE_CREDENTIAL"],
    Absent("by the preset"),
    Form::Text(parse::credential),
    "Where the token goes: `cookie:NAME`, `bearer`, `header:NAME`, `query:NAME`",
);

pub(crate) static CLIENT_CREDENTIAL: Entry<ClientCredential> = Entry::new(
    "upstream.client_credential",
    &["TIDEGATE_CLIENT_CREDENTIAL"],
    Absent("`pass` for a cookie, else `replace`"),
    Form::Text(parse::client_credential),
    "A request that brings its own: `pass` it on outside the pool, `refuse` it, `replace` what it brings",
);

pub(crate) static ATTEMPT_TIMEOUT: Entry<Duration> = Entry::new(
    "upstream.attempt_timeout",
    &["TIDEGATE_ATTEMPT_TIMEOUT"],
    Fixed("10s"),
    Form::Text(parse::duration),
    "One attempt, from the sent request to the response head; 0 is off",
);

pub(crate) static CONNECT_TIMEOUT: Entry<Duration> = Entry::new(
    "upstream.connect_timeout",
    &["TIDEGATE_CONNECT_TIMEOUT"],
    Fixed("5s"),
    Form::Text(parse::duration),
    "Connecting, TLS included; 0 is off",
);

pub(crate) static IDLE_TIMEOUT: Entry<Duration> = Entry::new(
    "upstream.idle_timeout",
    &["TIDEGATE_IDLE_TIMEOUT"],
    Fixed("30s"),
    Form::Text(parse::duration),
    "How long a connection is kept unused; 0 is off",
);

pub(crate) static PROXY: Entry<Proxy> = Entry::new(
    "upstream.proxy",
    &["TIDEGATE_PROXY"],
    Fixed("env"),
    Form::Text(parse::proxy),
    "`env` (HTTPS_PROXY and its kin), `off`, or a URL: `http`, `https`, `socks5`, `socks5h`",
)
.private(Privacy::Url);

pub(crate) static ACCEPT_LANGUAGE: Entry<String> = Entry::new(
    "upstream.accept_language",
    &["TIDEGATE_ACCEPT_LANGUAGE", "PIXIVFE_ACCEPTLANGUAGE"],
    Absent("by the preset"),
    Form::Text(parse::field_value),
    "Accept-Language of pooled requests; pixiv `en-US,en;q=0.5`, else the client's own",
);

pub(crate) static USER_AGENT: Entry<String> = Entry::new(
    "upstream.user_agent",
    &["TIDEGATE_USER_AGENT"],
    Absent("by the preset"),
    Form::Text(parse::field_value),
    "User-Agent of pooled requests; pixiv a browser's, else the client's own",
);

pub(super) static ALL: &[&dyn Known] = &[
    &URL,
    &PRESET,
    &CREDENTIAL,
    &CLIENT_CREDENTIAL,
    &ATTEMPT_TIMEOUT,
    &CONNECT_TIMEOUT,
    &IDLE_TIMEOUT,
    &PROXY,
    &ACCEPT_LANGUAGE,
    &USER_AGENT,
];
