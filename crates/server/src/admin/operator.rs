use std::pin::Pin;
use std::time::Duration;

use tidegate_token_manager::{TokenId, TokenStatus, UnknownToken};

use crate::live::Live;

/// What the operators' listener needs of a gateway.
pub(crate) trait Operator: Send + Sync + 'static {
    /// Whether requests should be sent here. The state of the tokens is no part of it.
    fn readiness(&self) -> Readiness;

    /// Each pool's name and tokens, in the order of the settings.
    fn tokens(&self) -> Vec<(String, Vec<TokenStatus>)>;

    /// Makes every token of every pool ready.
    fn reset_all(&self);

    /// Does `operation` to the token, in every pool that has it.
    ///
    /// # Errors
    ///
    /// When no pool has it.
    fn operate(&self, id: TokenId, operation: Operation) -> Result<(), UnknownToken>;

    /// Reads the settings again.
    fn reload(&self) -> Pin<Box<dyn Future<Output = Reloaded> + Send + '_>>;

    /// The metrics in Prometheus' text format.
    fn metrics(&self) -> String;

    /// The latest requests and figures.
    fn live(&self) -> &Live;

    /// What stands in the pools and budgets now.
    fn overview(&self) -> Overview;

    /// Whether the gateway has ended, so that nothing is left to be watched.
    fn has_ended(&self) -> bool;
}

/// What a dashboard shows beside the tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overview {
    pub(crate) pools: Vec<PoolOverview>,
    /// Each upstream's origin and how many retries its budget would grant now.
    pub(crate) budgets: Vec<(String, u64)>,
    pub(crate) in_flight: u64,
}

/// Who waits in a pool.
#[derive(Clone, Debug)]
pub(crate) struct PoolOverview {
    pub(crate) name: String,
    pub(crate) waiting: usize,
    /// What a request that asks for a token now has to expect; none where no token is expected at all.
    pub(crate) predicted_wait: Option<Duration>,
}

/// Whether requests should be sent here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    /// The state of an earlier run, or of other replicas, has not been read yet.
    Starting,
    Stopping,
}

/// What can be done to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Reset,
    Disable,
    Enable,
}

impl Operation {
    /// By the last segment of its path.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "reset" => Some(Self::Reset),
            "disable" => Some(Self::Disable),
            "enable" => Some(Self::Enable),
            _ => None,
        }
    }
}

/// What came of a reload: what there is to know, or the faults, for which the old settings stay.
pub(crate) type Reloaded = Result<Vec<String>, Vec<String>>;
