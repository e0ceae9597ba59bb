use tidegate_config::{BaseUrl, ClientCredential, Credential, Preset, Scope, Settings};

use super::{env, loaded};

fn settings(variables: &[(&str, &str)]) -> Settings {
    loaded(&env(variables).with_env("PIXIVFE_TOKEN", "a")).settings
}

#[test]
fn the_preset_is_named_or_goes_by_the_upstream() {
    for (variables, preset, url) in [
        (&[][..], Preset::Pixiv, "https://www.pixiv.net"),
        (&[("TIDEGATE_UPSTREAM", "https://www.pixiv.net/")], Preset::Pixiv, "https://www.pixiv.net"),
        (
            &[("TIDEGATE_UPSTREAM", "http://h"), ("TIDEGATE_CREDENTIAL", "bearer")],
            Preset::Generic,
            "http://h",
        ),
        (&[("TIDEGATE_UPSTREAM", "http://h"), ("TIDEGATE_PRESET", "pixiv")], Preset::Pixiv, "http://h"),
        (
            &[("TIDEGATE_PRESET", "generic"), ("TIDEGATE_CREDENTIAL", "bearer")],
            Preset::Generic,
            "https://www.pixiv.net",
        ),
        (&[("TIDEGATE_PRESET", "github")], Preset::Github, "https://api.github.com"),
        (&[("TIDEGATE_PRESET", "openai")], Preset::Openai, "https://api.openai.com"),
        (
            &[("TIDEGATE_PRESET", "openai"), ("TIDEGATE_UPSTREAM", "http://h/v2")],
            Preset::Openai,
            "http://h/v2",
        ),
    ] {
        let settings = settings(variables);
        assert_eq!(
            (settings.preset, settings.upstream.url.to_string().as_str()),
            (preset, url),
            "{variables:?}"
        );
    }
}

#[test]
fn pixivs_pool_signs_public_reads_only() {
    let signing = &settings(&[]).pools[0].signing;
    for (method, path, want) in [
        ("GET", "/ajax/illust/1", true),
        ("HEAD", "/touch/ajax/x", true),
        ("GET", "/touch/ajax_api/x", true),
        ("GET", "/rpc/cps.php", true),
        ("GET", "/ranking_log.php", true),
        ("POST", "/ajax/x", false),
        ("GET", "/", false),
        ("GET", "/setting_user.php", false),
        ("GET", "/ajax/settings", false),
        ("GET", "/ajax/settings/self", false),
        ("GET", "/ajax/user/self", false),
        ("GET", "/ajax/follow_latest/illust", false),
        ("GET", "/ajax/linked_service/x", false),
        ("GET", "/touch/ajax/user/self/status", false),
    ] {
        assert_eq!(signing.signs(method, path), want, "{method} {path}");
    }
    for (name, preset) in [("generic", false), ("github", false), ("pixiv", true)] {
        let signing =
            &settings(&[("TIDEGATE_PRESET", name), ("TIDEGATE_CREDENTIAL", "bearer")]).pools[0].signing;
        assert_eq!(!signing.signs("DELETE", "/x"), preset, "{name}");
    }
    // What is written takes the preset's place.
    let own = settings(&[("TIDEGATE_TOKEN_PATHS", "/api/, !/api/me"), ("TIDEGATE_TOKEN_METHODS", "*")]);
    assert!(own.pools[0].signing.signs("POST", "/api/x") && !own.pools[0].signing.signs("GET", "/ajax/x"));
}

#[test]
fn pixivs_pooled_route_brings_what_a_browser_sends() {
    let elsewhere = [("TIDEGATE_UPSTREAM", "http://127.0.0.1:1"), ("TIDEGATE_PRESET", "pixiv")];
    for variables in [&[][..], &elsewhere] {
        let settings = settings(variables);
        let route = settings.routes.last().unwrap();
        let header =
            |name: &str| route.headers.iter().find(|header| header.name == name).unwrap().value.expose();
        assert_eq!(
            (header("referer"), header("accept-language")),
            ("https://www.pixiv.net/", "en-US,en;q=0.5")
        );
        assert!(header("user-agent").starts_with("Mozilla/5.0 "));
        assert!(route.token_cookies && route.pool.as_deref() == Some("default"));
        assert_eq!(route.upstream, settings.upstream.url, "pooled requests go where the upstream is");
        assert_eq!(settings.pools[0].credential, Some(Credential::Cookie("PHPSESSID".into())));
        assert_eq!(settings.pools[0].client_credential, ClientCredential::Pass);
    }
    let generic = settings(&[("TIDEGATE_PRESET", "generic"), ("TIDEGATE_CREDENTIAL", "cookie:s")]);
    assert!(generic.routes[0].headers.is_empty() && !generic.routes[0].token_cookies);
    assert_eq!(generic.routes.len(), 1);
}

#[test]
fn pixivs_content_routes_carry_no_token() {
    let settings = settings(&[("TIDEGATE_UPSTREAM", "http://127.0.0.1:1"), ("TIDEGATE_PRESET", "pixiv")]);
    let mut found: Vec<_> = settings
        .routes
        .iter()
        .filter(|route| route.pool.is_none())
        .map(|route| {
            let [header] = route.headers.as_slice() else { panic!("{}: not one header", route.prefix) };
            assert_eq!((header.name.as_str(), route.token_cookies, route.public), ("referer", false, false));
            assert_eq!(route.target_path(&format!("{}a/b.jpg", route.prefix)), "/a/b.jpg");
            (route.prefix.as_str(), BaseUrl::origin(&route.upstream), header.value.expose())
        })
        .collect();
    found.sort_unstable();
    let pixiv = "https://www.pixiv.net/";
    let want = [
        ("/proxy/booth.pximg.net/", "https://booth.pximg.net", pixiv),
        ("/proxy/embed.pixiv.net/", "https://embed.pixiv.net", pixiv),
        ("/proxy/i.pximg.net/", "https://i.pximg.net", pixiv),
        ("/proxy/s.pximg.net/", "https://s.pximg.net", pixiv),
        ("/proxy/source.pixiv.net/", "https://source.pixiv.net", pixiv),
        ("/proxy/ugoira.com/", "https://t-hk.ugoira.com", "https://ugoira.com/"),
    ];
    assert_eq!(found, want.map(|(prefix, origin, referer)| (prefix, origin.to_owned(), referer)));
}

#[test]
fn openai_gives_a_model_time_to_think() {
    let settings = settings(&[("TIDEGATE_PRESET", "openai")]);
    assert_eq!(
        (settings.upstream.attempt_timeout.as_secs(), settings.server.request_timeout.as_secs()),
        (600, 660)
    );
    assert_eq!(settings.routes[0].attempt_timeout.as_secs(), 600);
    assert_eq!(settings.upstream.credential, Some(Credential::Bearer));
}

#[test]
fn a_preset_knows_what_has_limits_of_its_own() {
    for (preset, scope) in [
        ("openai", Scope::Json("/model".into())),
        ("github", Scope::Header("x-ratelimit-resource".into())),
        ("pixiv", Scope::None),
    ] {
        assert_eq!(settings(&[("TIDEGATE_PRESET", preset)]).pools[0].scope, scope, "{preset}");
    }
}

#[test]
fn what_becomes_of_a_clients_own_credential_goes_by_its_kind() {
    use ClientCredential::{Pass, Refuse, Replace};
    for (credential, said, want) in [
        ("cookie:s", "", Pass),
        ("bearer", "", Replace),
        ("header:x", "", Replace),
        ("query:k", "", Replace),
        ("cookie:s", "replace", Replace),
        ("cookie:s", "refuse", Refuse),
        ("bearer", "pass", Pass),
    ] {
        let settings = settings(&[("TIDEGATE_CREDENTIAL", credential), ("TIDEGATE_CLIENT_CREDENTIAL", said)]);
        assert_eq!(settings.upstream.client_credential, want, "{credential} {said}");
        assert_eq!(settings.pools[0].client_credential, want, "{credential} {said}");
    }
}
