use std::pin::Pin;

use tidegate_token_manager::{TokenId, TokenStatus, UnknownToken};

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
