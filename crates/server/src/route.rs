//! Routes: which one a path takes, what its target at the upstream is, and the way back for a Location.

use std::cmp::Reverse;

use http::Uri;
use http::uri::{Authority, InvalidUri, PathAndQuery, Scheme};
use tidegate_config::Route as RouteSettings;

/// Where the requests below one prefix go, made ready for use.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    settings: RouteSettings,
    scheme: Scheme,
    authority: Authority,
}

impl Destination {
    /// # Errors
    ///
    /// When the upstream's host cannot stand in a URI, which the settings have ruled out.
    pub(crate) fn new(settings: RouteSettings) -> Result<Self, InvalidUri> {
        let authority = settings.upstream.authority().parse()?;
        let scheme = match settings.upstream.scheme() {
            tidegate_config::Scheme::Http => Scheme::HTTP,
            tidegate_config::Scheme::Https => Scheme::HTTPS,
        };
        Ok(Self { settings, scheme, authority })
    }

    /// How logs and metrics name the route: by its prefix, which the settings bound.
    pub(crate) fn label(&self) -> &str {
        &self.settings.prefix
    }

    pub(crate) fn settings(&self) -> &RouteSettings {
        &self.settings
    }

    /// The URI at the upstream: the prefix replaced, everything else byte for byte.
    ///
    /// # Errors
    ///
    /// When the two together are longer than a URI may be (64 KiB).
    pub(crate) fn target(&self, asked: &PathAndQuery) -> Result<Uri, http::Error> {
        let mut target = self.settings.target_path(asked.path());
        if let Some(query) = asked.query() {
            target.push('?');
            target.push_str(query);
        }
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(target)
            .build()
    }

    /// The Location to show to the client for one that points at this upstream; `None` leaves it as it is.
    pub(crate) fn map_location(&self, location: &str) -> Option<String> {
        let upstream = &self.settings.upstream;
        let origin =
            Origin { scheme: upstream.scheme().as_str(), host: upstream.host(), port: upstream.port() };
        map_location(location, origin, &self.settings.prefix, &self.settings.rewrite)
    }
}

/// The routes of a gateway.
#[derive(Clone, Debug)]
pub(crate) struct Routes<T>(Vec<(String, T)>);

impl<T> Routes<T> {
    /// Each prefix with what belongs to it, in any order.
    pub(crate) fn new(routes: impl IntoIterator<Item = (String, T)>) -> Self {
        let mut routes: Vec<_> = routes.into_iter().collect();
        routes.sort_by_key(|(prefix, _)| Reverse(prefix.len()));
        Self(routes)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, route)| route)
    }

    /// The one with the longest prefix of `path`.
    pub(crate) fn find(&self, path: &str) -> Option<&T> {
        self.0.iter().find(|(prefix, _)| RouteSettings::is_below(path, prefix)).map(|(_, route)| route)
    }
}

/// An upstream's origin: `http` or `https`, the host in lower case (IPv6 in brackets), the port.
#[derive(Clone, Copy, Debug)]
struct Origin<'a> {
    scheme: &'a str,
    host: &'a str,
    port: u16,
}

impl Origin<'_> {
    const fn default_port(&self) -> u16 {
        if self.scheme.len() == "https".len() { 443 } else { 80 }
    }
}

/// Maps a Location of the upstream back under the route's prefix, as a reference without an origin.
///
/// Mapped is what names the upstream's origin (`https://host/x`, `//host/x`) or is a path there (`/x`), and lies below
/// `rewrite`, the path that stands for `prefix` at the upstream. Relative references hold as they are, for below both
/// the paths are the same; other origins are not ours.
fn map_location(location: &str, upstream: Origin<'_>, prefix: &str, rewrite: &str) -> Option<String> {
    let path = match path_at(location, upstream)? {
        "" => "/",
        path => path,
    };
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let (path, tail) = path.split_at(end);
    let path = if path.is_empty() { "/" } else { path };
    // `/base` for a rewrite of `/base/`: its own folder.
    let rest = if rewrite.strip_suffix('/') == Some(path) {
        ""
    } else if RouteSettings::is_below(path, rewrite) {
        path.strip_prefix(rewrite).unwrap_or_default()
    } else {
        return None;
    };
    let mapped = format!("{prefix}{rest}{tail}");
    // `//x` would be a host to a browser; a dot segment, which it removes, keeps it a path (RFC 3986, section 4.2).
    let mapped = if mapped.starts_with("//") { format!("/.{mapped}") } else { mapped };
    (mapped != location).then_some(mapped)
}

/// What follows the upstream's origin in `location`.
fn path_at<'a>(location: &'a str, upstream: Origin<'_>) -> Option<&'a str> {
    let (scheme, rest) = match location.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => (scheme, rest),
        _ => match location.strip_prefix("//") {
            Some(rest) => (upstream.scheme, rest),
            None => return location.starts_with('/').then_some(location),
        },
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, "")) => (host, upstream.default_port()),
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, upstream.default_port()),
    };
    let ours = scheme.eq_ignore_ascii_case(upstream.scheme)
        && host.eq_ignore_ascii_case(upstream.host)
        && port == upstream.port;
    ours.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_that_ends_with_a_segment_wins() {
        let routes = Routes::new(["/", "/api", "/api/v2/", "/proxy/i.pximg.net/"].map(|p| (p.to_owned(), p)));
        for (path, want) in [
            ("/", "/"),
            ("//api/x", "/"),
            ("/api", "/api"),
            ("/api/", "/api"),
            ("/apix", "/"),
            ("/api/v2", "/api"),
            ("/api/v2/", "/api/v2/"),
            ("/api/v2/x", "/api/v2/"),
            ("/proxy/i.pximg.net/a", "/proxy/i.pximg.net/"),
            ("/proxy/i.pximg.net", "/"),
            ("/%70roxy/i.pximg.net/a", "/"),
        ] {
            assert_eq!(routes.find(path), Some(&want), "{path}");
        }
        assert_eq!(Routes::new([("/a/".to_owned(), 1)]).find("/b"), None);
    }

    fn origin(url: &str) -> Origin<'_> {
        let (scheme, rest) = url.split_once("://").unwrap();
        let authority = rest.split('/').next().unwrap();
        let known = Origin { scheme, host: authority, port: 0 };
        match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                Origin { host, port: port.parse().unwrap(), ..known }
            }
            _ => Origin { port: known.default_port(), ..known },
        }
    }

    #[test]
    fn a_location_at_the_upstream_is_mapped_back() {
        let same = None;
        for (upstream, prefix, rewrite, location, want) in [
            // The default route: paths are the same on both sides, so only an origin is taken off.
            ("https://up.example", "/", "/", "https://up.example/a?b#c", Some("/a?b#c")),
            ("https://up.example", "/", "/", "https://up.example", Some("/")),
            ("https://up.example", "/", "/", "https://up.example?q", Some("/?q")),
            ("https://up.example", "/", "/", "HTTPS://UP.example:443/a", Some("/a")),
            ("https://up.example", "/", "/", "//up.example/a", Some("/a")),
            ("https://up.example", "/", "/", "/a", same),
            ("https://up.example", "/", "/", "a/b", same),
            ("https://up.example", "/", "/", "?b", same),
            ("https://up.example", "/", "/", "", same),
            (
                "https://up.example",
                "/",
                "/",
                "https://up.example//evil.example/x",
                Some("/.//evil.example/x"),
            ),
            // Other origins stay what they are.
            ("https://up.example", "/", "/", "http://up.example/a", same),
            ("https://up.example", "/", "/", "https://up.example:444/a", same),
            ("https://up.example", "/", "/", "https://up.example.evil/a", same),
            ("https://up.example", "/", "/", "https://up.example@evil/a", same),
            ("https://up.example", "/", "/", "https://u:p@up.example/a", Some("/a")),
            ("https://up.example", "/", "/", "https://up.example:x/a", same),
            ("https://up.example", "/", "/", "mailto:a@up.example", same),
            // A port, an IPv6 address.
            ("http://127.0.0.1:9000", "/", "/", "http://127.0.0.1:9000/a", Some("/a")),
            ("http://127.0.0.1:9000", "/", "/", "http://127.0.0.1/a", same),
            ("http://[::1]:9000", "/", "/", "http://[::1]:9000/a", Some("/a")),
            ("http://[::1]", "/", "/", "http://[::1]/a", Some("/a")),
            // A prefix that was replaced.
            ("https://i.example", "/proxy/i/", "/", "/a", Some("/proxy/i/a")),
            ("https://i.example", "/proxy/i/", "/", "//i.example/a?b", Some("/proxy/i/a?b")),
            ("https://i.example", "/proxy/i/", "/", "a", same),
            // A base path.
            ("https://up.example/v1", "/api", "/v1", "/v1/a", Some("/api/a")),
            ("https://up.example/v1", "/api", "/v1", "https://up.example/v1?q", Some("/api?q")),
            ("https://up.example/v1", "/api", "/v1", "/v10/a", same),
            ("https://up.example/v1", "/", "/v1/", "/v1/a", Some("/a")),
            ("https://up.example/v1", "/", "/v1/", "/login", same),
        ] {
            let mapped = map_location(location, origin(upstream), prefix, rewrite);
            assert_eq!(mapped.as_deref(), want, "{upstream} {prefix} {location}");
        }
    }
}
