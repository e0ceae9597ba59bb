use super::{env, loaded, notices, toml, with_file};

#[test]
fn the_effective_settings_are_shown_with_their_sources() {
    let text = r#"
replicas = 2
[upstream]
proxy = "http://me:secret@proxy:3128"
[server]
client_keys = ["alice=k1", "bob=k2"]
max_body = 1048576
[token]
file = "tokens"
[pool.other]
tokens = ["t1", "t2"]
credential = "bearer"
[[route]]
prefix = "/other"
upstream = "http://o.example.com:81/base/"
pool = "other"
attempt_timeout = "9s"
[[route]]
prefix = "/img/"
upstream = "https://img.example.com"
headers = { Referer = "https://x/" }
public = true
[[rule]]
status = [200, "5xx"]
body_contains = "rate limit"
verdict = "token_limited"
"#;
    let sources = with_file(toml(text), "tokens", "one\ntwo\nthree\n")
        .with_dotenv("PIXIVFE_PORT=9999\n\nPIXIVFE_TOKEN_BASE_TIMEOUT=2s\n")
        .with_env("TIDEGATE_ADMIN_KEY", "hush");
    insta::assert_snapshot!(loaded(&sources).provenance);
}

#[test]
fn the_defaults_are_shown_with_their_preset() {
    insta::assert_snapshot!(loaded(&env(&[("PIXIVFE_TOKEN", "a")])).provenance);
}

#[test]
fn what_is_worth_knowing_is_a_line_each() {
    let sources = env(&[
        ("PIXIVFE_TOKEN", "a,b,a"),
        ("PIXIVFE_POPULAR_SEARCH_ENABLED", "true"),
        ("PIXIVFE_CONFIGFILE", "x.yaml"),
        ("PIXIVFE_MAX_RETRIES", "1"),
        ("PIXIVFE_TOKEN_MAX_RETRIES", "2"),
        ("TIDEGATE_ATTEMPT_TIMEOUT", "1m"),
        ("TIDEGATE_REPLAY_LIMIT", "2MiB"),
        ("TIDEGATE_REPLAY_MEMORY", "1MiB"),
        ("TIDEGATE_LISTEN", "localhost:1"),
        ("PIXIVFE_PORT", "2"),
    ])
    .with_dotenv("PIXIVFE_HOST=a\nPIXIVFE_HOST=b\n")
    .with_toml("t.toml", "[pool.spare]\ntokens = [\"x\"]\n");
    insta::assert_snapshot!(notices(&loaded(&sources)));
}

#[test]
fn replicas_may_stand_beside_the_limit() {
    for text in ["replicas = 3\n", "[token]\nreplicas = 3\n"] {
        let loaded = loaded(&toml(text));
        let rows: Vec<_> =
            loaded.provenance.rows().iter().filter(|row| row.path.ends_with("replicas")).collect();
        assert_eq!((loaded.settings.replicas, rows.len(), rows[0].value.as_str()), (3, 1, "3"), "{text}");
    }
}

#[test]
fn proxy_variables_are_kept_the_lower_case_before_the_upper() {
    let sources = env(&[
        ("PIXIVFE_TOKEN", "a"),
        ("HTTPS_PROXY", "http://u"),
        ("https_proxy", "http://l"),
        ("NO_PROXY", "a,b"),
        ("HTTP_PROXY", "http://h"),
    ])
    .with_dotenv("ALL_PROXY=http://all\n");
    let found = loaded(&sources).settings.proxy_variables;
    let text =
        |secret: &Option<tidegate_config::Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
    assert_eq!(
        [text(&found.http), text(&found.https), text(&found.all), found.no.clone()],
        ["http://h", "http://l", "http://all", "a,b"].map(|text| Some(text.to_owned()))
    );
    let cgi = loaded(&sources.with_env("REQUEST_METHOD", "GET")).settings.proxy_variables;
    assert_eq!(cgi.http, None, "a CGI server makes HTTP_PROXY of a client's Proxy field");
}
