use http::header::{ALT_SVC, HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE, VIA};

use super::Sensitive;
use super::fields::{remove_hop_by_hop, remove_where};

/// What becomes of the upstream's cookies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SetCookie {
    /// They belong to a pooled session.
    #[default]
    Drop,
    /// They belong to the client's own session, or to none.
    Pass,
}

/// What one answer lets through to its client.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseHygiene {
    pub(crate) set_cookie: SetCookie,
    /// The token that signed the request.
    pub(crate) sensitive: Sensitive,
}

const SET_COOKIE2: HeaderName = HeaderName::from_static("set-cookie2");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OUR_VIA: &str = "1.1 tidegate";

/// Makes the fields of an upstream's answer those of ours, with `Via` added.
///
/// `map_location` returns the Location to show instead, if any. The request id is left to whoever set it: an
/// upstream's own is dropped.
pub(crate) fn clean_response(
    headers: &mut HeaderMap,
    hygiene: &ResponseHygiene,
    map_location: impl Fn(&str) -> Option<String>,
) {
    remove_hop_by_hop(headers);
    remove_private(headers, hygiene);
    headers.remove(REQUEST_ID);
    let mapped = headers.get(LOCATION).and_then(|location| map_location(location.to_str().ok()?));
    if let Some(location) = mapped.and_then(|mapped| HeaderValue::try_from(mapped).ok()) {
        headers.insert(LOCATION, location);
    }
    headers.insert(VIA, via(headers));
}

/// Removes what no client may see, in a head or in trailers.
pub(super) fn remove_private(headers: &mut HeaderMap, hygiene: &ResponseHygiene) {
    // The upstream offers to be called without us.
    headers.remove(ALT_SVC);
    if hygiene.set_cookie == SetCookie::Drop {
        headers.remove(SET_COOKIE);
        headers.remove(SET_COOKIE2);
    }
    hygiene.sensitive.remove_from(headers);
}

/// Takes away what an upstream must not say in our name. Not part of [`clean_response`], for what our own steps have
/// said stands in the same fields by then.
pub(crate) fn remove_forged(headers: &mut HeaderMap) {
    remove_where(headers, |name| name.starts_with("tidegate-"));
}

/// Ours after all that the upstream's side has added, in one field.
fn via(headers: &HeaderMap) -> HeaderValue {
    let mut said: Vec<u8> = Vec::new();
    for value in headers.get_all(VIA) {
        said.extend_from_slice(value.as_bytes());
        said.extend_from_slice(b", ");
    }
    said.extend_from_slice(OUR_VIA.as_bytes());
    HeaderValue::from_bytes(&said).unwrap_or(HeaderValue::from_static(OUR_VIA))
}

#[cfg(test)]
mod tests {
    use super::super::fields::{map, names};
    use super::*;

    #[test]
    fn an_answer_shows_neither_connection_nor_session() {
        let sent = map(&[
            ("connection", "x-hop"),
            ("x-hop", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("set-cookie", "PHPSESSID=mine2; path=/"),
            ("set-cookie", "other=1"),
            ("alt-svc", "h3=\":443\""),
            ("x-request-id", "upstream's"),
            ("x-end", "1"),
            ("content-length", "2"),
            ("date", "Tue, 01 Dec 2026 00:00:00 GMT"),
        ]);
        for (set_cookie, want) in [
            (SetCookie::Drop, vec!["content-length", "date", "via", "x-end"]),
            (SetCookie::Pass, vec!["content-length", "date", "set-cookie", "via", "x-end"]),
        ] {
            let mut headers = sent.clone();
            let hygiene = ResponseHygiene { set_cookie, ..ResponseHygiene::default() };
            clean_response(&mut headers, &hygiene, |_| None);
            assert_eq!(names(&headers), want);
            assert_eq!(headers["via"], "1.1 tidegate");
        }
    }

    #[test]
    fn via_comes_after_the_upstreams_own() {
        let mut headers = map(&[("via", "1.0 fred"), ("via", "1.1 varnish (x)")]);
        clean_response(&mut headers, &ResponseHygiene::default(), |_| None);
        let all: Vec<_> = headers.get_all("via").iter().collect();
        assert_eq!(all, ["1.0 fred, 1.1 varnish (x), 1.1 tidegate"]);
    }

    #[test]
    fn a_location_is_shown_as_it_was_mapped() {
        for (sent, want) in [("https://up/a", "/a"), ("https://other/a", "https://other/a")] {
            let mut headers = map(&[("location", sent)]);
            let map = |location: &str| location.strip_prefix("https://up").map(str::to_owned);
            clean_response(&mut headers, &ResponseHygiene::default(), map);
            assert_eq!(headers["location"], want);
        }
    }

    #[test]
    fn an_upstream_does_not_speak_in_our_name() {
        let mut headers = map(&[("tidegate-attempts", "9"), ("x", "1")]);
        remove_forged(&mut headers);
        assert_eq!(names(&headers), ["x"]);
    }
}
