use std::time::Duration;

use tokio::time::Instant;

use crate::TokenId;

/// What a request asks of the pool.
///
/// ```
/// use tidegate_token_manager::Ask;
///
/// let first = Ask::default();
/// assert!(first.tried.is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The tokens that this request was made with already: another is lent if one is ready.
    pub tried: &'a [TokenId],
    /// How long it may wait, at most; the pool's own `max_wait` holds too. A request that asks again gives
    /// what is left.
    pub max_wait: Duration,
    /// The moment past which it does not wait.
    pub deadline: Option<Instant>,
    /// Who asks. Clients that wait are served by turns, and within one client first come first served; all
    /// who do not say are one client.
    pub client: Option<&'a str>,
    /// What is asked for, where the upstream limits a token for each such thing: cool-downs, quotas, limits
    /// and those who wait are then this scope's own. None, as an empty one, is a scope like any other.
    pub scope: Option<&'a str>,
    /// This token and no other, tried or not. Who waits for one token keeps nobody from another; where others wait
    /// for any and it comes back, it is lent by turns.
    pub only: Option<TokenId>,
}

impl Default for Ask<'_> {
    /// The first time that a request asks: nothing tried, and as long a wait as the pool allows.
    fn default() -> Self {
        Self { tried: &[], max_wait: Duration::MAX, deadline: None, client: None, scope: None, only: None }
    }
}
