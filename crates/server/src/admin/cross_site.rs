use http::HeaderMap;
use http::header::{HOST, ORIGIN};

/// Whether a browser says that a page of another site made it send this request.
///
/// Programs send neither field and pass. `Sec-Fetch-Site` is sent by every current browser and is the surer of the
/// two; an older one sends `Origin` with every POST.
pub(super) fn is_cross_site(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return !matches!(site.as_bytes(), b"same-origin" | b"none");
    }
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let authority = origin.to_str().ok().and_then(|origin| Some(origin.split_once("://")?.1));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    match (authority, host) {
        (Some(authority), Some(host)) => !authority.eq_ignore_ascii_case(host),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_says_where_a_request_comes_from() {
        for (fields, cross_site) in [
            (&[][..], false),
            (&[("origin", "http://127.0.0.1:8283")], false),
            (&[("origin", "http://127.0.0.1:9999")], true),
            (&[("origin", "http://evil.example")], true),
            (&[("origin", "null")], true),
            (&[("sec-fetch-site", "same-origin")], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "same-site")], true),
            (&[("sec-fetch-site", "cross-site")], true),
            (&[("sec-fetch-site", "same-origin"), ("origin", "null")], false),
            (&[("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:8283")], true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, "127.0.0.1:8283".parse().unwrap());
            for (name, value) in fields {
                headers.insert(*name, value.parse().unwrap());
            }
            assert_eq!(is_cross_site(&headers), cross_site, "{fields:?}");
        }
    }
}
