use std::sync::Arc;
use std::time::Duration;

use http::Request;
use tidegate_api_client::{
    Body, Client, Credential, EntryParams, Pool, RetryBudget, RetryParams, Scoping, Signature, Stack,
    StackParams, StandardClassifier, Timeouts, UnsafeRepeats, stack,
};
use tidegate_backoff_core::{Backoff, Budget};
use tidegate_config::{self as config, Faults, Purpose, Settings, Sources};
use tidegate_token_manager::{
    IdKey, Limit, Pacing, PoolParams, Strategy, TokenManager, TokenSpec, WhenExhausted,
};
use tower::ServiceExt;

use super::{Policy, outcome};
use crate::measure::Outcome;
use crate::world::{Arrival, Asked, TOKEN_HEADER, Upstream, World};

/// Tidegate's own stack over the simulated upstream.
#[derive(Clone, Debug)]
pub struct Ours {
    stack: Stack<Upstream>,
    clients: Arc<[Client]>,
}

/// The settings that it is made with.
#[derive(Clone, Debug)]
pub struct OursSettings {
    settings: Settings,
    pool: config::Pool,
}

/// Why there are none.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SettingsError(#[from] Faults);

impl OursSettings {
    /// The settings that a `tidegate.toml` with this text gives; all others are the defaults.
    ///
    /// # Errors
    ///
    /// Every fault of the text.
    pub fn from_toml(path: &str, text: &str) -> Result<Self, SettingsError> {
        let loaded = config::load_for(&Sources::default().with_toml(path, text), Purpose::Inspect)?;
        let settings = loaded.settings;
        // There is always the pool of `[token]`.
        let pool = settings.pool("default").cloned();
        let pool = pool.unwrap_or_else(|| settings.pools[0].clone());
        Ok(Self { settings, pool })
    }

    /// How long a request waits for a token, at most.
    pub fn max_wait(&self) -> Duration {
        self.pool.max_wait
    }

    /// How many tokens the text names.
    pub fn tokens(&self) -> usize {
        self.pool.tokens.len()
    }

    /// The same with this `token.limit`.
    #[must_use = "the settings are returned, not changed in place"]
    pub fn with_limit(mut self, limit: config::Limit) -> Self {
        self.pool.limit = Some(limit);
        self
    }
}

impl Ours {
    /// A stack with a pool of the world's tokens. The pool draws from the thread's generator, so a run seeds that.
    pub fn new(settings: &OursSettings, world: &World, upstream: Upstream) -> Self {
        let specs = (0..world.tokens).map(|token| TokenSpec::new(token.to_string())).collect();
        let key = IdKey::from_bytes(b"simulated");
        let manager = TokenManager::new("default", pool_params(&settings.pool), specs, key);
        let clients =
            (0..world.clients.len()).map(|client| Client(format!("client {client}").into())).collect();
        Self { stack: stack(upstream, stack_params(settings, world, manager)), clients }
    }
}

impl Policy for Ours {
    async fn serve(&self, arrival: Arrival) -> Outcome {
        let mut request = Request::new(Body::empty());
        let extensions = request.extensions_mut();
        extensions.insert(Asked(arrival.at));
        extensions.insert(self.clients[arrival.client].clone());
        match self.stack.clone().oneshot(request).await {
            Ok(response) => outcome(response.status()),
            Err(failure) if matches!(failure.error, tidegate_api_client::Error::NoToken(_)) => {
                Outcome::Refused
            }
            Err(_) => Outcome::Failed,
        }
    }
}

/// A pool's settings in the pool's words, as the gateway says them (`server/src/pools.rs`).
fn pool_params(pool: &config::Pool) -> PoolParams {
    PoolParams {
        cool_down: pool.cool_down,
        strategy: match pool.strategy {
            config::Strategy::RoundRobin => Strategy::RoundRobin,
            config::Strategy::Random => Strategy::Random,
            config::Strategy::LeastRecentlyUsed => Strategy::LeastRecentlyUsed,
            config::Strategy::LeastLoaded => Strategy::LeastLoaded,
        },
        when_exhausted: match pool.when_exhausted {
            config::WhenExhausted::Wait => WhenExhausted::Wait,
            config::WhenExhausted::Fail => WhenExhausted::Fail,
            config::WhenExhausted::Soonest => WhenExhausted::Soonest,
        },
        max_wait: pool.max_wait,
        max_concurrency: pool.max_concurrency,
        limit: pool.limit.map(|limit| Limit { count: limit.count, per: limit.per, burst: limit.burst }),
        max_waiting: usize::try_from(pool.max_waiting).unwrap_or(usize::MAX),
        pacing: match pool.pacing {
            config::Pacing::Learned => Pacing::Learned,
            config::Pacing::Off => Pacing::Off,
        },
    }
}

fn stack_params(settings: &OursSettings, world: &World, manager: TokenManager) -> StackParams {
    let OursSettings { settings: Settings { retry, upstream, .. }, pool } = settings;
    // The names of header fields are lower case.
    let credential = Credential::Header(http::HeaderName::from_static(TOKEN_HEADER));
    StackParams {
        entry: EntryParams { request_timeout: world.deadline, ..EntryParams::default() },
        budget: RetryBudget::new(Budget::new(retry.budget_ratio, retry.budget_min_per_second)),
        retry: RetryParams {
            backoff: Backoff::new(retry.schedule, retry.jitter),
            max_retries: retry.max_retries,
            max_switches: pool.max_switches,
            max_retry_after: retry.max_retry_after,
            unsafe_repeats: UnsafeRepeats::Forbidden,
        },
        pool: Some(Pool { manager, signature: Signature::new(credential), scoping: Scoping::None }),
        classifier: Arc::new(StandardClassifier::generic()),
        timeouts: Timeouts { attempt: upstream.attempt_timeout, ..Timeouts::default() },
    }
}
