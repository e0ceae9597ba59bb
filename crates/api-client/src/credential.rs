//! Where a token goes in a request.

use std::fmt;

use http::{HeaderName, request::Parts};
use tidegate_token_manager::{Token, TokenId};

use crate::Error;

/// Where the upstream wants its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// The cookie of this name; the client's other cookies do not go along.
    Cookie(String),
    /// `Authorization: Bearer <token>`.
    Bearer,
    /// A header of its own.
    Header(HeaderName),
    /// A query parameter of this name.
    Query(String),
}

impl Credential {
    /// Puts `token` where it belongs, in place of whatever the request brought there.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] if the token cannot stand in a header (a control character), or the target with
    /// it is no URI.
    pub fn sign(&self, parts: &mut Parts, token: &Token) -> Result<(), Error> {
        self.sign_with(parts, token, &[])
    }

    /// As [`sign`](Self::sign), with more cookies after the token's, all in one field.
    ///
    /// # Errors
    ///
    /// As [`sign`](Self::sign).
    pub fn sign_with(&self, _parts: &mut Parts, _token: &Token, _extra: &[(&str, String)]) -> Result<(), Error> {
        Ok(())
    }

    /// Whether the request brings this credential itself.
    pub fn carries(&self, _parts: &Parts) -> bool {
        false
    }

    /// Takes the request's own credential out.
    pub fn strip(&self, _parts: &mut Parts) {}
}

/// Cookies that PixivFE sends beside a token: made up once per token, and the same while the process lives.
#[derive(Clone, Copy)]
pub struct ExtraCookies {
    seed: u64,
}

impl ExtraCookies {
    /// A new process' seed.
    pub fn random() -> Self {
        Self { seed: fastrand::u64(..) }
    }

    /// The cookies that go with the token `id`: `yuid_b`, `p_ab_id`, `p_ab_id_2`, `p_ab_d_id`.
    pub fn of(&self, _id: TokenId) -> [(&'static str, String); 4] {
        let _ = self.seed;
        ["yuid_b", "p_ab_id", "p_ab_id_2", "p_ab_d_id"].map(|name| (name, String::new()))
    }
}

impl fmt::Debug for ExtraCookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtraCookies").finish_non_exhaustive()
    }
}
