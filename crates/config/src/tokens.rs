//! Tokens as the settings hold them.

use std::num::NonZeroU32;

use crate::secret::Secret;

/// One token of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenEntry {
    /// The token itself.
    pub value: Secret,
    /// How logs and metrics name it.
    pub name: Option<String>,
    /// How often it is chosen against the others; 1 unless said.
    pub weight: NonZeroU32,
    /// What it shares with others, such as an account.
    pub group: Option<String>,
}
