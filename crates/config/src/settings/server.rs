use std::{num::NonZeroU32, path::PathBuf, time::Duration};

use super::{Listen, Network};
use crate::secret::Secret;

/// The gateway's own listener and its bounds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Server {
    /// Where it listens.
    pub listen: Listen,
    /// From a request to its response head, attempts and waits in all; zero is off.
    pub request_timeout: Duration,
    /// The longest silence within a body, in either direction; zero is off.
    pub body_idle_timeout: Duration,
    /// Requests at once; more are shed with 503.
    pub max_in_flight: usize,
    /// Connections at once.
    pub max_connections: usize,
    /// The longest request body, in bytes; longer ones are refused with 413.
    pub max_body: u64,
    /// Who may use the gateway; empty is anyone.
    pub client_keys: Vec<ClientKey>,
    /// Whether the operator wants a pooled route to be open to the network.
    pub open: bool,
    /// Networks whose X-Forwarded-For names the client.
    pub trusted_proxies: Vec<Network>,
    /// How long a stopping gateway still accepts, so that a balancer sees it leave.
    pub drain_delay: Duration,
    /// How long what runs may take to finish after that.
    pub shutdown_grace: Duration,
    /// The TOML file that was read, for messages.
    pub config_file: Option<PathBuf>,
}

/// One client of the gateway: `name=key`, then ` rate=10/20` if wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientKey {
    /// How logs name the client.
    pub name: String,
    /// What it sends as `Authorization: Bearer` or `X-Api-Key`.
    pub key: Secret,
    /// How many requests it may send; none is as many as it likes.
    pub rate: Option<ClientRate>,
}

/// A client's rate: `10/20` is 10 requests a second, and 20 at once after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientRate {
    /// Requests a second, in the long run; at most a million.
    pub per_second: NonZeroU32,
    /// Requests at once; what is not used comes back at the rate. At most a million.
    pub burst: NonZeroU32,
}
