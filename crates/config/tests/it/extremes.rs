//! The ends of what a setting takes: nothing at all, and as much as can be written.

use std::time::Duration;

use super::{env, faults, loaded};

#[test]
fn nought_is_a_value() {
    let set = [
        ("PIXIVFE_TOKEN", "a"),
        ("PIXIVFE_API_MAX_RETRIES", "0"),
        ("PIXIVFE_API_BASE_TIMEOUT", "0"),
        ("TIDEGATE_MAX_RETRY_AFTER", "0s"),
        ("TIDEGATE_RETRY_BUDGET", "0/0"),
        ("TIDEGATE_REPLAY_LIMIT", "0"),
        ("TIDEGATE_REPLAY_MEMORY", "0"),
        ("TIDEGATE_MAX_BODY", "0"),
        ("PIXIVFE_MAX_RETRIES", "0"),
        ("PIXIVFE_BASE_TIMEOUT", "0ms"),
        ("TIDEGATE_TOKEN_REJECT_REST", "0"),
        ("TIDEGATE_TOKEN_MAX_SWITCHES", "0"),
        ("TIDEGATE_TOKEN_MAX_WAIT", "0"),
        ("TIDEGATE_TOKEN_MAX_CONCURRENCY", "0"),
        ("TIDEGATE_ATTEMPT_TIMEOUT", "0"),
        ("TIDEGATE_CONNECT_TIMEOUT", "0"),
        ("TIDEGATE_IDLE_TIMEOUT", "0"),
        ("TIDEGATE_REQUEST_TIMEOUT", "0"),
        ("TIDEGATE_BODY_IDLE_TIMEOUT", "0"),
        ("TIDEGATE_DRAIN_DELAY", "0"),
        ("TIDEGATE_SHUTDOWN_GRACE", "0"),
    ];
    let settings = loaded(&env(&set)).settings;
    let (retry, pool) = (&settings.retry, &settings.pools[0]);
    assert_eq!(
        (retry.max_retries, retry.budget_min_per_second, retry.replay_limit, retry.replay_memory),
        (0, 0, 0, 0)
    );
    assert_eq!((pool.cool_down.max_retries, pool.max_switches, pool.max_concurrency), (0, 0, 0));
    let (server, upstream) = (&settings.server, &settings.upstream);
    assert_eq!(server.max_body, 0);
    for zero in [
        retry.schedule.base(),
        retry.max_retry_after,
        pool.cool_down.base,
        pool.cool_down.reject_rest,
        pool.max_wait,
        upstream.attempt_timeout,
        upstream.connect_timeout,
        upstream.idle_timeout,
        server.request_timeout,
        server.body_idle_timeout,
        server.drain_delay,
        server.shutdown_grace,
    ] {
        assert_eq!(zero, Duration::ZERO);
    }
    assert_eq!((retry.schedule.max(), pool.cool_down.max), (Duration::from_secs(8), Duration::from_secs(32)));
}

#[test]
fn a_duration_is_as_long_as_go_has_them() {
    const LONGEST: Duration = Duration::from_nanos(i64::MAX.unsigned_abs());
    let names = [
        "PIXIVFE_API_MAX_BACKOFF_TIME",
        "PIXIVFE_API_BASE_TIMEOUT",
        "PIXIVFE_MAX_BACKOFF_TIME",
        "PIXIVFE_BASE_TIMEOUT",
        "TIDEGATE_TOKEN_MAX_REST",
        "TIDEGATE_TOKEN_REJECT_REST",
        "TIDEGATE_TOKEN_MAX_WAIT",
        "TIDEGATE_MAX_RETRY_AFTER",
        "TIDEGATE_REQUEST_TIMEOUT",
        "TIDEGATE_ATTEMPT_TIMEOUT",
        "TIDEGATE_CONNECT_TIMEOUT",
        "TIDEGATE_IDLE_TIMEOUT",
        "TIDEGATE_BODY_IDLE_TIMEOUT",
        "TIDEGATE_DRAIN_DELAY",
        "TIDEGATE_SHUTDOWN_GRACE",
    ];
    let all = |value| {
        let set: Vec<_> = names.iter().map(|name| (*name, value)).chain([("PIXIVFE_TOKEN", "a")]).collect();
        env(&set)
    };
    for text in ["9223372036854775807ns", "2562047h47m16.854775807s"] {
        let settings = loaded(&all(text)).settings;
        let (cool_down, upstream, server) =
            (settings.pools[0].cool_down, &settings.upstream, &settings.server);
        for found in [
            settings.retry.schedule.base(),
            settings.retry.schedule.max(),
            settings.retry.max_retry_after,
            cool_down.base,
            cool_down.max,
            cool_down.max_rest,
            cool_down.reject_rest,
            settings.pools[0].max_wait,
            upstream.attempt_timeout,
            upstream.connect_timeout,
            upstream.idle_timeout,
            server.request_timeout,
            server.body_idle_timeout,
            server.drain_delay,
            server.shutdown_grace,
        ] {
            assert_eq!(found, LONGEST, "{text}");
        }
        for failures in [0, 1, 2, 64, u32::MAX] {
            assert!(cool_down.rest(failures, failures).duration <= LONGEST, "{failures}");
        }
    }
    for text in ["9223372036854775808ns", "2562048h"] {
        let told = faults(&all(text));
        assert_eq!(
            told.matches("is longer than 292 years; write a shorter one").count(),
            names.len(),
            "{told}"
        );
    }
    let negative = faults(&all("-1ns"));
    assert_eq!(negative.matches("is negative; write one from 0 up").count(), names.len(), "{negative}");
}

#[test]
fn a_number_of_repetitions_is_as_large_as_it_can_be_counted() {
    let many = u32::MAX.to_string();
    let set = [
        ("PIXIVFE_TOKEN", "a"),
        ("PIXIVFE_API_MAX_RETRIES", &many),
        ("PIXIVFE_MAX_RETRIES", "2147483647"),
        ("TIDEGATE_TOKEN_MAX_SWITCHES", &many),
        ("TIDEGATE_TOKEN_MAX_CONCURRENCY", &many),
    ];
    let settings = loaded(&env(&set)).settings;
    let pool = &settings.pools[0];
    assert_eq!([settings.retry.max_retries, pool.max_switches, pool.max_concurrency], [u32::MAX; 3]);
    assert_eq!(pool.cool_down.max_retries, u32::MAX / 2);
    let told = faults(&env(&[("PIXIVFE_TOKEN", "a"), ("PIXIVFE_API_MAX_RETRIES", "4294967296")]));
    assert!(told.contains("is too large; write a whole number from 0 to 4294967295"), "{told}");
}

#[test]
fn a_limit_takes_any_time_above_nought() {
    for (text, per) in [("1/1ns", Duration::from_nanos(1)), ("5/8760h", Duration::from_secs(8760 * 3600))] {
        let settings = loaded(&env(&[("PIXIVFE_TOKEN", "a"), ("TIDEGATE_TOKEN_LIMIT", text)])).settings;
        assert_eq!(settings.pools[0].limit.map(|limit| limit.per), Some(per), "{text}");
    }
    let told = faults(&env(&[("PIXIVFE_TOKEN", "a"), ("TIDEGATE_TOKEN_LIMIT", "5/0s")]));
    assert_eq!(told, "TIDEGATE_TOKEN_LIMIT (environment): \"0s\" is no time; write one above 0");
}
