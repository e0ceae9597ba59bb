//! `[server]` and `[admin]`: the listeners and their bounds.

use std::time::Duration;

use super::{Default::*, Entry, Form, Known};
use crate::{
    parse,
    problem::{Privacy, Problem},
    secret::Secret,
    settings::{ClientKey, Host, Listen, Network},
    size,
};

pub(crate) static LISTEN: Entry<Listen> = Entry::new(
    "server.listen",
    &["TIDEGATE_LISTEN"],
    Absent("by the PIXIVFE_ ones below"),
    Form::Text(parse::listen),
    "Where the gateway listens: `host:port` or `unix:/path`; beats the PIXIVFE_ ones",
);

pub(crate) static HOST: Entry<Host> = Entry::new(
    "PIXIVFE_HOST",
    &["PIXIVFE_HOST"],
    Fixed("localhost"),
    Form::Text(parse::host),
    "The host to listen on; `localhost` is every loopback address",
);

pub(crate) static PORT: Entry<u16> = Entry::new(
    "PIXIVFE_PORT",
    &["PIXIVFE_PORT"],
    Fixed("8282"),
    Form::Text(parse::port),
    "The port to listen on",
);

pub(crate) static SOCKET: Entry<Listen> = Entry::new(
    "PIXIVFE_UNIXSOCKET",
    &["PIXIVFE_UNIXSOCKET"],
    Absent("none"),
    Form::Text(parse::socket_path),
    "A Unix socket to listen on instead",
);

pub(crate) static SOCKET_PERMISSIONS: Entry<u32> = Entry::new(
    "server.socket_permissions",
    &["TIDEGATE_SOCKET_PERMISSIONS", "PIXIVFE_UNIXSOCKET_PERMISSIONS"],
    Fixed("666"),
    Form::Text(parse::socket_permissions),
    "Its permissions, as `660` or `rw-rw----`",
);

pub(crate) static REQUEST_TIMEOUT: Entry<Duration> = Entry::new(
    "server.request_timeout",
    &["TIDEGATE_REQUEST_TIMEOUT"],
    Fixed("30s"),
    Form::Text(parse::duration),
    "One request, to its response head, with all attempts and waits; 0 is off",
);

pub(crate) static BODY_IDLE_TIMEOUT: Entry<Duration> = Entry::new(
    "server.body_idle_timeout",
    &["TIDEGATE_BODY_IDLE_TIMEOUT"],
    Fixed("2m"),
    Form::Text(parse::duration),
    "The longest silence within a body; 0 is off",
);

pub(crate) static MAX_IN_FLIGHT: Entry<u32> = Entry::new(
    "server.max_in_flight",
    &["TIDEGATE_MAX_IN_FLIGHT"],
    Fixed("1024"),
    Form::Number(parse::count::<1, 1_000_000>),
    "Requests at once; more are answered 503",
);

pub(crate) static MAX_CONNECTIONS: Entry<u32> = Entry::new(
    "server.max_connections",
    &["TIDEGATE_MAX_CONNECTIONS"],
    Fixed("16384"),
    Form::Number(parse::count::<1, 1_000_000>),
    "Connections at once",
);

pub(crate) static MAX_BODY: Entry<u64> = Entry::new(
    "server.max_body",
    &["TIDEGATE_MAX_BODY"],
    Fixed("10MiB"),
    Form::Size(size::within::<0, { 1 << 40 }>),
    "The longest request body; a longer one is answered 413",
);

pub(crate) static CLIENT_KEYS: Entry<Vec<ClientKey>> = Entry::new(
    "server.client_keys",
    &["TIDEGATE_CLIENT_KEYS"],
    Absent("none"),
    Form::List(parse::client_keys),
    "Who may use the gateway: `name=key,...`, sent as `Authorization: Bearer` or `X-Api-Key`; with `name=key rate=10/20` 10 requests a second, and 20 at once",
)
.private(Privacy::Counted("key"));

pub(crate) static OPEN: Entry<bool> = Entry::new(
    "server.open",
    &["TIDEGATE_OPEN"],
    Fixed("false"),
    Form::Flag(parse::flag),
    "Let the network use the pool without a key (any preset but pixiv)",
);

pub(crate) static TRUSTED_PROXIES: Entry<Vec<Network>> = Entry::new(
    "server.trusted_proxies",
    &["TIDEGATE_TRUSTED_PROXIES"],
    Absent("none"),
    Form::List(parse::networks),
    "Networks whose X-Forwarded-For names the client",
);

pub(crate) static DRAIN_DELAY: Entry<Duration> = Entry::new(
    "server.drain_delay",
    &["TIDEGATE_DRAIN_DELAY"],
    Fixed("0s"),
    Form::Text(parse::duration),
    "How long a stopping gateway still accepts; 5s behind a load balancer",
);

pub(crate) static SHUTDOWN_GRACE: Entry<Duration> = Entry::new(
    "server.shutdown_grace",
    &["TIDEGATE_SHUTDOWN_GRACE"],
    Fixed("20s"),
    Form::Text(parse::duration),
    "How long what runs may take to finish after that",
);

pub(crate) static ADMIN_LISTEN: Entry<Option<Listen>> = Entry::new(
    "admin.listen",
    &["TIDEGATE_ADMIN"],
    Fixed("127.0.0.1:8283"),
    Form::Text(admin_listen),
    "Where operators connect: `host:port`, `unix:/path` or `off`",
);

pub(crate) static ADMIN_KEY: Entry<Secret> = Entry::new(
    "admin.key",
    &["TIDEGATE_ADMIN_KEY"],
    Absent("none"),
    Form::Text(parse::key),
    "What operators send as `Authorization: Bearer`; needed on any address but loopback",
)
.private(Privacy::Secret);

fn admin_listen(text: &str) -> Result<Option<Listen>, Problem> {
    match text {
        "off" => Ok(None),
        text => parse::listen(text).map(Some),
    }
}

pub(super) static ALL: &[&dyn Known] = &[
    &LISTEN,
    &HOST,
    &PORT,
    &SOCKET,
    &SOCKET_PERMISSIONS,
    &REQUEST_TIMEOUT,
    &BODY_IDLE_TIMEOUT,
    &MAX_IN_FLIGHT,
    &MAX_CONNECTIONS,
    &MAX_BODY,
    &CLIENT_KEYS,
    &OPEN,
    &TRUSTED_PROXIES,
    &DRAIN_DELAY,
    &SHUTDOWN_GRACE,
    &ADMIN_LISTEN,
    &ADMIN_KEY,
];
