use std::time::Duration;

use super::{BaseUrl, ClientCredential, Credential, Proxy};

/// The API behind the gateway.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Upstream {
    /// Its origin and base path.
    pub url: BaseUrl,
    /// How a token is put on a request; `None` when no route needs one.
    pub credential: Option<Credential>,
    /// What becomes of a request that brings its own.
    pub client_credential: ClientCredential,
    /// From the sent request to the response head; zero is off.
    pub attempt_timeout: Duration,
    /// To a connection; zero is off.
    pub connect_timeout: Duration,
    /// How long a connection may stand unused before it is closed; zero is off.
    pub idle_timeout: Duration,
    /// How it is reached.
    pub proxy: Proxy,
}
