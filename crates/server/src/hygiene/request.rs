use http::header::{
    AUTHORIZATION, COOKIE, EXPECT, FORWARDED, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, REFERER, TE,
    VIA,
};

use super::fields::{remove_hop_by_hop, remove_where};

/// What becomes of the client's cookies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClientCookies {
    /// They stay here.
    #[default]
    Drop,
    /// The client's own session goes along, with all of its cookies.
    Pass,
}

/// What becomes of the client's `Authorization`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClientAuthorization {
    /// It is a client key, or its place is the pool's.
    #[default]
    Drop,
    Pass,
}

/// What one route lets through to its upstream.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestHygiene {
    pub(crate) cookies: ClientCookies,
    pub(crate) authorization: ClientAuthorization,
    /// Whether `X-Api-Key` is a client key of the gateway.
    pub(crate) client_keys: bool,
    /// Set in place of the client's; they come last, so they may name what is dropped.
    pub(crate) set: HeaderMap,
}

/// Who the client is, and where it came from: nothing an upstream needs, and what it could hold against a pool.
const ABOUT_THE_CLIENT: [HeaderName; 9] = [
    FORWARDED,
    VIA,
    ORIGIN,
    REFERER,
    HeaderName::from_static("x-real-ip"),
    HeaderName::from_static("x-client-ip"),
    HeaderName::from_static("x-cluster-client-ip"),
    HeaderName::from_static("true-client-ip"),
    HeaderName::from_static("cf-connecting-ip"),
];

/// Makes the fields of a client's request those of ours. The Host field is dropped: the upstream's is the URI's.
pub(crate) fn clean_request(headers: &mut HeaderMap, hygiene: &RequestHygiene) {
    remove_hop_by_hop(headers);
    // hyper has answered an expected 100-continue by itself; the upstream's would come too late.
    for name in ABOUT_THE_CLIENT.iter().chain([&HOST, &EXPECT]) {
        headers.remove(name);
    }
    remove_where(headers, |name| name.starts_with("x-forwarded-") || name.starts_with("tidegate-"));
    if hygiene.cookies == ClientCookies::Drop {
        headers.remove(COOKIE);
    }
    if hygiene.authorization == ClientAuthorization::Drop {
        headers.remove(AUTHORIZATION);
    }
    if hygiene.client_keys {
        headers.remove("x-api-key");
    }
    headers.insert(TE, HeaderValue::from_static("trailers"));
    for name in hygiene.set.keys() {
        headers.remove(name);
        for value in hygiene.set.get_all(name) {
            headers.append(name, value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{map, names};
    use super::*;

    fn sent() -> HeaderMap {
        map(&[
            ("host", "gateway"),
            ("connection", "close, x-secret-hop"),
            ("x-secret-hop", "1"),
            ("te", "gzip"),
            ("expect", "100-continue"),
            ("cookie", "PHPSESSID=mine; a=b"),
            ("authorization", "Bearer client"),
            ("x-api-key", "client"),
            ("forwarded", "for=192.0.2.1"),
            ("x-forwarded-for", "192.0.2.1"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-anything", "1"),
            ("x-real-ip", "192.0.2.1"),
            ("cf-connecting-ip", "192.0.2.1"),
            ("via", "1.1 cache"),
            ("origin", "http://o"),
            ("referer", "http://r"),
            ("tidegate-attempts", "9"),
            ("user-agent", "curl"),
            ("x-keep", "1"),
            ("accept-encoding", "gzip"),
            ("content-length", "3"),
        ])
    }

    #[test]
    fn what_names_the_client_stays_here() {
        let always = ["accept-encoding", "content-length", "te", "user-agent", "x-keep"];
        for (cookies, authorization, client_keys, more) in [
            (ClientCookies::Drop, ClientAuthorization::Drop, false, vec!["x-api-key"]),
            (ClientCookies::Drop, ClientAuthorization::Drop, true, vec![]),
            (ClientCookies::Pass, ClientAuthorization::Drop, true, vec!["cookie"]),
            (
                ClientCookies::Pass,
                ClientAuthorization::Pass,
                false,
                vec!["authorization", "cookie", "x-api-key"],
            ),
            // Its key came as X-Api-Key.
            (ClientCookies::Drop, ClientAuthorization::Pass, true, vec!["authorization"]),
        ] {
            let mut headers = sent();
            let hygiene = RequestHygiene { cookies, authorization, client_keys, set: HeaderMap::new() };
            clean_request(&mut headers, &hygiene);
            let mut want: Vec<_> = always.into_iter().chain(more).collect();
            want.sort_unstable();
            assert_eq!(names(&headers), want, "{hygiene:?}");
            assert_eq!(headers["te"], "trailers");
        }
    }

    #[test]
    fn a_routes_fields_take_the_clients_place() {
        let mut headers = sent();
        headers.append("x-keep", HeaderValue::from_static("2"));
        let set =
            map(&[("referer", "https://www.pixiv.net/"), ("user-agent", "Mozilla"), ("x-keep", "ours")]);
        clean_request(&mut headers, &RequestHygiene { set, ..RequestHygiene::default() });
        assert_eq!(headers["referer"], "https://www.pixiv.net/");
        assert_eq!(headers["user-agent"], "Mozilla");
        assert_eq!(headers.get_all("x-keep").iter().collect::<Vec<_>>(), ["ours"]);
    }
}
