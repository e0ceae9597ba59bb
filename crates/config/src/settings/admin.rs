use super::Listen;
use crate::secret::Secret;

/// The operators' listener: health, metrics, tokens, dashboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    /// Where it listens; `127.0.0.1:8283` unless said otherwise. A Unix socket is for its owner alone (0600).
    pub listen: Listen,
    /// What operators send as `Authorization: Bearer`. Always there when [`listen`](Admin::listen) is not loopback.
    pub key: Option<Secret>,
}
