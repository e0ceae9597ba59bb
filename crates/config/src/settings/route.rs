use std::time::Duration;

use super::BaseUrl;

/// Where the requests below one prefix go, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Route {
    /// What the path begins with, such as `/proxy/i.pximg.net/`; `/` for the rest.
    pub prefix: String,
    /// Where its requests go: the origin, and the base path that was written.
    pub upstream: BaseUrl,
    /// What stands in the prefix's place; see [`target_path`](Route::target_path). It ends in `/` if the prefix does.
    pub rewrite: String,
    /// The pool that signs; `None` is no token.
    pub pool: Option<String>,
    /// Fields that are set on the way to the upstream, in place of the client's.
    pub headers: Vec<RouteHeader>,
    /// Whether each token brings PixivFE's cookies (yuid_b, p_ab_id, p_ab_id_2, p_ab_d_id).
    pub token_cookies: bool,
    /// Whether it answers without a client key. Only without a pool.
    pub public: bool,
    /// From the sent request to the response head; zero is off.
    pub attempt_timeout: Duration,
    /// To a connection; zero is off.
    pub connect_timeout: Duration,
    /// How long a connection to the upstream may stand unused before it is closed; zero is off.
    pub idle_timeout: Duration,
    /// From the request to the response head, attempts and waits in all; zero is off.
    pub request_timeout: Duration,
    /// The longest silence within a body; zero is off.
    pub body_idle_timeout: Duration,
    /// The longest request body, in bytes, that is held so that it can be sent again.
    pub replay_limit: u64,
    /// Whether a method that is not idempotent is repeated too.
    pub retry_unsafe: bool,
    /// How often a request is repeated.
    pub max_retries: u32,
}

impl Route {
    /// Whether this route is for `path`.
    pub fn matches(&self, path: &str) -> bool {
        Self::is_below(path, &self.prefix)
    }

    /// Whether `path` begins with `prefix`, which ends where a segment does: `/api` is none of `/apix`.
    pub fn is_below(path: &str, prefix: &str) -> bool {
        path.strip_prefix(prefix).is_some_and(|rest| {
            prefix.is_empty() || prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/')
        })
    }

    /// The path at the upstream for a `path` that [matches](Route::matches): the prefix is replaced, the rest stays byte for byte.
    pub fn target_path(&self, path: &str) -> String {
        let rest = path.strip_prefix(self.prefix.as_str()).unwrap_or(path);
        match format!("{}{rest}", self.rewrite) {
            path if path.starts_with('/') => path,
            path => format!("/{path}"),
        }
    }
}

/// A header field of a route; the name is in lower case, name and value are valid on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteHeader {
    /// The field's name, in lower case.
    pub name: String,
    /// Its value. It may be a key of the other host, so it is hidden when printed.
    pub value: crate::Secret,
}
