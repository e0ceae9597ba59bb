//! Everything that serves requests, built from one version of the settings.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Uri};
use tidegate_api_client::transport::{AutoTransport, Proxy, TransportParams};
use tidegate_api_client::{
    Credential, EntryParams, Error, ExtraCookies, Pool, ReplayMemory, RetryBudget, RetryParams, Scoping,
    Signature, Stack, StackParams, Timeouts, UnsafeRepeats, stack,
};
use tidegate_backoff_core::{Backoff, Budget};
use tidegate_config as config;
use tidegate_config::Settings;
use tidegate_token_manager::TokenManager;

use crate::client_keys::ClientKeys;
use crate::convert::{classifier, credential, headers};
use crate::pools;
use crate::route::{Destination, Routes};
use crate::store::SharedKey;

/// The gateway as it stands: routes, pools, bounds. A reload builds a new one beside it.
pub(crate) struct Gateway {
    pub(crate) settings: Settings,
    pub(crate) routes: Routes<Arc<Route>>,
    pub(crate) client_keys: ClientKeys,
    pub(crate) pools: Vec<TokenManager>,
    pub(crate) budgets: Vec<(String, RetryBudget)>,
    parts: Parts,
}

/// What outlives a reload.
struct Parts {
    key: SharedKey,
    cookies: ExtraCookies,
    memory: (u64, ReplayMemory),
    transports: Transports,
}

/// One prefix and the stack behind it.
pub(crate) struct Route {
    pub(crate) destination: Destination,
    /// Fields that take the client's place.
    pub(crate) headers: HeaderMap,
    /// The pool that signs, and its rules.
    pub(crate) pool: Option<PoolRules>,
    pub(crate) stack: Stack<AutoTransport>,
}

/// What a pool says about the requests that it signs.
pub(crate) struct PoolRules {
    pub(crate) credential: Credential,
    pub(crate) client_credential: config::ClientCredential,
    pub(crate) signing: config::Signing,
}

#[derive(Clone, PartialEq, Eq)]
struct TransportKey {
    origin: String,
    connect_timeout: Duration,
    idle_timeout: Duration,
    proxy: config::Proxy,
}

type Transports = Vec<(TransportKey, AutoTransport)>;

/// Why a gateway cannot be built from settings that hold.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error("the way to {origin} cannot be set up")]
    Transport { origin: String, source: Error },
    #[error("the upstream's host cannot stand in a URI")]
    Host(#[from] http::uri::InvalidUri),
}

impl Gateway {
    /// The first gateway of the process.
    pub(crate) fn new(settings: Settings, key: SharedKey) -> Result<Self, BuildError> {
        let memory = (settings.retry.replay_memory, replay_memory(&settings));
        let parts = Parts { key, cookies: ExtraCookies::random(), memory, transports: Transports::new() };
        Self::build(settings, parts, &[], &[], &ClientKeys::default())
    }

    /// A gateway with new settings that takes over the tokens' states, the budgets and the connections.
    pub(crate) fn reloaded(&self, settings: Settings) -> Result<Self, BuildError> {
        let memory = if self.parts.memory.0 == settings.retry.replay_memory {
            self.parts.memory.clone()
        } else {
            (settings.retry.replay_memory, replay_memory(&settings))
        };
        let Parts { key, cookies, transports, .. } = &self.parts;
        let parts = Parts { key: key.clone(), cookies: *cookies, memory, transports: transports.clone() };
        Self::build(settings, parts, &self.pools, &self.budgets, &self.client_keys)
    }

    fn build(
        settings: Settings,
        mut parts: Parts,
        old_pools: &[TokenManager],
        old_budgets: &[(String, RetryBudget)],
        old_keys: &ClientKeys,
    ) -> Result<Self, BuildError> {
        // What can fail comes first: a reload that fails must leave the old pools as they are.
        let transports = transports(&settings, &parts.transports)?;
        let pools = pools::build(&settings, &parts.key.get(), old_pools);
        let budgets = budgets(&settings, old_budgets);
        let routes = settings.routes.iter().zip(&transports).map(|(route, (_, transport))| {
            let pool = route.pool.as_deref().and_then(|name| settings.pool(name));
            let pool = pool.and_then(|pool| Some((pool, credential(pool.credential.as_ref()?)?)));
            let params = stack_params(&settings, route, pool.as_ref(), &pools, &budgets, &parts);
            let made = Route {
                destination: Destination::new(route.clone())?,
                headers: headers(&route.headers),
                pool: pool.map(|(pool, credential)| PoolRules {
                    credential,
                    client_credential: pool.client_credential,
                    signing: pool.signing.clone(),
                }),
                stack: stack(transport.clone(), params),
            };
            Ok((route.prefix.clone(), Arc::new(made)))
        });
        let routes = Routes::new(routes.collect::<Result<Vec<_>, BuildError>>()?);
        parts.transports = transports;
        let client_keys = ClientKeys::new(settings.server.client_keys.clone(), old_keys);
        Ok(Self { routes, client_keys, pools, budgets, parts, settings })
    }
}

/// What the settings tell a pool's limits apart by, on this route.
fn scoping(scope: &config::Scope, route: &config::Route) -> Scoping {
    match scope {
        config::Scope::None => Scoping::None,
        config::Scope::Route => Scoping::Fixed(route.prefix.as_str().into()),
        // The settings have checked that it can name a field.
        config::Scope::Header(name) => name.parse().map_or(Scoping::None, Scoping::header),
        config::Scope::Json(pointer) => Scoping::Json(pointer.as_str().into()),
    }
}

fn replay_memory(settings: &Settings) -> ReplayMemory {
    ReplayMemory::new(usize::try_from(settings.retry.replay_memory).unwrap_or(usize::MAX))
}

fn transport_key(settings: &Settings, route: &config::Route) -> TransportKey {
    TransportKey {
        origin: route.upstream.origin(),
        connect_timeout: route.connect_timeout,
        idle_timeout: route.idle_timeout,
        proxy: settings.upstream.proxy.clone(),
    }
}

/// A transport for each route, in their order. Routes that go the same way share one, and one that stands already
/// keeps its connections.
fn transports(settings: &Settings, old: &Transports) -> Result<Transports, BuildError> {
    let mut transports = Transports::new();
    for route in &settings.routes {
        let key = transport_key(settings, route);
        let transport = match find(&transports, &key).or_else(|| find(old, &key)) {
            Some(transport) => transport.clone(),
            None => transport(settings, &key)
                .map_err(|source| BuildError::Transport { origin: key.origin.clone(), source })?,
        };
        transports.push((key, transport));
    }
    Ok(transports)
}

fn find<'a>(transports: &'a Transports, key: &TransportKey) -> Option<&'a AutoTransport> {
    transports.iter().find(|(known, _)| known == key).map(|(_, transport)| transport)
}

fn transport(settings: &Settings, key: &TransportKey) -> Result<AutoTransport, Error> {
    let mut params = TransportParams::default();
    params.connect_timeout = key.connect_timeout;
    params.pool_idle_timeout = key.idle_timeout;
    let variables = &settings.proxy_variables;
    let value = |secret: &Option<config::Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
    params.proxy = match &key.proxy {
        config::Proxy::Off => Proxy::Off,
        config::Proxy::Url(url) => Proxy::All(url.expose().to_owned()),
        config::Proxy::Environment => Proxy::Environment {
            http: value(&variables.http),
            https: value(&variables.https),
            all: value(&variables.all),
            no_proxy: variables.no.clone(),
        },
    };
    let upstream: Uri =
        key.origin.parse().map_err(|error: http::uri::InvalidUri| Error::Configuration(error.into()))?;
    AutoTransport::new(&params, &upstream)
}

/// One retry budget an upstream, however many routes lead there.
fn budgets(settings: &Settings, old: &[(String, RetryBudget)]) -> Vec<(String, RetryBudget)> {
    let (ratio, min_per_second) = (settings.retry.budget_ratio, settings.retry.budget_min_per_second);
    let mut budgets: Vec<(String, RetryBudget)> = Vec::new();
    for route in &settings.routes {
        let origin = route.upstream.origin();
        if budgets.iter().any(|(known, _)| *known == origin) {
            continue;
        }
        let budget = match old.iter().find(|(known, _)| *known == origin) {
            Some((_, budget)) => budget.clone(),
            None => RetryBudget::new(Budget::new(ratio, min_per_second)),
        };
        budget.set(ratio, min_per_second);
        budgets.push((origin, budget));
    }
    budgets
}

fn stack_params(
    settings: &Settings,
    route: &config::Route,
    pool: Option<&(&config::Pool, Credential)>,
    pools: &[TokenManager],
    budgets: &[(String, RetryBudget)],
    parts: &Parts,
) -> StackParams {
    let origin = route.upstream.origin();
    let budget = budgets.iter().find(|(known, _)| *known == origin).map(|(_, budget)| budget.clone());
    let budget = budget.unwrap_or_else(|| RetryBudget::new(Budget::new(settings.retry.budget_ratio, 0)));
    StackParams {
        entry: EntryParams {
            request_timeout: route.request_timeout,
            replay_limit: usize::try_from(route.replay_limit).unwrap_or(usize::MAX),
            replay_memory: parts.memory.1.clone(),
            observer: None,
        },
        budget,
        retry: RetryParams {
            backoff: Backoff::new(settings.retry.schedule, settings.retry.jitter),
            max_retries: route.max_retries,
            max_switches: pool.map_or(0, |(pool, _)| pool.max_switches),
            max_retry_after: settings.retry.max_retry_after,
            unsafe_repeats: if route.retry_unsafe {
                UnsafeRepeats::Allowed
            } else {
                UnsafeRepeats::Forbidden
            },
        },
        pool: pool.and_then(|(pool, credential)| {
            let manager = pools.iter().find(|manager| manager.name() == pool.name)?.clone();
            let mut signature = Signature::new(credential.clone());
            signature.extra_cookies = route.token_cookies.then_some(parts.cookies);
            Some(Pool { manager, signature, scoping: scoping(&pool.scope, route) })
        }),
        classifier: Arc::new(classifier(settings, route)),
        timeouts: Timeouts { attempt: route.attempt_timeout, body_idle: route.body_idle_timeout },
    }
}
