use tidegate_config::{HeaderMatch, RuleVerdict, Settings};

use super::{loaded, toml};

fn settings(text: &str) -> Settings {
    loaded(&toml(text).with_env("TIDEGATE_PRESET", "generic").with_env("TIDEGATE_CREDENTIAL", "bearer"))
        .settings
}

/// The route that a path takes and what becomes of the path.
fn way(settings: &Settings, path: &str) -> (String, String) {
    let route = settings.routes.iter().find(|route| route.matches(path)).unwrap();
    (route.prefix.clone(), format!("{}{}", route.upstream.origin(), route.target_path(path)))
}

#[test]
fn the_longest_prefix_wins_and_is_replaced_by_the_upstreams_path() {
    let settings = settings(
        r#"
[upstream]
url = "http://up/base"
[[route]]
prefix = "/a/"
upstream = "http://a"
[[route]]
prefix = "/a/b"
upstream = "http://b/x/"
[[route]]
prefix = "/c/"
upstream = "http://c/y"
[[route]]
prefix = "/d"
[[route]]
prefix = "/e"
upstream = "http://e"
"#,
    );
    for (path, prefix, target) in [
        ("/a/1", "/a/", "http://a/1"),
        ("/a/", "/a/", "http://a/"),
        ("/a", "/", "http://up/base/a"),
        ("/a//1%2F", "/a/", "http://a//1%2F"),
        ("/a/b", "/a/b", "http://b/x"),
        ("/a/b/1", "/a/b", "http://b/x/1"),
        ("/a/bc", "/a/", "http://a/bc"),
        ("/c/1", "/c/", "http://c/y/1"),
        ("/d/1", "/d", "http://up/base/d/1"),
        ("/d", "/d", "http://up/base/d"),
        ("/e", "/e", "http://e/"),
        ("/e/", "/e", "http://e/"),
        ("/", "/", "http://up/base/"),
        ("//x", "/", "http://up/base//x"),
    ] {
        assert_eq!(way(&settings, path), (prefix.to_owned(), target.to_owned()), "{path}");
    }
}

#[test]
fn a_token_goes_to_another_host_only_when_somebody_says_so() {
    let settings = settings(
        "[[route]]\nprefix = \"/a/\"\nupstream = \"http://a\"\n[[route]]\nprefix = \"/b/\"\nupstream = \"http://b\"\npool = \"default\"\n\
         [[route]]\nprefix = \"/c/\"\n[[route]]\nprefix = \"/d/\"\npool = \"none\"\n",
    );
    let pools: Vec<_> =
        settings.routes.iter().map(|route| (route.prefix.as_str(), route.pool.as_deref())).collect();
    let default = Some("default");
    assert_eq!(pools, [("/a/", None), ("/b/", default), ("/c/", default), ("/d/", None), ("/", default)]);
}

#[test]
fn a_route_has_its_own_bounds_and_headers() {
    let settings = settings(
        r#"
[[route]]
prefix = "/a/"
upstream = "http://a"
public = true
headers = { Referer = " https://r/ ", X-Key = "zq81" }
attempt_timeout = "1m"
connect_timeout = "2s"
idle_timeout = "3s"
request_timeout = "2m"
body_idle_timeout = 0
replay_limit = "2MiB"
retry_unsafe = true
max_retries = 0
"#,
    );
    let route = &settings.routes[0];
    let timeouts = [
        route.attempt_timeout,
        route.connect_timeout,
        route.idle_timeout,
        route.request_timeout,
        route.body_idle_timeout,
    ];
    assert_eq!(timeouts.map(|timeout| timeout.as_secs()), [60, 2, 3, 120, 0]);
    assert_eq!(
        (route.replay_limit, route.retry_unsafe, route.max_retries, route.public),
        (2 << 20, true, 0, true)
    );
    let headers: Vec<_> =
        route.headers.iter().map(|header| (header.name.as_str(), header.value.expose())).collect();
    assert_eq!(headers, [("referer", "https://r/"), ("x-key", "zq81")]);
    let rest = &settings.routes[1];
    assert_eq!(
        (rest.attempt_timeout.as_secs(), rest.request_timeout.as_secs(), rest.max_retries),
        (10, 30, 3)
    );
}

#[test]
fn a_written_route_takes_the_place_of_the_presets() {
    let text = "[[route]]\nprefix = \"/proxy/i.pximg.net/\"\nupstream = \"http://127.0.0.1:1/\"\n\
                [[route]]\nprefix = \"/ajax/search/\"\nmax_retries = 9\nheaders = { user-agent = \"own\" }\n";
    let settings = loaded(&toml(text)).settings;
    assert_eq!(way(&settings, "/proxy/i.pximg.net/1.jpg").1, "http://127.0.0.1:1/1.jpg");
    assert_eq!(settings.routes.iter().filter(|route| route.prefix == "/proxy/i.pximg.net/").count(), 1);
    assert_eq!(settings.routes.len(), 8);
    let search = settings.routes.iter().find(|route| route.prefix == "/ajax/search/").unwrap();
    assert!(search.token_cookies, "a route to the upstream itself brings what the preset sends with a token");
    let agents: Vec<_> = search.headers.iter().filter(|header| header.name == "user-agent").collect();
    assert_eq!((agents.len(), agents[0].value.expose()), (1, "own"));
}

#[test]
fn rules_keep_their_order_and_all_that_they_ask() {
    let settings = settings(
        r#"
[[rule]]
status = [200, "5xx", "401-403, 429"]
header = "X-Error=limit"
header_missing = "X-Fine"
body_contains = "rate limit"
verdict = "token_limited"
[[rule]]
header = "X-Dead"
verdict = "token_rejected"
[[rule]]
status = 400
verdict = "success"
"#,
    );
    let [first, second, third] = settings.rules.as_slice() else { panic!("not three rules") };
    assert_eq!(first.status.0, [(200, 200), (500, 599), (401, 403), (429, 429)]);
    for (status, want) in [(200, true), (201, false), (402, true), (429, true), (503, true), (600, false)] {
        assert_eq!(first.status.contains(status), want, "{status}");
    }
    assert_eq!(first.header, Some(HeaderMatch { name: "x-error".into(), value: Some("limit".into()) }));
    assert_eq!(
        (first.header_missing.as_deref(), first.body_contains.as_deref()),
        (Some("x-fine"), Some("rate limit"))
    );
    assert_eq!(
        (first.verdict, second.verdict, third.verdict),
        (RuleVerdict::TokenLimited, RuleVerdict::TokenRejected, RuleVerdict::Success)
    );
    assert!(second.status.contains(500) && !third.status.contains(401));
}
