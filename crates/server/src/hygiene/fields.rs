use http::header::{
    CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRANSFER_ENCODING, UPGRADE,
};

/// Fields that are about one connection (RFC 9110, section 7.6.1, and what older software sends).
///
/// `Trailer` is none of them: trailers pass, and hyper sends only those that are announced.
const HOP_BY_HOP: [HeaderName; 9] = [
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("proxy-authentication-info"),
    HeaderName::from_static("http2-settings"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Removes the hop-by-hop fields and those that `Connection` names.
pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|b| *b == b','))
        .filter_map(|option| HeaderName::from_bytes(option.trim_ascii()).ok())
        // A length that is gone would turn the framing of a HEAD's answer, or of a body, into something else.
        .filter(|name| *name != CONTENT_LENGTH)
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP).chain([&CONNECTION]) {
        headers.remove(name);
    }
}

/// Removes every field whose name `unwanted` says yes to.
pub(super) fn remove_where(headers: &mut HeaderMap, unwanted: impl Fn(&str) -> bool) {
    let gone: Vec<HeaderName> = headers.keys().filter(|name| unwanted(name.as_str())).cloned().collect();
    for name in gone {
        headers.remove(name);
    }
}

#[cfg(test)]
pub(super) fn map(fields: &[(&'static str, &'static str)]) -> HeaderMap {
    use http::HeaderValue;
    fields.iter().map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v))).collect()
}

#[cfg(test)]
pub(super) fn names(headers: &HeaderMap) -> Vec<&str> {
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_one_connection_is_removed() {
        let mut headers = map(&[
            ("connection", "close, X-Hop"),
            ("connection", "x-other ,, bad name,content-length"),
            ("x-hop", "1"),
            ("x-other", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authenticate", "Basic"),
            ("proxy-authorization", "Basic x"),
            ("te", "gzip"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("http2-settings", "AAMAAABk"),
            ("trailer", "x-sum"),
            ("content-length", "3"),
            ("x-end", "1"),
        ]);
        remove_hop_by_hop(&mut headers);
        assert_eq!(names(&headers), ["content-length", "trailer", "x-end"]);
    }
}
