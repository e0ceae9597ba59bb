use http::{HeaderName, HeaderValue};

use super::*;

type Fields<'a> = &'a [(&'static str, &'static str)];

fn headers(fields: Fields<'_>) -> HeaderMap {
    fields
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

fn judge(
    classifier: &StandardClassifier,
    status: u16,
    fields: Fields<'_>,
    body: Option<&[u8]>,
    pooled: Pooled,
) -> Verdict {
    let status = StatusCode::from_u16(status).expect("a status");
    let headers = headers(fields);
    classifier.classify(&Answer { body, pooled, ..Answer::new(status, &headers) })
}

#[test]
fn the_table_of_statuses() {
    let upstream = [408, 425, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529, 530];
    for status in 100..=999 {
        let (pooled, alone) = match status {
            100..=399 => (Fault::None, Fault::None),
            429 => (Fault::TokenLimited, Fault::Upstream),
            401 | 402 => (Fault::TokenRejected, Fault::Request),
            403 => (Fault::Forbidden, Fault::Request),
            _ if upstream.contains(&status) => (Fault::Upstream, Fault::Upstream),
            _ => (Fault::Request, Fault::Request),
        };
        let classifier = StandardClassifier::default();
        assert_eq!(judge(&classifier, status, &[], None, Pooled::Yes).fault, pooled, "{status} with a token");
        assert_eq!(judge(&classifier, status, &[], None, Pooled::No).fault, alone, "{status} without");
    }
}

#[test]
fn a_403_that_tells_a_limit_is_the_tokens() {
    let rows: &[(Fields<'_>, Fault)] = &[
        (&[("retry-after", "50")], Fault::TokenLimited),
        (&[("retry-after", "0")], Fault::TokenLimited),
        (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "50")], Fault::TokenLimited),
        (&[("x-ratelimit-remaining", "0")], Fault::TokenLimited),
        (&[("ratelimit", r#""p";r=0;t=5"#)], Fault::TokenLimited),
        (&[("x-ratelimit-remaining", "7"), ("x-ratelimit-reset", "50")], Fault::Forbidden),
        (&[("x-ratelimit-reset", "50")], Fault::Forbidden),
        (&[("retry-after", "soon")], Fault::Forbidden),
    ];
    for (fields, fault) in rows {
        assert_eq!(
            judge(&StandardClassifier::default(), 403, fields, None, Pooled::Yes).fault,
            *fault,
            "{fields:?}"
        );
        assert_eq!(
            judge(&StandardClassifier::default(), 403, fields, None, Pooled::No).fault,
            Fault::Request,
            "{fields:?}"
        );
    }
}

#[test]
fn delays_go_where_they_are_of_use() {
    let empty: Fields<'_> = &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "60")];
    let minute = Some(Duration::from_secs(60));
    let rows = [
        // A good answer with an empty quota rests its token, and says nothing else.
        (200, Pooled::Yes, None),
        (429, Pooled::Yes, minute),
        // Another token may do at once what this one could not in a minute.
        (503, Pooled::Yes, None),
        (503, Pooled::No, minute),
        (429, Pooled::No, minute),
        (404, Pooled::No, None),
    ];
    for (status, pooled, told) in rows {
        let verdict = judge(&StandardClassifier::default(), status, empty, None, pooled);
        assert_eq!((verdict.told, verdict.quota), (told, minute), "{status} {pooled:?}");
    }
}

fn rule(status: &[u16], verdict: RuleVerdict) -> Rule {
    Rule { status: status.to_vec(), header: None, header_missing: None, body_contains: None, verdict }
}

#[test]
fn the_first_rule_that_matches_wins() {
    let json = ("content-type", "application/json; charset=utf-8");
    let session = HeaderName::from_static("x-userid");
    let classifier = StandardClassifier::new(vec![
        Rule { body_contains: Some("rate limit".into()), ..rule(&[200], RuleVerdict::TokenLimited) },
        Rule {
            header: Some((session.clone(), Some("none".into()))),
            ..rule(&[200, 203], RuleVerdict::Success)
        },
        Rule { header_missing: Some(session.clone()), ..rule(&[200], RuleVerdict::TokenRejected) },
        rule(&[400], RuleVerdict::TokenLimited),
        rule(&[400], RuleVerdict::Upstream),
        Rule { header: Some((session, None)), ..rule(&[], RuleVerdict::Request) },
    ]);
    type Row<'a> = (u16, Fields<'a>, Option<&'a [u8]>, Fault, Fault);
    let rows: &[Row<'_>] = &[
        (
            200,
            &[json],
            Some(br#"{"error":true,"message":"rate limit"}"#),
            Fault::TokenLimited,
            Fault::Upstream,
        ),
        (200, &[json], Some(b"{}"), Fault::TokenRejected, Fault::Request),
        (200, &[json], None, Fault::TokenRejected, Fault::Request),
        (200, &[json, ("x-userid", " NONE ")], Some(b"{}"), Fault::None, Fault::None),
        (200, &[json, ("x-userid", "7")], Some(b"{}"), Fault::Request, Fault::Request),
        (400, &[], None, Fault::TokenLimited, Fault::Upstream),
        (503, &[("x-userid", "7")], None, Fault::Request, Fault::Request),
        (503, &[], None, Fault::Upstream, Fault::Upstream),
        (201, &[], None, Fault::None, Fault::None),
    ];
    for (status, fields, body, pooled, alone) in rows {
        let row = format!("{status} {fields:?} {body:?}");
        assert_eq!(
            judge(&classifier, *status, fields, *body, Pooled::Yes).fault,
            *pooled,
            "{row} with a token"
        );
        assert_eq!(judge(&classifier, *status, fields, *body, Pooled::No).fault, *alone, "{row} without");
    }
}

#[test]
fn a_refusal_that_a_rule_finds_has_its_told_delay() {
    let classifier = StandardClassifier::new(vec![rule(&[200], RuleVerdict::TokenLimited)]);
    for (fields, told) in [
        (&[("retry-after", "9")][..], 9),
        (&[("x-ratelimit-reset", "60")][..], 60),
        (&[("retry-after", "9"), ("x-ratelimit-reset", "60")][..], 9),
    ] {
        let verdict = judge(&classifier, 200, fields, None, Pooled::Yes);
        assert_eq!(verdict.told, Some(Duration::from_secs(told)), "{fields:?}");
    }
}

#[test]
fn a_body_is_read_only_where_a_rule_hangs_on_it() {
    let classifier = StandardClassifier::new(vec![
        rule(&[400], RuleVerdict::Request),
        Rule { body_contains: Some("limit".into()), ..rule(&[200, 400], RuleVerdict::TokenLimited) },
    ]);
    let rows: &[(u16, Fields<'_>, bool)] = &[
        (200, &[("content-type", "application/json")], true),
        (200, &[("content-type", "Application/Problem+JSON;charset=utf-8")], true),
        (200, &[], true),
        (200, &[("content-encoding", "identity")], true),
        (200, &[("content-type", "image/png")], false),
        (200, &[("content-type", "application/json"), ("content-encoding", "gzip")], false),
        (400, &[("content-type", "application/json")], false),
        (500, &[("content-type", "application/json")], false),
    ];
    for (status, fields, needed) in rows {
        let status = StatusCode::from_u16(*status).expect("a status");
        assert_eq!(classifier.needs_body(status, &headers(fields)), *needed, "{status} {fields:?}");
    }
    assert!(classifier.reads_bodies());
    assert!(!StandardClassifier::default().reads_bodies());
}

#[test]
fn presets_know_what_one_api_alone_says() {
    const SECONDARY: &[u8] = br#"{"message":"You have exceeded a secondary rate limit."}"#;
    const NO_CREDIT: &[u8] = br#"{"error":{"code":"insufficient_quota"}}"#;
    let (github, openai) = (StandardClassifier::github(), StandardClassifier::openai());
    let minute = Some(Duration::from_secs(60));
    let reset: Fields<'_> = &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "300")];
    type Row<'a> = (&'a StandardClassifier, u16, Fields<'a>, &'a [u8], Fault, Option<Duration>);
    let rows: &[Row<'_>] = &[
        (&github, 403, &[], SECONDARY, Fault::TokenLimited, minute),
        (&github, 429, &[], SECONDARY, Fault::TokenLimited, minute),
        (&github, 403, &[("retry-after", "9")], SECONDARY, Fault::TokenLimited, Some(Duration::from_secs(9))),
        (&github, 403, reset, SECONDARY, Fault::TokenLimited, Some(Duration::from_secs(300))),
        (&github, 403, &[], b"{\"message\":\"Not yours\"}", Fault::Forbidden, None),
        (&github, 404, &[], SECONDARY, Fault::Request, None),
        (&openai, 429, &[("retry-after", "20")], b"{}", Fault::TokenLimited, Some(Duration::from_secs(20))),
        (&openai, 429, &[], NO_CREDIT, Fault::TokenRejected, None),
    ];
    for (classifier, status, fields, body, fault, told) in rows {
        let verdict = judge(classifier, *status, fields, Some(*body), Pooled::Yes);
        assert_eq!((verdict.fault, verdict.told), (*fault, *told), "{status} {fields:?}");
        assert!(classifier.reads_bodies());
    }
    let json: Fields<'_> = &[("content-type", "application/json")];
    for (status, github_looks, openai_looks) in [(200, false, false), (403, true, false), (429, true, true)] {
        let code = StatusCode::from_u16(status).expect("a status");
        assert_eq!(github.needs_body(code, &headers(json)), github_looks, "{status}");
        assert_eq!(openai.needs_body(code, &headers(json)), openai_looks, "{status}");
        assert!(!StandardClassifier::pixiv().needs_body(code, &headers(json)));
    }
}

#[test]
fn openais_two_quotas_are_read_with_their_own_resets() {
    let rows: &[(Fields<'_>, Option<Duration>)] = &[
        (
            &[
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", "120ms"),
                ("x-ratelimit-remaining-tokens", "149984"),
                ("x-ratelimit-reset-tokens", "6m0s"),
            ],
            Some(Duration::from_millis(120)),
        ),
        (
            &[
                ("x-ratelimit-remaining-requests", "59"),
                ("x-ratelimit-reset-requests", "1s"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "6m0s"),
            ],
            Some(Duration::from_secs(360)),
        ),
    ];
    for (fields, told) in rows {
        let verdict = judge(&StandardClassifier::openai(), 429, fields, Some(b"{}"), Pooled::Yes);
        assert_eq!(
            (verdict.fault, verdict.told, verdict.quota),
            (Fault::TokenLimited, *told, *told),
            "{fields:?}"
        );
    }
}

#[test]
fn rules_go_before_a_presets_customs() {
    let rules = vec![Rule { body_contains: Some("limit".into()), ..rule(&[403], RuleVerdict::Request) }];
    let classifier = StandardClassifier::github().with_rules(rules);
    let verdict = judge(&classifier, 403, &[], Some(b"secondary rate limit"), Pooled::Yes);
    assert_eq!(verdict.fault, Fault::Request);
}
