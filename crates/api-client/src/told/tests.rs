use http::HeaderValue;
use proptest::prelude::*;

use super::*;
use crate::quota_empty;

type Fields<'a> = &'a [(&'static str, &'a str)];

/// Sun, 06 Nov 1994 08:49:37 GMT
const THEN: u64 = 784_111_777;

fn at(secs: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(secs)
}

fn headers(fields: Fields<'_>) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).expect("a header value"))
    };
    fields.iter().map(pair).collect()
}

fn secs(secs: f64) -> Option<Duration> {
    Some(Duration::from_secs_f64(secs))
}

fn told(status: u16, fields: Fields<'_>) -> Option<Duration> {
    told_delay(StatusCode::from_u16(status).expect("a status"), &headers(fields), at(THEN))
}

#[test]
fn retry_after_is_read_in_each_of_its_forms() {
    let rows: &[(&str, Option<Duration>)] = &[
        ("0", secs(0.0)),
        ("120", secs(120.0)),
        ("  7 \t", secs(7.0)),
        ("007", secs(7.0)),
        ("1.5", secs(1.5)),
        ("0.0000000019", Some(Duration::from_nanos(1))),
        ("604800", secs(604_800.0)),
        // The three forms of a date, half a minute from `Date`.
        ("Sun, 06 Nov 1994 08:50:07 GMT", secs(30.0)),
        ("Sunday, 06-Nov-94 08:50:07 GMT", secs(30.0)),
        ("Sun Nov  6 08:50:07 1994", secs(30.0)),
        ("Sun, 06 Nov 1994 08:00:00 GMT", secs(0.0)),
        // Numbers that can only be an epoch second, or millisecond.
        ("1700000000", Some(Duration::from_secs(1_700_000_000 - THEN))),
        ("1700000000.25", Some(Duration::from_millis((1_700_000_000 - THEN) * 1000 + 250))),
        ("1700000000000", Some(Duration::from_secs(1_700_000_000 - THEN))),
        ("1000000000", Some(Duration::from_secs(1_000_000_000 - THEN))),
        ("999999999", Some(Duration::from_secs(999_999_999))),
        // What is none of these says nothing.
        ("", None),
        ("   ", None),
        ("-5", None),
        ("+5", None),
        ("1e9", None),
        ("0x10", None),
        ("5s", None),
        (".5", None),
        ("5.", None),
        ("1.2.3", None),
        ("NaN", None),
        ("inf", None),
        ("soon", None),
        ("Sun, 32 Nov 1994 08:50:07 GMT", None),
        ("Sun, 06 Nov 1994 08:50:07 CET", None),
        ("18446744073709551615", None),
        ("18446744073709551616", None),
        ("99999999999999999999999999999999999999999999999999", None),
        ("253402300800", None),
        // Lines that a proxy has joined: the longest.
        ("5, 9, 7", secs(9.0)),
        ("5, soon", secs(5.0)),
    ];
    for (value, expected) in rows {
        assert_eq!(told(503, &[("retry-after", value)]), *expected, "Retry-After: {value}");
    }
}

#[test]
fn retry_after_counts_on_every_status_from_300() {
    for status in [300, 301, 400, 403, 404, 413, 429, 500, 503, 599] {
        assert_eq!(told(status, &[("retry-after", "5")]), secs(5.0), "{status}");
    }
    for status in [100, 200, 202, 299] {
        assert_eq!(told(status, &[("retry-after", "5")]), None, "{status}");
    }
}

#[test]
fn dates_and_epochs_are_read_against_the_responses_own_date() {
    let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    let rows: &[(&str, Option<Duration>)] = &[
        ("Sun, 06 Nov 1994 08:50:07 GMT", secs(30.0)),
        ("1000000000", Some(Duration::from_secs(1_000_000_000 - THEN))),
    ];
    for (value, expected) in rows {
        for now in [0, THEN, 4_000_000_000] {
            let headers = headers(&[date, ("retry-after", value)]);
            assert_eq!(
                told_delay(StatusCode::SERVICE_UNAVAILABLE, &headers, at(now)),
                *expected,
                "{value} at {now}"
            );
        }
    }
    let broken = headers(&[("date", "yesterday"), ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]);
    assert_eq!(
        told_delay(StatusCode::SERVICE_UNAVAILABLE, &broken, at(THEN)),
        secs(30.0),
        "a Date that is none"
    );
}

#[test]
fn several_fields_give_the_longest() {
    let rows: &[(Fields<'_>, Option<Duration>)] = &[
        (&[("retry-after", "5"), ("retry-after", "9"), ("retry-after", "soon")], secs(9.0)),
        (&[("retry-after-ms", "1500")], secs(1.5)),
        (&[("retry-after-ms", "0.5")], Some(Duration::from_micros(500))),
        (&[("retry-after-ms", "-1")], None),
        // Seconds that are the milliseconds rounded up give way to them.
        (&[("retry-after", "1"), ("retry-after-ms", "350")], secs(0.35)),
        (&[("retry-after", "30"), ("retry-after-ms", "350")], secs(30.0)),
        (&[("retry-after", "soon"), ("retry-after-ms", "350")], secs(0.35)),
    ];
    for (fields, expected) in rows {
        assert_eq!(told(503, fields), *expected, "{fields:?}");
    }
}

#[test]
fn a_reset_is_a_told_delay_only_where_it_is_the_reason_of_a_refusal() {
    let rows: &[(u16, Fields<'_>, Option<Duration>)] = &[
        (429, &[("x-ratelimit-reset", "60")], secs(60.0)),
        (429, &[("x-ratelimit-reset", "784111877")], Some(Duration::from_secs(784_111_877))),
        (429, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "60")], secs(60.0)),
        (429, &[("ratelimit", r#""p";r=0;t=100"#)], secs(100.0)),
        // A quota that is not used up is not the reason.
        (429, &[("x-ratelimit-remaining", "4711"), ("x-ratelimit-reset", "60")], None),
        (429, &[("ratelimit", r#""burst";r=0;t=2, "day";r=40;t=3600"#)], secs(2.0)),
        // Retry-After is the upstream's last word on this request.
        (429, &[("retry-after", "5"), ("x-ratelimit-reset", "60")], secs(5.0)),
        // A failure that names a moment says when to return; one whose quota is not used up does not.
        (503, &[("x-ratelimit-reset", "60")], secs(60.0)),
        (500, &[("retry-after", "5"), ("x-ratelimit-reset", "60")], secs(5.0)),
        (502, &[("x-ratelimit-remaining", "4711"), ("x-ratelimit-reset", "60")], None),
        (200, &[("x-ratelimit-reset", "60")], None),
        (404, &[("x-ratelimit-reset", "60")], None),
    ];
    for (status, fields, expected) in rows {
        assert_eq!(told(*status, fields), *expected, "{status} {fields:?}");
    }
}

#[test]
fn an_empty_quota_is_found_in_each_family_of_fields() {
    let epoch = (THEN + 1_000_000_000).to_string();
    let rows: &[(Fields<'_>, Option<Duration>)] = &[
        (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &epoch)], secs(1e9)),
        (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "60")], secs(60.0)),
        (&[("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "60")], secs(60.0)),
        (&[("ratelimit-remaining", "0"), ("ratelimit-reset", "60")], secs(60.0)),
        (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset-after", "64.5")], secs(64.5)),
        (&[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "6m0s")], secs(360.0)),
        (&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "20ms")], secs(0.02)),
        (&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1h2m3.5s")], secs(3723.5)),
        (&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1d")], secs(86400.0)),
        (
            &[
                ("anthropic-ratelimit-requests-remaining", "0"),
                ("anthropic-ratelimit-requests-reset", "1994-11-06T08:50:07Z"),
            ],
            secs(30.0),
        ),
        (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1994-11-06T09:50:07.5+01:00")], secs(30.0)),
        (
            &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "Sun, 06 Nov 1994 08:50:07 GMT")],
            secs(30.0),
        ),
        // Only a reset of the same quota counts.
        (
            &[
                ("x-ratelimit-remaining-requests", "10"),
                ("x-ratelimit-reset-requests", "6m0s"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "20ms"),
            ],
            secs(0.02),
        ),
        (&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-requests", "6m0s")], None),
        // Of several that are used up, the one that takes longest.
        (
            &[
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", "6m0s"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "20ms"),
            ],
            secs(360.0),
        ),
        (&[("x-ratelimit-remaining", "0, 14523"), ("x-ratelimit-reset", "1, 1419704")], secs(1.0)),
        (&[("x-ratelimit-remaining", "3, 0"), ("x-ratelimit-reset", "1, 1419704")], secs(1_419_704.0)),
        (&[("x-ratelimit-remaining", "0, 0"), ("x-ratelimit-reset", "9")], secs(9.0)),
        // The draft's field, new and old.
        (&[("ratelimit", r#""p";r=0;t=100"#)], secs(100.0)),
        (&[("ratelimit", r#"  "a;r=5,b" ; r=0 ;t=3 "#)], secs(3.0)),
        (&[("ratelimit", r#""a\"";r=0;t=3"#)], secs(3.0)),
        (&[("ratelimit", r#""burst";r=0;t=2, "day";r=0;t=3600;pk=:cHVi:"#)], secs(3600.0)),
        (&[("ratelimit", r#""burst";r=0;t=2"#), ("ratelimit", r#""day";r=0;t=60"#)], secs(60.0)),
        (&[("ratelimit", "default;r=0;t=4")], secs(4.0)),
        (&[("ratelimit", "limit=100, remaining=0, reset=50")], secs(50.0)),
        (&[("ratelimit", "limit=100,remaining=0,reset=50")], secs(50.0)),
        (&[("ratelimit", "limit=100, remaining=1, reset=50")], None),
        // Not used up, not told, already full again.
        (&[("x-ratelimit-remaining", "1"), ("x-ratelimit-reset", "60")], None),
        (&[("x-ratelimit-remaining", "-1"), ("x-ratelimit-reset", "60")], None),
        (&[("x-ratelimit-remaining", "unlimited"), ("x-ratelimit-reset", "60")], None),
        (&[("x-ratelimit-remaining", ""), ("x-ratelimit-reset", "60")], None),
        (&[("x-ratelimit-remaining", "0")], None),
        (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "soon")], None),
        (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "0")], None),
        (&[("x-ratelimit-reset", "60")], None),
        (&[("ratelimit", r#""p";r=50;t=100"#)], None),
        (&[("ratelimit", r#""p";t=100"#)], None),
        (&[("ratelimit", r#""p";r=0"#)], None),
        (&[("ratelimit-policy", r#""p";q=0;w=100"#)], None),
        (&[("x-remaining", "0"), ("x-reset", "60")], None),
    ];
    for (fields, expected) in rows {
        assert_eq!(quota_empty(&headers(fields), at(THEN)), *expected, "{fields:?}");
    }
}

fn any_value() -> impl Strategy<Value = Vec<u8>> {
    let odd = prop::sample::select(
        [
            "18446744073709551616",
            "-",
            "1e400",
            "6m",
            "99999999999999999999h",
            ".",
            "0.",
            "\"",
            "\\",
            "\";r=0;t=",
            "remaining=0",
            "reset=",
            ";",
            ",",
            "=",
            "9999-12-31T23:59:60+99:99",
            "1970-01-01T00:00:00+23:59",
            "µs",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "0000-00-00T00:00:00Z",
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec(),
    );
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let digits = "[0-9.,;:TZ=\" hms-]{0,40}".prop_map(String::into_bytes);
    prop::collection::vec(prop_oneof![odd, bytes, digits], 0..5).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_header_makes_it_panic(
        fields in prop::collection::vec((prop::sample::select(&[
            "date", "retry-after", "retry-after-ms", "ratelimit", "ratelimit-remaining", "ratelimit-reset",
            "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-reset-after", "x-ratelimit-remaining-tokens",
            "x-ratelimit-reset-tokens",
        ][..]), any_value()), 0..8),
        status in 100_u16..=999,
        now in any::<u32>(),
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(name, value);
            }
        }
        let status = StatusCode::from_u16(status).expect("a status");
        let bound = Duration::from_secs(253_402_300_800);
        for told in [told_delay(status, &headers, at(now.into())), quota_empty(&headers, at(now.into()))] {
            prop_assert!(told.is_none_or(|told| told <= bound), "{told:?} of {headers:?}");
        }
    }

    #[test]
    fn whole_seconds_are_read_as_they_stand(delay in 0_u64..1_000_000_000) {
        prop_assert_eq!(told(503, &[("retry-after", &delay.to_string())]), Some(Duration::from_secs(delay)));
    }

    #[test]
    fn dates_are_read_back_in_all_forms(delay in 0_u64..2_000_000_000) {
        let date = httpdate::fmt_http_date(at(THEN + delay));
        prop_assert_eq!(told(503, &[("retry-after", &date)]), Some(Duration::from_secs(delay)));
    }

    #[test]
    fn rfc_3339_agrees_with_http_dates(delay in 0_u64..200_000_000_000) {
        let date = at(delay);
        let http = httpdate::fmt_http_date(date);
        // "Sun, 06 Nov 1994 08:49:37 GMT"
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let month = months.iter().position(|month| *month == &http[8..11]).expect("a month") + 1;
        let text = format!("{}-{month:02}-{}T{}Z", &http[12..16], &http[5..7], &http[17..25]);
        prop_assert_eq!(moment::reset(text.as_bytes(), SystemTime::UNIX_EPOCH), Some(Duration::from_secs(delay)));
    }
}
