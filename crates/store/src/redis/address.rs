use std::fmt;
use std::path::PathBuf;

use redis::{Client, ConnectionAddr, IntoConnectionInfo};
use url::Url;

const PREFIX: &str = "tidegate";

/// Where a Redis is, and what of it is ours.
///
/// `redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://` for TLS, or `unix:///PATH?db=DATABASE&user=USER&pass=PASSWORD`.
/// After a `?` may stand `prefix=NAME` (`tidegate`), with which all keys begin, and `ca=PATH`, a PEM file of
/// the certificates that are trusted instead of the system's. It shows without user and password.
///
/// ```
/// use tidegate_store::RedisAddress;
///
/// let address: RedisAddress = "redis://:hunter2@cache:6379/3?prefix=pixiv".parse()?;
/// assert_eq!(address.to_string(), "redis cache:6379 database 3 prefix pixiv");
/// assert!("http://cache".parse::<RedisAddress>().is_err());
/// # Ok::<(), tidegate_store::AddressError>(())
/// ```
#[derive(Clone)]
pub struct RedisAddress {
    url: Url,
    prefix: String,
    ca: Option<PathBuf>,
    shown: String,
    database: i64,
}

/// Why a text is no address of a Redis. It does not hold the text, in which there may be a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AddressError(String);

impl std::str::FromStr for RedisAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let mut url = Url::parse(text).map_err(|error| AddressError(error.to_string()))?;
        if !matches!(
            url.scheme(),
            "redis" | "rediss" | "valkey" | "valkeys" | "redis+unix" | "valkey+unix" | "unix"
        ) {
            return Err(AddressError("the scheme is none of redis, rediss and unix".to_owned()));
        }
        if url.fragment().is_some() {
            return Err(AddressError(
                "a '#' is not taken: TLS is always checked; write it as %23 in a password".to_owned(),
            ));
        }
        let (mut prefix, mut ca, mut others) = (PREFIX.to_owned(), None, Vec::new());
        for (name, value) in url.query_pairs() {
            match name.as_ref() {
                "prefix" => prefix = value.into_owned(),
                "ca" => ca = Some(PathBuf::from(value.as_ref())),
                "db" | "user" | "pass" | "protocol" => others.push((name.into_owned(), value.into_owned())),
                // The name is not said: it may be a piece of a password.
                _ => {
                    let known = "prefix and ca, and db, user and pass with unix:";
                    return Err(AddressError(format!("something after '?' is not known; known are {known}")));
                }
            }
        }
        if prefix.is_empty()
            || !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:{}".contains(&byte))
        {
            return Err(AddressError(
                "the prefix is not of letters, digits, '-', '_', '.', ':', '{' and '}'".to_owned(),
            ));
        }
        url.set_query(None);
        if !others.is_empty() {
            url.query_pairs_mut().extend_pairs(others);
        }
        // The error's text may hold a piece of the URL's path or query, but no password.
        let info = url.clone().into_connection_info().map_err(|error| AddressError(error.to_string()))?;
        let database = info.redis_settings().db();
        let tls = matches!(info.addr(), ConnectionAddr::TcpTls { .. });
        if ca.is_some() && !tls {
            return Err(AddressError("ca= is for rediss://".to_owned()));
        }
        let place = match info.addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                format!("{host}:{port}")
            }
            ConnectionAddr::Unix(path) => path.display().to_string(),
            _ => "?".to_owned(),
        };
        let mut shown = format!("redis {place}");
        if database != 0 {
            shown.push_str(&format!(" database {database}"));
        }
        if prefix != PREFIX {
            shown.push_str(&format!(" prefix {prefix}"));
        }
        Ok(Self { url, prefix, ca, shown, database })
    }
}

impl RedisAddress {
    /// What all keys begin with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The channel on which news are told. Channels, unlike keys, are not apart by database.
    pub(super) fn channel(&self) -> String {
        format!("{}:news:{}", self.prefix, self.database)
    }

    /// A client for it; reads the certificates, so that a new file counts from the next connection on.
    pub(super) fn client(&self) -> Result<Client, Box<dyn std::error::Error + Send + Sync>> {
        let Some(ca) = &self.ca else { return Ok(Client::open(self.url.clone())?) };
        let root_cert = std::fs::read(ca)
            .map_err(|error| format!("the certificates in {} cannot be read: {error}", ca.display()))?;
        let certificates = redis::TlsCertificates { client_tls: None, root_cert: Some(root_cert) };
        Ok(Client::build_with_tls(self.url.clone(), certificates)?)
    }
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shown)
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisAddress({})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_without_its_secrets() {
        for (text, shown) in [
            ("redis://host", "redis host:6379"),
            ("redis://me:zq81@host:7000/2", "redis host:7000 database 2"),
            ("rediss://:zq81@host/?prefix=a:b&ca=/x.pem", "redis host:6379 prefix a:b"),
            ("redis://[::1]:7000", "redis ::1:7000"),
            ("redis://host?prefix={a}", "redis host:6379 prefix {a}"),
            ("unix:///run/redis.sock?db=1&user=me&pass=zq81", "redis /run/redis.sock database 1"),
        ] {
            let address: RedisAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), shown, "{text}");
            assert!(!format!("{address:?}").contains("zq81"), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_told_without_the_text() {
        for text in [
            "",
            "host:6379",
            "http://host",
            "redis://me:zq81@",
            "redis://me:zq81@host/x",
            "redis://me:zq81@host:99999",
            "redis://me:zq81@host?prefix=",
            "redis://me:zq81@host?prefix=a%20b",
            "redis://me:zq81@host?nothing=1",
            "redis://me:zq81@host?ca=/x",
            "rediss://me:zq81@host#insecure",
        ] {
            let error = text.parse::<RedisAddress>().unwrap_err().to_string();
            assert!(!error.is_empty() && !error.contains("zq81"), "{text}: {error}");
        }
    }

    #[test]
    fn each_database_and_prefix_has_a_channel() {
        let channel = |text: &str| text.parse::<RedisAddress>().unwrap().channel();
        assert_eq!(channel("redis://h"), "tidegate:news:0");
        assert_eq!(channel("redis://h/4?prefix=x"), "x:news:4");
    }
}
