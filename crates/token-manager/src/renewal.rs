//! Tokens whose values change while they live.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use tidegate_backoff_core::{Backoff, Exponential, Jitter};

use crate::{TokenManager, TokenSpec};

/// Where a pool's tokens are fetched from, again and again: an OAuth endpoint, an installation's tokens, a vault.
///
/// ```
/// use std::time::Duration;
/// use tidegate_token_manager::{Fetched, TokenSource, TokenSpec};
///
/// struct Installation;
///
/// impl TokenSource for Installation {
///     async fn fetch(&self) -> Result<Fetched, Box<dyn std::error::Error + Send + Sync>> {
///         // Here the API is asked for a token that holds for an hour.
///         let tokens = vec![TokenSpec { name: Some("app".into()), ..TokenSpec::new("fresh") }];
///         Ok(Fetched { tokens, good_for: Some(Duration::from_secs(3600)) })
///     }
/// }
/// ```
pub trait TokenSource: Send + Sync {
    /// All tokens that the pool is to have. It is called by one task alone, whoever waits for a token.
    ///
    /// # Errors
    ///
    /// Anything; the pool keeps the tokens that it has, and the source is asked again later.
    fn fetch(&self) -> impl Future<Output = Result<Fetched, Box<dyn Error + Send + Sync>>> + Send;
}

/// What a [`TokenSource`] has.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The tokens. One with the name of a token that the pool has, and another value, is that token renewed.
    pub tokens: Vec<TokenSpec>,
    /// How long they are good for; none for ever.
    pub good_for: Option<Duration>,
}

/// When tokens are fetched again.
///
/// ```
/// use tidegate_token_manager::RenewParams;
///
/// let params = RenewParams { every: Some(std::time::Duration::from_secs(600)), ..RenewParams::default() };
/// # let _ = params;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenewParams {
    /// At the latest after so long: never, unless they are no longer good.
    pub every: Option<Duration>,
    /// So long before they are no longer good: a minute.
    pub ahead: Duration,
    /// Never sooner after the fetch before, whatever is rejected: 10 s.
    pub pause: Duration,
}

impl Default for RenewParams {
    fn default() -> Self {
        Self { every: None, ahead: Duration::from_secs(60), pause: Duration::from_secs(10) }
    }
}

impl TokenManager {
    /// Fetches the pool's tokens now, before they expire, and soon after one of them was rejected. Never ends:
    /// it is for a task of its own.
    ///
    /// A rejected token rests, and its requests wait for another, or for this. However many wait, one fetch
    /// serves them all. A fetch that fails is repeated with an exponential back-off of 1 s to a minute; `failed`
    /// is told why.
    pub async fn keep_renewed(
        &self,
        source: &impl TokenSource,
        params: RenewParams,
        mut failed: impl FnMut(&(dyn Error + Send + Sync)),
    ) {
        let again =
            Backoff::new(Exponential::new(Duration::from_secs(1), Duration::from_secs(60)), Jitter::Full);
        let mut random = fastrand::Rng::new();
        let mut failures = 0;
        loop {
            // What is rejected from here on is younger than what will be fetched, or is fetched again.
            let next = match source.fetch().await {
                Ok(Fetched { tokens, good_for }) => {
                    failures = 0;
                    self.renew(tokens);
                    let due = good_for.map(|time| time.saturating_sub(params.ahead));
                    [due, params.every].into_iter().flatten().min().map(|due| due.max(params.pause))
                }
                Err(error) => {
                    failed(&*error);
                    let wait = again.delay(failures, Duration::ZERO, random.u64(..));
                    failures = failures.saturating_add(1);
                    Some(wait.max(Duration::from_millis(100)))
                }
            };
            if failures > 0 {
                tokio::time::sleep(next.unwrap_or(params.pause)).await;
                continue;
            }
            let rejected = async {
                tokio::time::sleep(params.pause).await;
                self.rejection().await;
            };
            match next {
                Some(next) => drop(tokio::time::timeout(next, rejected).await),
                None => rejected.await,
            }
        }
    }
}
