//! What the sources come to: plain, typed, validated values.

mod admin;
mod credential;
mod listen;
mod log;
mod network;
mod pool;
mod proxy;
mod retry;
mod route;
mod rule;
mod server;
mod signing;
mod store;
mod upstream;
mod url;

pub use admin::Admin;
pub use credential::{ClientCredential, Credential};
pub use listen::{Host, Listen};
pub use log::{Log, LogFormat, LogLevel};
pub use network::{Network, UnknownNetwork};
pub(crate) use pool::MaxRest;
pub use pool::{Limit, Pacing, Pool, Scope, Strategy, WhenExhausted};
pub use proxy::{Proxy, ProxyUrl, ProxyVariables};
pub use retry::Retry;
pub use route::{Route, RouteHeader};
pub use rule::{HeaderMatch, Rule, RuleVerdict, Statuses};
pub use server::{ClientKey, ClientRate, Server};
pub use signing::Signing;
pub use store::{Store, StorePlace};
pub use upstream::Upstream;
pub use url::{BaseUrl, Scheme};

use crate::preset::Preset;

/// All settings, validated: what [`load`](crate::load) returns when there is no fault.
///
/// Every name that a part holds is resolved here: a route names a pool that exists, a timeout that was not set for a
/// route has the general one's value, and the presets are already worked in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Which set of defaults was used.
    pub preset: Preset,
    /// The API behind the gateway.
    pub upstream: Upstream,
    /// The gateway's own listener.
    pub server: Server,
    /// The operators' listener; `None` when it is off.
    pub admin: Option<Admin>,
    /// Level one: retries of an API request.
    pub retry: Retry,
    /// Level two: the pools. `default` is always there and first; the others follow in the order of the file.
    pub pools: Vec<Pool>,
    /// Where requests go, the longest prefix first; the last is `/`, so that each path finds one.
    pub routes: Vec<Route>,
    /// What overrides the table of verdicts; the first that matches wins.
    pub rules: Vec<Rule>,
    /// Where state beyond the process is kept.
    pub store: Store,
    /// What is logged, and how.
    pub log: Log,
    /// How many gateways share the tokens: each keeps this part of a pool's [`limit`](Pool::limit). At least 1.
    pub replicas: u32,
    /// The usual proxy variables, as found; used where [`Upstream::proxy`] says [`Proxy::Environment`].
    pub proxy_variables: ProxyVariables,
}

impl Settings {
    /// The pool of that name.
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    /// The pools that some route uses, in their order.
    pub fn pools_in_use(&self) -> impl Iterator<Item = &Pool> {
        self.pools
            .iter()
            .filter(|pool| self.routes.iter().any(|route| route.pool.as_deref() == Some(&pool.name)))
    }
}
