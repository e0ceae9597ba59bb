use std::net::Ipv6Addr;

use crate::{
    problem::{Problem, shown_url},
    settings::{BaseUrl, Scheme},
};

const EXAMPLE: &str = "write one such as https://api.example.com or http://127.0.0.1:8080/v1";

/// The parts of `scheme://user@host:port/path` before anything is said about them.
pub(super) struct Parts<'a> {
    pub(super) scheme: String,
    pub(super) user: Option<&'a str>,
    pub(super) host: &'a str,
    pub(super) port: Option<u16>,
    /// All that follows the authority.
    pub(super) rest: &'a str,
}

pub(super) fn split(text: &str) -> Result<Parts<'_>, Problem> {
    let Some((scheme, rest)) = text.split_once("://") else {
        // `localhost:8080` and `api.example.com/v1` are what people write.
        return Err(Problem::new(
            "has no scheme",
            format!("write https://{0} or http://{0}", shown_url(text).trim_start_matches('/')),
        ));
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, authority),
    };
    // A colon within brackets belongs to the address; without their end all of it does.
    let bracket = place.find(']').map_or(if place.starts_with('[') { place.len() } else { 0 }, |end| end + 1);
    let (host, port) = match place[bracket..].split_once(':') {
        Some((before, port)) => (&place[..bracket + before.len()], Some(port_of(port)?)),
        None => (place, None),
    };
    Ok(Parts { scheme: scheme.to_ascii_lowercase(), user, host: valid_host(host)?, port, rest })
}

fn port_of(text: &str) -> Result<u16, Problem> {
    match text.parse() {
        Ok(port) if port > 0 && !text.starts_with('+') => Ok(port),
        _ => Err(Problem::new("has a port that does not exist", "write a port from 1 to 65535, or none")),
    }
}

fn valid_host(host: &str) -> Result<&str, Problem> {
    let wrong = |what: &str| Err(Problem::new(what, EXAMPLE));
    if let Some(inner) = host.strip_prefix('[') {
        return match inner.strip_suffix(']').map(str::parse::<Ipv6Addr>) {
            Some(Ok(_)) => Ok(host),
            _ => wrong("has no valid IPv6 address in its brackets"),
        };
    }
    if host.is_empty() {
        return wrong("has no host");
    }
    if !host.is_ascii() {
        return Err(Problem::new("has a host that is not ASCII", "write its xn-- form"));
    }
    if host.split('.').any(str::is_empty)
        || !host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
    {
        return wrong("has a host that cannot exist");
    }
    Ok(host)
}

/// The origin and base path of an upstream.
pub(crate) fn base_url(text: &str) -> Result<BaseUrl, Problem> {
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(Problem::new("holds a blank", EXAMPLE));
    }
    let parts = split(text)?;
    let scheme = match parts.scheme.as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return Err(Problem::new("has a scheme other than http and https", EXAMPLE)),
    };
    if parts.user.is_some() {
        return Err(Problem::new(
            "holds a user or a password",
            "leave it out; what the upstream wants as a credential is a token",
        ));
    }
    for (sign, name) in [('?', "query"), ('#', "fragment")] {
        if parts.rest.contains(sign) {
            return Err(Problem::new(format!("has a {name}"), "leave it out; requests bring their own"));
        }
    }
    let path = if parts.rest.is_empty() { "/" } else { parts.rest };
    if !path.bytes().all(|byte| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte)) {
        return Err(Problem::new(
            "has a character in its path that no path can hold",
            "write it with percent signs",
        ));
    }
    if super::lists::has_dot_segment(path) {
        return Err(Problem::new("has dot segments in its path", "write the path that they come to"));
    }
    Ok(BaseUrl { scheme, host: parts.host.to_ascii_lowercase(), port: parts.port, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_an_origin_and_perhaps_a_path() {
        for (text, want) in [
            ("https://www.pixiv.net", ("https://www.pixiv.net", "www.pixiv.net", 443, "/")),
            ("https://www.pixiv.net/", ("https://www.pixiv.net", "www.pixiv.net", 443, "/")),
            ("HTTP://Example.COM:80", ("http://example.com", "example.com", 80, "/")),
            ("http://127.0.0.1:8080/v1", ("http://127.0.0.1:8080/v1", "127.0.0.1:8080", 8080, "/v1")),
            ("https://[::1]:8443/a/", ("https://[::1]:8443/a/", "[::1]:8443", 8443, "/a/")),
            ("http://a_b.local", ("http://a_b.local", "a_b.local", 80, "/")),
        ] {
            let url = base_url(text).unwrap();
            assert_eq!(
                (url.to_string().as_str(), url.authority().as_str(), url.port(), url.path()),
                want,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_upstream_is_told_why() {
        for (text, what) in [
            ("www.pixiv.net", "has no scheme"),
            ("localhost:8080", "has no scheme"),
            ("//host", "has no scheme"),
            ("ftp://host", "has a scheme other than http and https"),
            ("https://", "has no host"),
            ("https:///path", "has no host"),
            ("https://user:pw@host", "holds a user or a password"),
            ("https://host?x=1", "has a query"),
            ("https://host/#a", "has a fragment"),
            ("https://host:0", "has a port that does not exist"),
            ("https://host:", "has a port that does not exist"),
            ("https://host:65536", "has a port that does not exist"),
            ("https://host:+80", "has a port that does not exist"),
            ("https://[::1", "has no valid IPv6 address in its brackets"),
            ("https://[1.2.3.4]", "has no valid IPv6 address in its brackets"),
            ("https://a..b", "has a host that cannot exist"),
            ("https://a,b", "has a host that cannot exist"),
            ("https://é.fr", "has a host that is not ASCII"),
            ("https://host/a b", "holds a blank"),
            ("https://host/a\\b", "has a character in its path that no path can hold"),
            ("https://host/a/../b", "has dot segments in its path"),
            ("https://host/%2e%2E/b", "has dot segments in its path"),
        ] {
            assert_eq!(base_url(text).unwrap_err().what, what, "{text}");
        }
        assert_eq!(
            base_url("localhost:8080").unwrap_err().mend,
            "write https://localhost:8080 or http://localhost:8080"
        );
    }
}
