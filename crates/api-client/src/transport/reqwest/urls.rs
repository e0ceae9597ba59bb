//! A request's target as the URL standard has it.

use std::sync::OnceLock;

use http::uri::{Authority, Scheme, Uri};
use reqwest::Url;

use crate::error::Error;
use crate::transport::check_target;

/// Makes URLs of targets. The first origin is kept as one: most transports have one upstream, and a host costs more to
/// parse than all the rest.
#[derive(Default)]
pub(super) struct Urls(OnceLock<Origin>);

struct Origin {
    scheme: Scheme,
    authority: Authority,
    url: Url,
}

impl Urls {
    /// The URL that the target is as a whole.
    pub(super) fn of(&self, target: &Uri) -> Result<Url, Error> {
        if let Some(origin) = self.0.get().filter(|origin| origin.is_of(target)) {
            return Ok(with_path(origin.url.clone(), target));
        }
        let (scheme, authority) = check_target(target)?;
        // Its errors do not hold the URL, which may hold the token.
        let url = Url::parse(&format!("{scheme}://{authority}/"));
        let url = url.map_err(|error| Error::Configuration(error.into()))?;
        let origin = || Origin { scheme: scheme.clone(), authority: authority.clone(), url: url.clone() };
        self.0.get_or_init(origin);
        Ok(with_path(url, target))
    }
}

fn with_path(mut url: Url, target: &Uri) -> Url {
    url.set_path(target.path());
    url.set_query(target.query());
    url
}

impl Origin {
    /// To the letter: what stands before an `@` minds its case.
    fn is_of(&self, target: &Uri) -> bool {
        target.scheme() == Some(&self.scheme)
            && target.authority().map(Authority::as_str) == Some(self.authority.as_str())
    }
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
            targets in prop::collection::vec((0..ORIGINS.len(), "(/[a-c./\\\\%2e'\"`{}^|~;:@!?é-]{0,9})?"), 1..8),
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
