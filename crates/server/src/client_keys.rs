//! Client keys: who may use the gateway, and how fast.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use subtle::{Choice, ConstantTimeEq};
use tidegate_config::ClientKey;
use tokio::time::Instant;

use crate::client_rate::{RateLimiter, TooFast};

/// The keys of a gateway; with none, anyone may use it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientKeys(Vec<Client>);

#[derive(Clone, Debug)]
struct Client {
    key: ClientKey,
    name: Arc<str>,
    limiter: Option<Arc<RateLimiter>>,
}

/// What a request says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity<'a> {
    /// No keys are set.
    Anyone,
    /// The name of its key.
    Client(&'a Arc<str>),
    /// It brings no key, or a wrong one.
    Stranger,
}

impl ClientKeys {
    /// A client that `old` has too, by its name and with the same rate, has used up what it had used up there.
    pub(crate) fn new(keys: Vec<ClientKey>, old: &Self) -> Self {
        let client = |key: ClientKey| {
            let known = old.0.iter().find(|client| client.key.name == key.name);
            let limiter = key.rate.map(|rate| {
                let kept = known.and_then(|known| known.limiter.clone()).filter(|kept| kept.rate() == rate);
                kept.unwrap_or_else(|| Arc::new(RateLimiter::new(rate)))
            });
            Client { name: key.name.as_str().into(), key, limiter }
        };
        Self(keys.into_iter().map(client).collect())
    }

    /// The names of all clients.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|client| &*client.name)
    }

    /// Lets one request of the client through.
    ///
    /// # Errors
    ///
    /// When its rate does not allow it.
    pub(crate) fn admit(&self, name: &str, now: Instant) -> Result<(), TooFast> {
        let client = self.0.iter().find(|client| &*client.name == name);
        client.and_then(|client| client.limiter.as_ref()).map_or(Ok(()), |limiter| limiter.admit(now))
    }

    pub(crate) fn are_set(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whose key a request brings, as `Authorization: Bearer` or `X-Api-Key`.
    pub(crate) fn identify(&self, headers: &HeaderMap) -> Identity<'_> {
        if !self.are_set() {
            return Identity::Anyone;
        }
        let plain = headers.get_all("x-api-key").iter().map(HeaderValue::as_bytes);
        let brought = bearer_tokens(headers).chain(plain);
        let mut name = None;
        // Every key is compared with every other, so that the time says nothing about which is nearly right.
        for sent in brought {
            for client in &self.0 {
                if same(client.key.key.expose().as_bytes(), sent) {
                    name = Some(&client.name);
                }
            }
        }
        name.map_or(Identity::Stranger, Identity::Client)
    }
}

impl ClientKeys {
    /// Takes out of `headers` what is for this gateway alone: every line of a field that holds one of its keys.
    pub(crate) fn strip(&self, headers: &mut HeaderMap) {
        for field in [AUTHORIZATION, HeaderName::from_static("x-api-key")] {
            let lines = headers.get_all(&field).iter();
            let kept: Vec<HeaderValue> = lines.filter(|line| !self.is_in(line.as_bytes())).cloned().collect();
            headers.remove(&field);
            for line in kept {
                headers.append(&field, line);
            }
        }
    }

    fn is_in(&self, line: &[u8]) -> bool {
        let mut keys =
            self.0.iter().map(|client| client.key.key.expose().as_bytes()).filter(|key| !key.is_empty());
        keys.any(|key| line.windows(key.len()).any(|part| part == key))
    }
}

/// What stands after `Bearer` in each `Authorization` field.
pub(crate) fn bearer_tokens(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    headers.get_all(AUTHORIZATION).iter().filter_map(|value| {
        let (scheme, token) = value.as_bytes().split_at_checked("bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
    })
}

/// Compares in a time that depends on the lengths alone; an empty secret equals nothing.
pub(crate) fn same(secret: &[u8], sent: &[u8]) -> bool {
    (secret.ct_eq(sent) & Choice::from(u8::from(!secret.is_empty()))).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_config::{ClientRate, Secret};

    fn keys() -> ClientKeys {
        ClientKeys::new(
            vec![key("web", "k-web", 0), key("cron", "k-cron", 1), key("none", "", 0)],
            &ClientKeys::default(),
        )
    }

    fn key(name: &str, key: &str, rate: u32) -> ClientKey {
        let rate = rate.try_into().ok().map(|n| ClientRate { per_second: n, burst: n });
        ClientKey { name: name.to_owned(), key: Secret::new(key), rate }
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_is_one_clients_own_and_outlives_a_reload() {
        let now = Instant::now();
        let first = keys();
        let admits = |keys: &ClientKeys, name: &str| keys.admit(name, now).is_ok();
        assert!(admits(&first, "cron") && !admits(&first, "cron"));
        assert!(admits(&first, "web") && admits(&first, "web"));
        let reloaded = ClientKeys::new(vec![key("cron", "another key", 1), key("new", "k", 1)], &first);
        assert!(!admits(&reloaded, "cron") && admits(&reloaded, "new"));
        let faster = ClientKeys::new(vec![key("cron", "k-cron", 2)], &reloaded);
        assert!(admits(&faster, "cron"), "another rate begins anew");
        assert_eq!(reloaded.names().collect::<Vec<_>>(), ["cron", "new"]);
    }

    #[test]
    fn a_line_with_a_key_is_taken_out_whole() {
        let rows: [(&[&str], &[&str]); 5] = [
            (&["Bearer k-web"], &[]),
            (&["Bearer own"], &["Bearer own"]),
            (&["Bearer bad", "Bearer k-web"], &["Bearer bad"]),
            (&["Basic x", "Bearer k-cron, y"], &["Basic x"]),
            (&["  k-web"], &[]),
        ];
        for (sent, want) in rows {
            for field in ["authorization", "x-api-key"] {
                let mut headers = HeaderMap::new();
                for line in sent {
                    headers.append(field, line.parse().unwrap());
                }
                keys().strip(&mut headers);
                let left: Vec<_> = headers.get_all(field).iter().collect();
                assert_eq!(left, want, "{field}: {sent:?}");
            }
        }
    }

    #[test]
    fn a_key_names_its_client() {
        for (name, value, want) in [
            ("authorization", "Bearer k-web", Some("web")),
            ("authorization", "bearer  k-cron ", Some("cron")),
            ("x-api-key", "k-cron", Some("cron")),
            ("authorization", "Basic k-web", None),
            ("authorization", "Bearer", None),
            ("authorization", "Bearer k-we", None),
            ("authorization", "Bearer k-webb", None),
            ("authorization", "Bearer ", None),
            ("x-api-key", "", None),
            ("cookie", "k-web", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let keys = keys();
            let found = match keys.identify(&headers) {
                Identity::Client(name) => Some(&**name),
                Identity::Stranger => None,
                Identity::Anyone => panic!("there are keys"),
            };
            assert_eq!(found, want, "{name}: {value}");
            assert_eq!(ClientKeys::default().identify(&headers), Identity::Anyone);
        }
    }
}
