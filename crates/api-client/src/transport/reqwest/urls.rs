//! A request's target as the URL standard has it.

use std::sync::{Arc, OnceLock};

use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use reqwest::Url;

use crate::error::Error;

/// Makes URLs of targets. The first origin is kept as one: most transports have one upstream, and a host costs more to
/// parse than all the rest.
#[derive(Clone, Default)]
pub(super) struct Urls(Arc<OnceLock<Origin>>);

struct Origin {
    scheme: Scheme,
    authority: Authority,
    url: Url,
}

impl Urls {
    /// The URL that the target is as a whole.
    pub(super) fn of(&self, target: &Uri) -> Result<Url, Error> {
        let (Some(scheme), Some(authority)) = (target.scheme(), target.authority()) else {
            return Err(Error::Configuration("the target has no scheme or host".into()));
        };
        let path = target.path_and_query().map_or("", PathAndQuery::as_str);
        let origin = match self.0.get() {
            Some(origin) => origin,
            None => {
                let url = parsed(&format!("{scheme}://{authority}/"))?;
                let origin = Origin { scheme: scheme.clone(), authority: authority.clone(), url };
                self.0.get_or_init(|| origin)
            }
        };
        // To the letter: what stands before an `@` minds its case.
        let is_ours = origin.scheme == *scheme && origin.authority.as_str() == authority.as_str();
        if is_ours && is_path(path) {
            return origin.url.join(path).map_err(|error| Error::Configuration(error.into()));
        }
        parsed(&format!("{scheme}://{authority}{path}"))
    }
}

/// Whether the reference stays at its origin: one with two slashes names another host, and a backslash is a slash to
/// the standard.
fn is_path(reference: &str) -> bool {
    let mut bytes = reference.bytes();
    bytes.next() == Some(b'/') && !matches!(bytes.next(), Some(b'/' | b'\\'))
}

/// Its errors do not hold the URL, which may hold the token.
fn parsed(text: &str) -> Result<Url, Error> {
    Url::parse(text).map_err(|error| Error::Configuration(error.into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ORIGINS: [&str; 7] = [
        "http://127.0.0.1:8080",
        "https://api.example.com",
        "https://API.example.com:443",
        "https://User@api.example.com",
        "https://user@api.example.com",
        "http://api.example.com",
        "http://[::1]:80",
    ];

    proptest! {
        #[test]
        fn a_target_at_the_known_origin_is_the_url_that_it_is_as_a_whole(
            targets in prop::collection::vec((0..ORIGINS.len(), r"(/[a-c./\\%2e'|~;:@!?-]{0,9})?"), 1..8),
        ) {
            let urls = Urls::default();
            for (origin, path) in targets {
                let whole = format!("{}{path}", ORIGINS[origin]);
                let Ok(target) = whole.parse::<Uri>() else { continue };
                let expected = Url::parse(&whole).map(String::from).ok();
                prop_assert_eq!(urls.of(&target).map(String::from).ok(), expected, "{}", whole);
            }
        }
    }
}
