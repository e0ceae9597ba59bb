use super::{env, faults, toml, with_file};

#[test]
fn every_bad_variable_is_told_at_once() {
    insta::assert_snapshot!(faults(&env(&[
        ("PIXIVFE_API_BASE_TIMEOUT", "1000"),
        ("PIXIVFE_BASE_TIMEOUT", "40s"),
        ("PIXIVFE_MAX_BACKOFF_TIME", "32s"),
        ("PIXIVFE_API_MAX_RETRIES", "-1"),
        ("TIDEGATE_UPSTREEM", "http://x"),
        ("PIXIVFE_TOKEN_LOAD_BALANCING", "rand"),
        ("PIXIVFE_HOST", "256.1.1.1"),
        ("PIXIVFE_PORT", "82820"),
        ("PIXIVFE_UNIXSOCKET_PERMISSIONS", "rwx"),
        ("TIDEGATE_ADMIN", "8283"),
        ("TIDEGATE_MAX_BODY", "10 MiBs"),
        ("TIDEGATE_RETRY_BUDGET", "20%"),
        ("TIDEGATE_TOKEN_LIMIT", "100/m"),
        ("TIDEGATE_TRUSTED_PROXIES", "10.0.0.0/8, 10.0.0.0/33, here"),
        ("TIDEGATE_OPEN", "maybe"),
        ("TIDEGATE_CREDENTIAL", "header:Host"),
        ("TIDEGATE_PROXY", "ftp://me:pass@proxy:1080"),
        ("TIDEGATE_CLIENT_KEYS", "a=1,b"),
        ("TIDEGATE_LOG", "loud"),
        ("TIDEGATE_REQUEST_TIMEOUT", "1d"),
        ("TIDEGATE_MAX_IN_FLIGHT", "0"),
        ("TIDEGATE_STORE", "redis://:pass@host:63790000"),
    ])));
}

#[test]
fn every_bad_key_of_a_file_is_told_with_its_line() {
    insta::assert_snapshot!(faults(&toml(
        r#"upstrm = 1
retry = 5
[upstream]
url = "localhost:8080"
attempt_timeout = 10
connect_timout = "1s"
[server]
max_in_flight = "many"
max_retries = 3
open = "yes"
trusted_proxies = ["10.0.0.0/8", 5, "x"]
drain_delay = 1979-05-27
max_body = 1.5
[token]
base_timeout = "1s"
limit = { count = 5 }
[pool.a]
tokens = ["x;y"]
file = "away"
colour = "red"
[pool.default]
[pool]
b = 5
[[route]]
prefix = "img"
[[route]]
prefix = "/a/"
pool = "zz"
public = true
[[route]]
prefix = "/a/"
upstream = "http://u:pw@h"
headers = { host = "x", "a b" = "c", d = 5 }
[[route]]
upstream = "http://h"
[[rule]]
status = [99, "9xx", true]
verdict = "maybe"
[[rule]]
verdict = "success"
[[rule]]
status = []
header = "a b"
"#,
    )));
}

#[test]
fn a_file_that_is_no_toml_is_told_without_its_text_and_with_all_other_faults() {
    let sources = toml("[upstream\nurl = zq81\n\n[token]\ntokens = \"zq82\n").with_env("PIXIVFE_PORT", "x");
    insta::assert_snapshot!(faults(&sources));
}

#[test]
fn a_line_of_env_that_is_none_is_told_without_its_text() {
    let sources = env(&[("PIXIVFE_TOKEN", "a")]).with_dotenv(
        "PIXIVFE_PORT=8282 # the port\nzq81secret\n\nTIDEGATE_LOGG=debug\nPIXIVFE_API_BASE_TIMEOUT=5\n",
    );
    insta::assert_snapshot!(faults(&sources));
}

#[test]
fn a_token_file_is_told_by_its_lines_without_their_text() {
    let sources =
        with_file(env(&[("TIDEGATE_TOKEN_FILE", "tokens")]), "tokens", "good\nzq81 zq82\nname=zq83;\n");
    insta::assert_snapshot!(faults(&sources));
    // What a token cannot be is known once all lines can be read.
    let sources = with_file(env(&[("TIDEGATE_TOKEN_FILE", "tokens")]), "tokens", "good\nname=zq83;\n");
    insta::assert_snapshot!(faults(&sources));
}

#[test]
fn a_file_that_is_away_is_told() {
    let text = faults(&with_file(env(&[("TIDEGATE_TOKEN_FILE", "tokens")]), "other", ""));
    assert_eq!(
        text,
        "TIDEGATE_TOKEN_FILE (environment): the token file \"tokens\" cannot be read: there is no such file; \
         check its path and permissions"
    );
}

#[test]
fn an_unknown_name_is_told_the_nearest() {
    for (name, meant) in [
        ("TIDEGATE_UPSTREEM", "TIDEGATE_UPSTREAM"),
        ("TIDEGATE_UPSTREAM_URL", "TIDEGATE_UPSTREAM"),
        ("TIDEGATE_UPSTREAM_ATTEMPT_TIMEOUT", "TIDEGATE_ATTEMPT_TIMEOUT"),
        ("TIDEGATE_SERVER_LISTEN", "TIDEGATE_LISTEN"),
        ("TIDEGATE_TOKENS", "TIDEGATE_TOKEN"),
        ("TIDEGATE_LOG_LEVEL", "TIDEGATE_LOG"),
        ("TIDEGATE_MAXBODY", "TIDEGATE_MAX_BODY"),
        ("TIDEGATE_tokens_file", "TIDEGATE_TOKEN_FILE"),
        ("TIDEGATE_PROXY_URL", "TIDEGATE_PROXY"),
        ("TIDEGATE_BASE_TIMEOUT", "TIDEGATE_TOKEN_BASE"),
        ("TIDEGATE_API_MAX_BACKOFF_TIME", "TIDEGATE_RETRY_MAX"),
        ("TIDEGATE_HOST", "PIXIVFE_HOST"),
        ("TIDEGATE_TOKEN_REPLICAS", "TIDEGATE_REPLICAS"),
        ("TIDEGATE_SHUTDOWN", "TIDEGATE_SHUTDOWN_GRACE"),
        ("TIDEGATE_CLIENT", "TIDEGATE_CLIENT_KEYS"),
    ] {
        let text = faults(&env(&[("PIXIVFE_TOKEN", "a"), (name, "zq81")]));
        assert_eq!(text, format!("{name} (environment): there is no such setting; did you mean {meant}?"));
    }
    // What is like nothing is told no name that was surely not meant.
    for name in
        ["TIDEGATE_QQQQQQ", "TIDEGATE_SERVICE", "TIDEGATE_USER", "TIDEGATE_X", "TIDEGATE_", "TIDEGATE_REGION"]
    {
        let text = faults(&env(&[("PIXIVFE_TOKEN", "a"), (name, "x")]));
        assert!(
            text.ends_with("there is no such setting; take it away; `tidegate config` shows all names"),
            "{text}"
        );
    }
}

#[test]
fn a_rule_matches_nothing_by_an_empty_text() {
    for key in ["header", "header_missing", "body_contains"] {
        for empty in ["", "  "] {
            let text = format!("[[rule]]\nstatus = 200\nverdict = \"upstream\"\n{key} = \"{empty}\"\n");
            assert_eq!(
                faults(&toml(&text)),
                format!("rule[1].{key} (tidegate.toml:4): it is empty; write a text, or leave it out")
            );
        }
    }
    let told = faults(&toml("[[rule]]\nbody_contains = \"\"\nverdict = \"success\"\n"));
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn what_kubernetes_injects_is_no_setting() {
    super::loaded(&env(&[
        ("PIXIVFE_TOKEN", "a"),
        ("TIDEGATE_PORT", "tcp://10.0.0.1:80"),
        ("TIDEGATE_PORT_80_TCP", "tcp://10.0.0.1:80"),
        ("TIDEGATE_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("TIDEGATE_SERVICE_HOST", "10.0.0.1"),
        ("TIDEGATE_SERVICE_PORT_HTTP", "80"),
        // A second Service, named tidegate-admin.
        ("TIDEGATE_ADMIN_SERVICE_HOST", "10.0.0.2"),
        ("TIDEGATE_ADMIN_SERVICE_PORT", "8283"),
        ("TIDEGATE_ADMIN_PORT", "tcp://10.0.0.2:8283"),
        ("TIDEGATE_ADMIN_PORT_8283_TCP_PROTO", "tcp"),
    ]));
}

#[test]
fn a_listener_open_to_all_needs_keys_or_a_word() {
    let generic = [
        ("TIDEGATE_UPSTREAM", "http://127.0.0.1:1"),
        ("TIDEGATE_CREDENTIAL", "bearer"),
        ("TIDEGATE_TOKEN", "a"),
    ];
    let with = |more: &[(&'static str, &'static str)]| {
        let all: Vec<_> = generic.iter().copied().chain(more.iter().copied()).collect();
        env(&all)
    };
    insta::assert_snapshot!(faults(&with(&[
        ("PIXIVFE_HOST", "0.0.0.0"),
        ("TIDEGATE_ADMIN", "0.0.0.0:8283")
    ])));
    for more in [
        &[][..],
        &[("PIXIVFE_HOST", "0.0.0.0"), ("TIDEGATE_OPEN", "true")],
        &[("PIXIVFE_HOST", "0.0.0.0"), ("TIDEGATE_CLIENT_KEYS", "me=k")],
        &[("PIXIVFE_HOST", "0.0.0.0"), ("TIDEGATE_PRESET", "pixiv")],
        &[("TIDEGATE_LISTEN", "unix:/run/t.sock")],
        &[("TIDEGATE_LISTEN", "[::1]:8282")],
        &[("TIDEGATE_ADMIN", "0.0.0.0:8283"), ("TIDEGATE_ADMIN_KEY", "k")],
        &[("TIDEGATE_ADMIN", "unix:/run/a.sock")],
    ] {
        super::loaded(&with(more));
    }
}

#[test]
fn two_listeners_cannot_share_an_address() {
    for (listen, admin, both) in [
        ("127.0.0.1:8283", "127.0.0.1:8283", false),
        ("localhost:8283", "127.0.0.1:8283", false),
        ("0.0.0.0:8283", "127.0.0.1:8283", false),
        ("unix:/a", "unix:/a", false),
        ("127.0.0.1:8282", "127.0.0.1:8283", true),
        ("127.0.0.2:8283", "127.0.0.1:8283", true),
        ("127.0.0.1:0", "127.0.0.1:0", true),
        ("unix:/a", "unix:/b", true),
    ] {
        let sources = env(&[("PIXIVFE_TOKEN", "a"), ("TIDEGATE_LISTEN", listen), ("TIDEGATE_ADMIN", admin)]);
        assert_eq!(tidegate_config::load(&sources).is_ok(), both, "{listen} {admin}");
    }
}
