//! Client keys: who may use the gateway.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use subtle::{Choice, ConstantTimeEq};
use tidegate_config::ClientKey;

/// The keys of a gateway; with none, anyone may use it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientKeys(Vec<ClientKey>);

/// What a request says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity<'a> {
    /// No keys are set.
    Anyone,
    /// The name of its key.
    Client(&'a str),
    /// It brings no key, or a wrong one.
    Stranger,
}

impl ClientKeys {
    pub(crate) fn new(keys: Vec<ClientKey>) -> Self {
        Self(keys)
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
            for key in &self.0 {
                if same(key.key.expose().as_bytes(), sent) {
                    name = Some(key.name.as_str());
                }
            }
        }
        name.map_or(Identity::Stranger, Identity::Client)
    }
}

/// What stands after `Bearer` in each `Authorization` field.
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
        let keys = self.0.iter().map(|key| key.key.expose().as_bytes()).filter(|key| !key.is_empty());
        keys.into_iter().any(|key| line.windows(key.len()).any(|part| part == key))
    }
}

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
    use tidegate_config::Secret;

    fn keys() -> ClientKeys {
        let key = |name: &str, key: &str| ClientKey { name: name.to_owned(), key: Secret::new(key) };
        ClientKeys::new(vec![key("web", "k-web"), key("cron", "k-cron"), key("none", "")])
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
            ("authorization", "Bearer k-web", Identity::Client("web")),
            ("authorization", "bearer  k-cron ", Identity::Client("cron")),
            ("x-api-key", "k-cron", Identity::Client("cron")),
            ("authorization", "Basic k-web", Identity::Stranger),
            ("authorization", "Bearer", Identity::Stranger),
            ("authorization", "Bearer k-we", Identity::Stranger),
            ("authorization", "Bearer k-webb", Identity::Stranger),
            ("authorization", "Bearer ", Identity::Stranger),
            ("x-api-key", "", Identity::Stranger),
            ("cookie", "k-web", Identity::Stranger),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(keys().identify(&headers), want, "{name}: {value}");
            assert_eq!(ClientKeys::default().identify(&headers), Identity::Anyone);
        }
    }
}
