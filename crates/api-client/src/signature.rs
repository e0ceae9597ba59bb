//! How a pooled token is put on a request.

use http::Request;
use tidegate_token_manager::Lease;

use crate::credential::{Credential, ExtraCookies};
use crate::error::Error;

/// Where the token goes, and what goes beside it.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Where the upstream wants its token.
    pub credential: Credential,
    /// The cookies that PixivFE sends beside a token, if the upstream is used to them.
    pub extra_cookies: Option<ExtraCookies>,
}

impl Signature {
    /// The token in `credential`, and nothing beside it.
    pub const fn new(credential: Credential) -> Self {
        Self { credential, extra_cookies: None }
    }

    /// Signs `request` with the leased token.
    pub(crate) fn sign<B>(&self, request: Request<B>, lease: &Lease) -> Result<Request<B>, Error> {
        let (mut parts, body) = request.into_parts();
        match &self.extra_cookies {
            Some(cookies) => self.credential.sign_with(&mut parts, lease.token(), &cookies.of(lease.id()))?,
            None => self.credential.sign(&mut parts, lease.token())?,
        }
        Ok(Request::from_parts(parts, body))
    }
}
