use http::Request;
use proptest::prelude::*;
use tidegate_token_manager::TokenId;

use super::*;

fn parts(uri: &str, fields: &[(&'static str, &str)]) -> Parts {
    let mut request = Request::get(uri);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.body(()).expect("a request").into_parts().0
}

fn cookie(parts: &Parts) -> Option<&str> {
    parts.headers.get(COOKIE).map(|value| value.to_str().expect("text"))
}

#[test]
fn a_cookie_takes_the_place_of_all_cookies() {
    let mut parts = parts("/p", &[("cookie", "theme=dark; PHPSESSID=own"), ("cookie", "a=b")]);
    Credential::Cookie("PHPSESSID".into()).sign(&mut parts, &Token::new("12_ab")).expect("signed");
    assert_eq!(cookie(&parts), Some("PHPSESSID=12_ab"));
    assert_eq!(parts.headers.get_all(COOKIE).iter().count(), 1);
    assert!(parts.headers[COOKIE].is_sensitive());
    let extra = [("yuid_b", "ABC".to_owned()), ("p_ab_id", "7".to_owned())];
    Credential::Cookie("PHPSESSID".into())
        .sign_with(&mut parts, &Token::new("12_ab"), &extra)
        .expect("signed");
    assert_eq!(cookie(&parts), Some("PHPSESSID=12_ab; yuid_b=ABC; p_ab_id=7"));
}

#[test]
fn a_header_takes_the_place_of_its_like() {
    let mut parts =
        parts("/p", &[("authorization", "Bearer own"), ("x-api-key", "own"), ("x-api-key", "two")]);
    Credential::Bearer.sign(&mut parts, &Token::new("tok")).expect("signed");
    Credential::Header(HeaderName::from_static("x-api-key"))
        .sign(&mut parts, &Token::new("key"))
        .expect("signed");
    assert_eq!(parts.headers[AUTHORIZATION], "Bearer tok");
    assert_eq!(parts.headers.get_all("x-api-key").iter().collect::<Vec<_>>(), ["key"]);
    assert!(parts.headers[AUTHORIZATION].is_sensitive() && parts.headers["x-api-key"].is_sensitive());
    assert!(!format!("{:?}", parts.headers).contains("tok"));
}

#[test]
fn a_query_parameter_is_put_last_and_the_rest_stays_byte_for_byte() {
    let rows = [
        ("/p?q=1", "/p?q=1&key=tokA"),
        ("/p", "/p?key=tokA"),
        ("/p?", "/p?key=tokA"),
        ("/p?key=own", "/p?key=tokA"),
        ("/p?key", "/p?key=tokA"),
        ("/p?key=a&q=%41%20+&key=b&=&&x", "/p?q=%41%20+&=&&x&key=tokA"),
        ("/p?k%65y=own&q=1", "/p?q=1&key=tokA"),
        ("/p?keys=1&KEY=2", "/p?keys=1&KEY=2&key=tokA"),
        ("/a//b/%2e?%zz=1&'=|", "/a//b/%2e?%zz=1&'=|&key=tokA"),
        ("https://api.example:8443/p?q=1", "https://api.example:8443/p?q=1&key=tokA"),
        ("https://api.example", "https://api.example/?key=tokA"),
    ];
    for (before, after) in rows {
        let mut parts = parts(before, &[]);
        Credential::Query("key".into()).sign(&mut parts, &Token::new("tokA")).expect("signed");
        assert_eq!(parts.uri.to_string(), after, "{before}");
    }
    let mut parts = parts("/p", &[]);
    Credential::Query("a key".into()).sign(&mut parts, &Token::new("a&b=c #é+%")).expect("signed");
    assert_eq!(parts.uri.to_string(), "/p?a%20key=a%26b%3Dc%20%23%C3%A9%2B%25");
}

#[test]
fn what_cannot_stand_in_a_request_is_an_error_that_does_not_hold_the_token() {
    let long = "a".repeat(70_000);
    for (credential, token) in [
        (Credential::Bearer, "line\nbreak"),
        (Credential::Cookie("c".into()), "line\nbreak"),
        (Credential::Header(HeaderName::from_static("x-key")), "line\nbreak"),
        (Credential::Query("key".into()), long.as_str()),
    ] {
        let error = credential.sign(&mut parts("/p", &[]), &Token::new(token)).expect_err("refused");
        let text = format!("{error} {error:?} {}", std::error::Error::source(&error).expect("a cause"));
        assert!(
            matches!(error, Error::Configuration(_)) && !text.contains("line") && !text.contains("aaa"),
            "{text}"
        );
    }
}

#[test]
fn a_requests_own_credential_is_found_and_taken_out() {
    let key = HeaderName::from_static("x-api-key");
    type Row<'a> =
        (Credential, &'a str, &'a [(&'static str, &'a str)], bool, &'a str, &'a [(&'static str, &'a str)]);
    let session = || Credential::Cookie("PHPSESSID".into());
    let rows: &[Row<'_>] = &[
        (session(), "/", &[("cookie", "PHPSESSID=own")], true, "/", &[]),
        (session(), "/", &[("cookie", "a=b;PHPSESSID=own;c=d")], true, "/", &[("cookie", "a=b; c=d")]),
        (session(), "/", &[("cookie", "a=b"), ("cookie", "PHPSESSID=own")], true, "/", &[("cookie", "a=b")]),
        // What was cleared is no credential.
        (session(), "/", &[("cookie", "a=b; PHPSESSID=")], false, "/", &[("cookie", "a=b")]),
        (session(), "/", &[("cookie", "PHPSESSID; a=b")], false, "/", &[("cookie", "a=b")]),
        (Credential::Bearer, "/", &[("authorization", " ")], false, "/", &[]),
        (
            session(),
            "/",
            &[("cookie", "XPHPSESSID=1; a=PHPSESSID=1")],
            false,
            "/",
            &[("cookie", "XPHPSESSID=1; a=PHPSESSID=1")],
        ),
        (session(), "/?PHPSESSID=own", &[], false, "/?PHPSESSID=own", &[]),
        (Credential::Bearer, "/", &[("authorization", "Bearer own")], true, "/", &[]),
        (Credential::Header(key.clone()), "/", &[("x-api-key", "own"), ("a", "b")], true, "/", &[("a", "b")]),
        (Credential::Header(key), "/", &[("authorization", "own")], false, "/", &[("authorization", "own")]),
        (Credential::Query("key".into()), "/p?a=%61&key=own&b", &[], true, "/p?a=%61&b", &[]),
        (Credential::Query("key".into()), "/p?key=own", &[], true, "/p", &[]),
        (Credential::Query("key".into()), "/p?monkey=own", &[], false, "/p?monkey=own", &[]),
    ];
    for (credential, uri, fields, carried, left, fields_left) in rows {
        let mut parts = parts(uri, fields);
        let row = format!("{credential:?} {uri} {fields:?}");
        assert_eq!(credential.carries(&parts), *carried, "{row}");
        credential.strip(&mut parts);
        assert!(!credential.carries(&parts), "{row}");
        assert_eq!(parts.uri.to_string(), *left, "{row}");
        let headers: Vec<(&str, &str)> = parts
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().expect("text")))
            .collect();
        assert_eq!(headers, *fields_left, "{row}");
    }
}

#[test]
fn a_tokens_extra_cookies_stay_the_same_and_differ_from_anothers() {
    let extra = ExtraCookies::random();
    let (one, two) = (TokenId::from_bytes([1; 8]), TokenId::from_bytes([2; 8]));
    assert_eq!(extra.of(one), extra.of(one));
    assert_ne!(extra.of(one), extra.of(two));
    assert_ne!(ExtraCookies::from_seed(1).of(one), ExtraCookies::from_seed(2).of(one));
    let [(_, yuid), (_, id), (_, id_2), (_, d_id)] = extra.of(one);
    assert!(
        yuid.len() == 7 && yuid.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()),
        "{yuid}"
    );
    for (digits, most) in [(id, 1), (id_2, 1), (d_id, 10)] {
        assert!(
            (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()),
            "{digits}"
        );
    }
}

proptest! {
    #[test]
    fn any_query_keeps_its_other_parameters(query in "[a-z%&=+;0-9']{0,30}", token in "\\PC{1,20}") {
        let mut parts = parts(&format!("/p?{query}"), &[]);
        let credential = Credential::Query("k".into());
        credential.strip(&mut parts);
        let rest = parts.uri.query().unwrap_or_default().to_owned();
        credential.sign(&mut parts, &Token::new(token)).expect("signed");
        let signed = parts.uri.query().expect("a query");
        prop_assert!(signed.starts_with(&rest));
        prop_assert_eq!(signed.split('&').filter(|pair| pair.starts_with("k=")).count(), 1);
    }
}
