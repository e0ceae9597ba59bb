use std::path::PathBuf;

use tidegate_config::{
    ClientCredential, Credential, Limit, Pacing, Purpose, Scope, Strategy, WhenExhausted, load_for,
};

use super::{env, faults, loaded, notices, toml, with_file};

#[test]
fn a_pool_takes_the_keys_of_token_and_a_credential() {
    let sources = toml(
        r#"
[token]
strategy = "random"
[pool.other]
credential = "header:X-Key"
tokens = ["one", "two"]
file = "more"
methods = ["get"]
paths = ["/v1/", "!/v1/me"]
strategy = "least-loaded"
max_retries = 1
base = "2s"
max = "4s"
max_rest = "8s"
reject_rest = "1m"
max_switches = 2
max_concurrency = 3
max_wait = 0
max_waiting = 7
scope = "route"
command = "print tokens"
refresh = "10m"
when_exhausted = "fail"
limit = "100/1m"
pacing = "off"
[[route]]
prefix = "/o/"
upstream = "https://other.example.com"
pool = "other"
"#,
    );
    let sources = with_file(sources, "more", "named=three weight=2 group=g\none\n");
    let loaded = loaded(&with_file(sources, "print tokens", "four=four\n"));
    let [first, pool] = loaded.settings.pools.as_slice() else { panic!("not two pools") };
    assert_eq!((first.name.as_str(), first.strategy, first.max_switches), ("default", Strategy::Random, 5));
    assert_eq!(pool.name, "other");
    let tokens: Vec<_> = pool.tokens.iter().map(|token| (token.value.expose(), token.weight.get())).collect();
    assert_eq!(tokens, [("one", 1), ("two", 1), ("three", 2), ("four", 1)]);
    assert_eq!((pool.command.as_deref(), pool.refresh.as_secs()), (Some("print tokens"), 600));
    assert_eq!((pool.max_waiting, &pool.scope), (7, &Scope::Route));
    assert_eq!(pool.file, Some(PathBuf::from("more")));
    assert_eq!(pool.credential, Some(Credential::Header("x-key".into())));
    assert_eq!(pool.client_credential, ClientCredential::Replace, "by the pool's own kind of credential");
    assert!(pool.signing.signs("GET", "/v1/x") && !pool.signing.signs("GET", "/v1/me"));
    let rest = &pool.cool_down;
    assert_eq!(
        [rest.base, rest.max, rest.max_rest, rest.reject_rest].map(|rest| rest.as_secs()),
        [2, 4, 8, 60]
    );
    assert_eq!((rest.max_retries, pool.max_switches, pool.max_concurrency), (1, 2, 3));
    assert!(pool.max_wait.is_zero());
    assert_eq!((pool.strategy, pool.when_exhausted), (Strategy::LeastLoaded, WhenExhausted::Fail));
    assert_eq!(
        (pool.limit, pool.pacing),
        (Some(Limit { count: 100, per: std::time::Duration::from_secs(60), burst: None }), Pacing::Off)
    );
    assert_eq!(notices(&loaded), "a token (more:2) is in pool \"other\" already and left out\n");
}

#[test]
fn a_pool_that_says_nothing_has_the_defaults_and_the_upstreams_credential() {
    let text =
        "[token]\nmax_wait = \"1s\"\n[pool.b]\ntokens = [\"x\"]\n[[route]]\nprefix = \"/b/\"\npool = \"b\"\n";
    let loaded = loaded(&toml(text));
    let pool = loaded.settings.pool("b").unwrap();
    assert_eq!(
        (pool.max_wait.as_secs(), &pool.credential),
        (5, &Some(Credential::Cookie("PHPSESSID".into())))
    );
    assert!(pool.signing.signs("POST", "/any"), "the preset's bounds are the default pool's");
    assert_eq!(
        loaded.settings.pools_in_use().map(|pool| pool.name.as_str()).collect::<Vec<_>>(),
        ["default", "b"]
    );
}

#[test]
fn a_pool_that_a_route_uses_needs_tokens_and_a_credential() {
    let generic = env(&[("TIDEGATE_UPSTREAM", "http://127.0.0.1:1")]);
    insta::assert_snapshot!(faults(&generic.clone().with_toml(
        "t.toml",
        "[pool.b]\nmax_wait = \"1s\"\n[pool.unused]\n[[route]]\nprefix = \"/b/\"\npool = \"b\"\n"
    )));
    // Who sends no token anywhere needs none.
    let none = generic.clone().with_toml("t.toml", "[[route]]\nprefix = \"/\"\npool = \"none\"\n");
    assert!(loaded(&none).settings.pools[0].tokens.is_empty());
    // Who only looks needs none either, and is told.
    let looked = load_for(&generic, Purpose::Inspect).unwrap();
    assert_eq!(notices(&looked).matches("not enough to serve: ").count(), 2, "{}", notices(&looked));
}

#[test]
fn tokens_are_listed_then_read_from_the_file_each_once() {
    let sources = env(&[("PIXIVFE_TOKEN", "a, b,, a ,"), ("TIDEGATE_TOKEN_FILE", "dir/tokens")]);
    let loaded = loaded(&with_file(
        sources,
        "dir/tokens",
        "\u{feff}# ours\r\nb\r\nlast=c\r\n\r\nagain=c weight=9\r\n",
    ));
    let values: Vec<_> = loaded.settings.pools[0].tokens.iter().map(|token| token.value.expose()).collect();
    assert_eq!(values, ["a", "b", "c"]);
    assert_eq!(
        notices(&loaded),
        "token 3 of PIXIVFE_TOKEN (environment) is in pool \"default\" already and left out\n\
         a token (dir/tokens:2) is in pool \"default\" already and left out\n\
         a token (dir/tokens:5) is in pool \"default\" already and left out\n"
    );
}

#[test]
fn a_file_that_toml_names_lies_beside_it() {
    let sources = env(&[]).with_toml("/etc/tidegate/t.toml", "[token]\nfile = \"tokens\"\n");
    let loaded = loaded(&with_file(sources, "/etc/tidegate/tokens", "a\n"));
    assert_eq!(loaded.settings.pools[0].file, Some(PathBuf::from("/etc/tidegate/tokens")));
}

#[test]
fn a_token_that_could_not_be_sent_is_a_fault_that_does_not_show_it() {
    for (credential, token, bad) in [
        ("cookie:a", "zq;81", true),
        ("cookie:a", "zq 81", true),
        ("cookie:a", "zqé81", true),
        ("cookie:a", "zq\n81", true),
        ("cookie:a", "zq\u{7f}81", true),
        ("bearer", "zq 81", true),
        ("bearer", "zqé81", true),
        ("bearer", "zq;81", false),
        ("header:x", "zq\r81", true),
        ("query:k", "zq é81", false),
        ("query:k", "zq\u{0}81", true),
    ] {
        let set = [("TIDEGATE_CREDENTIAL", credential), ("PIXIVFE_TOKEN", token)];
        match tidegate_config::load(&env(&set)) {
            Ok(_) => assert!(!bad, "{credential} {token:?}"),
            Err(faults) => {
                let told = faults.to_string();
                assert!(bad && !told.contains("zq") && !told.contains("81"), "{credential}: {told}");
                assert_eq!(faults.as_slice().len(), 1, "{told}");
            }
        }
    }
}

#[test]
fn a_share_of_a_limit_is_never_more_than_its_part() {
    for (count, replicas) in
        [(100, 1), (100, 3), (1, 3), (2, 3), (7, 7), (u32::MAX, 2), (1, u32::MAX), (5, 0)]
    {
        for burst in [None, Some(10)] {
            let limit = Limit { count, per: std::time::Duration::from_secs(60), burst };
            let share = limit.share(replicas);
            // Both sides as requests in all replicas, times both lengths.
            let all = u128::from(share.count) * u128::from(replicas.max(1)) * limit.per.as_nanos();
            assert!(all <= u128::from(count) * share.per.as_nanos(), "{count} {burst:?} {replicas}");
            assert_eq!(share.burst, burst.map(|burst| (burst / replicas.max(1)).max(1)));
        }
    }
}

#[test]
fn a_program_that_prints_no_tokens_is_a_fault_that_does_not_show_what_it_prints() {
    let command = |text: &str| env(&[("PIXIVFE_TOKEN", "a")]).with_env("TIDEGATE_TOKEN_COMMAND", text);
    insta::assert_snapshot!(faults(&command("/no/such/program zq1")));
    let printed = with_file(command("print"), "print", "good\nzq2 zq3\n");
    let told = faults(&printed);
    assert!(told.contains("something else than weight and group") && !told.contains("zq"), "{told}");
}
