//! Bounds that belong together: `base <= max <= max_rest`.

use std::time::Duration;

use super::{env, faults, loaded, toml};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// What a row of the table of effective settings says.
fn row(loaded: &tidegate_config::Loaded, path: &str) -> String {
    loaded.provenance.rows().iter().find(|row| row.path == path).map(|row| row.value.clone()).unwrap()
}

#[test]
fn the_default_of_base_or_max_gives_way_to_what_is_set() {
    for (name, value, base, max) in [
        ("PIXIVFE_API_BASE_TIMEOUT", "9s", 9_000, 9_000),
        ("PIXIVFE_API_BASE_TIMEOUT", "8s", 8_000, 8_000),
        ("PIXIVFE_API_BASE_TIMEOUT", "7s", 7_000, 8_000),
        ("PIXIVFE_API_BASE_TIMEOUT", "0", 0, 8_000),
        ("TIDEGATE_RETRY_MAX", "250ms", 250, 250),
        ("PIXIVFE_API_MAX_BACKOFF_TIME", "0", 0, 0),
        ("PIXIVFE_API_MAX_BACKOFF_TIME", "20m", 500, 1_200_000),
    ] {
        let loaded = loaded(&env(&[("PIXIVFE_TOKEN", "a"), (name, value)]));
        let schedule = &loaded.settings.retry.schedule;
        assert_eq!((schedule.base(), schedule.max()), (MS(base), MS(max)), "{name}={value}");
    }
}

#[test]
fn the_default_of_a_cool_down_gives_way_to_what_is_set() {
    const HOUR: u64 = 3_600_000;
    for (set, base, max, max_rest) in [
        (&[("PIXIVFE_MAX_BACKOFF_TIME", "300ms")][..], 300, 300, HOUR),
        (&[("PIXIVFE_TOKEN_MAX_BACKOFF_TIME", "3h")], 1_000, 3 * HOUR, 3 * HOUR),
        (&[("PIXIVFE_BASE_TIMEOUT", "1m")], 60_000, 60_000, HOUR),
        (&[("PIXIVFE_BASE_TIMEOUT", "2h")], 2 * HOUR, 2 * HOUR, 2 * HOUR),
        (&[("TIDEGATE_TOKEN_MAX_REST", "12s")], 1_000, 12_000, 12_000),
        (&[("TIDEGATE_TOKEN_MAX_REST", "10ms")], 10, 10, 10),
        (&[("TIDEGATE_TOKEN_MAX_REST", "0")], 0, 0, 0),
        (&[("TIDEGATE_TOKEN_MAX_REST", "9s"), ("TIDEGATE_TOKEN_BASE", "4s")], 4_000, 9_000, 9_000),
        (&[("TIDEGATE_TOKEN_MAX_REST", "2m"), ("TIDEGATE_TOKEN_BASE", "50s")], 50_000, 50_000, 120_000),
        (&[("TIDEGATE_TOKEN_MAX_REST", "max")], 1_000, 32_000, 32_000),
        (
            &[("TIDEGATE_TOKEN_MAX_REST", "Max"), ("PIXIVFE_MAX_BACKOFF_TIME", "5h")],
            1_000,
            5 * HOUR,
            5 * HOUR,
        ),
        (&[("TIDEGATE_TOKEN_MAX_REST", "max"), ("PIXIVFE_BASE_TIMEOUT", "40s")], 40_000, 40_000, 40_000),
    ] {
        let set: Vec<_> = set.iter().copied().chain([("PIXIVFE_TOKEN", "a")]).collect();
        let cool_down = loaded(&env(&set)).settings.pools[0].cool_down;
        let found = [cool_down.base, cool_down.max, cool_down.max_rest];
        assert_eq!(found, [base, max, max_rest].map(MS), "{set:?}");
    }
}

#[test]
fn what_a_default_came_to_is_shown_with_what_it_gave_way_to() {
    let first = loaded(&env(&[("PIXIVFE_TOKEN", "a"), ("PIXIVFE_API_BASE_TIMEOUT", "11s")]));
    assert_eq!(
        (row(&first, "retry.base"), row(&first, "retry.max")),
        ("11s".into(), "11s (by retry.base)".into())
    );
    let second = loaded(&toml("[retry]\nmax = \"50ms\"\n[token]\nmax_rest = \"200ms\"\n"));
    assert_eq!(row(&second, "retry.base"), "50ms (by retry.max)");
    assert_eq!(row(&second, "token.max"), "200ms (by token.max_rest)");
    assert_eq!(row(&second, "token.base"), "200ms (by token.max)");
    let pool = "[pool.p]\ntokens = [\"x\"]\nmax = \"2h\"\n[pool.q]\ntokens = [\"x\"]\nmax = \"20s\"\nmax_rest = \"max\"\n";
    let third = loaded(&toml(pool));
    assert_eq!(row(&third, "pool.p.max_rest"), "2h (by pool.p.max)");
    assert_eq!(row(&third, "pool.q.max_rest"), "20s (by pool.q.max)");
    assert_eq!(row(&third, "token.max_rest"), "1h", "another pool's bounds are its own");
}

#[test]
fn two_that_are_set_and_contradict_each_other_are_a_fault_that_names_both() {
    for (set, want) in [
        (
            [("PIXIVFE_API_BASE_TIMEOUT", "3s"), ("PIXIVFE_API_MAX_BACKOFF_TIME", "2s")],
            "PIXIVFE_API_BASE_TIMEOUT (environment): 3s is longer than 2s of PIXIVFE_API_MAX_BACKOFF_TIME \
             (environment); write 2s at most, or change PIXIVFE_API_MAX_BACKOFF_TIME",
        ),
        (
            [("PIXIVFE_MAX_BACKOFF_TIME", "1m"), ("TIDEGATE_TOKEN_MAX_REST", "30s")],
            "PIXIVFE_MAX_BACKOFF_TIME (environment): 1m is longer than 30s of TIDEGATE_TOKEN_MAX_REST \
             (environment); write 30s at most, or change TIDEGATE_TOKEN_MAX_REST",
        ),
        (
            [("PIXIVFE_BASE_TIMEOUT", "45s"), ("TIDEGATE_TOKEN_MAX_REST", "30s")],
            "PIXIVFE_BASE_TIMEOUT (environment): 45s is longer than 30s of TIDEGATE_TOKEN_MAX_REST \
             (environment); write 30s at most, or change TIDEGATE_TOKEN_MAX_REST",
        ),
    ] {
        assert_eq!(faults(&env(&[set[0], set[1], ("PIXIVFE_TOKEN", "a")])), want);
    }
    // A faulty one is told, and is not compared.
    let one = faults(&env(&[
        ("PIXIVFE_TOKEN", "a"),
        ("TIDEGATE_TOKEN_MAX_REST", "most"),
        ("PIXIVFE_BASE_TIMEOUT", "45s"),
    ]));
    assert_eq!(
        one,
        "TIDEGATE_TOKEN_MAX_REST (environment): \"most\" is not a duration; \
         write one such as 500ms, 10s, 1m30s or 1h, or max for the value of token.max"
    );
}
