use tidegate_config::{Source, Sources, load};

use super::{env, loaded, notices, toml};

fn port_and_source(sources: &Sources) -> (u32, String) {
    let loaded = loaded(sources);
    let row = loaded.provenance.rows().iter().find(|row| row.path == "retry.max_retries").unwrap();
    (loaded.settings.retry.max_retries, row.source.to_string())
}

#[test]
fn the_environment_is_stronger_than_env_and_that_than_the_file() {
    let name = "PIXIVFE_API_MAX_RETRIES";
    let bare = toml("");
    let file = toml("[retry]\nmax_retries = 4\n");
    let dotenv = file.clone().with_dotenv(format!("# one\n{name}=5\n"));
    let environment = dotenv.clone().with_env(name, "6");
    // Empty is unset: what is weaker holds.
    let empty = dotenv.clone().with_env(name, "");
    let blank = file.clone().with_dotenv(format!("{name}=\n")).with_env(name, "  ");
    for (sources, want) in [
        (bare, (3, "default")),
        (file, (4, "tidegate.toml:2")),
        (dotenv, (5, ".env:2")),
        (environment, (6, "environment")),
        (empty, (5, ".env:2")),
        (blank, (4, "tidegate.toml:2")),
    ] {
        assert_eq!(port_and_source(&sources), (want.0, want.1.to_owned()));
    }
}

#[test]
fn within_a_layer_ours_beats_pixivfes_new_name_and_that_its_old_one() {
    let all = [
        ("PIXIVFE_MAX_RETRIES", "1"),
        ("PIXIVFE_TOKEN_MAX_RETRIES", "2"),
        ("TIDEGATE_TOKEN_MAX_RETRIES", "3"),
    ];
    for n in 1..=all.len() {
        let loaded = loaded(&env(&all[..n]).with_env("PIXIVFE_TOKEN", "a"));
        assert_eq!(loaded.settings.pools[0].cool_down.max_retries, u32::try_from(n).unwrap());
        for (name, _) in &all[..n - 1] {
            let told = format!("{name} is not used, for {} is set too (environment)", all[n - 1].0);
            assert!(notices(&loaded).contains(&told), "{told}");
        }
    }
    // A stronger layer's weaker name still wins.
    let sources = env(&[("PIXIVFE_TOKEN", "a"), ("PIXIVFE_MAX_RETRIES", "1")])
        .with_dotenv("TIDEGATE_TOKEN_MAX_RETRIES=3");
    assert_eq!(loaded(&sources).settings.pools[0].cool_down.max_retries, 1);
}

#[test]
fn an_empty_text_of_the_file_is_unset() {
    let loaded = loaded(&toml("[upstream]\ncredential = \"\"\n[retry]\nbase = \" \"\n"));
    assert_eq!(loaded.settings.retry.schedule.base().as_millis(), 500);
}

#[test]
fn a_preset_is_weaker_than_all_that_is_written() {
    let sources = toml("[upstream]\npreset = \"openai\"\nattempt_timeout = \"1m\"\n")
        .with_env("TIDEGATE_REQUEST_TIMEOUT", "");
    let loaded = loaded(&sources);
    let row = |path: &str| loaded.provenance.rows().iter().find(|row| row.path == path).unwrap();
    assert_eq!(
        (row("upstream.attempt_timeout").value.as_str(), row("server.request_timeout").value.as_str()),
        ("1m", "11m")
    );
    assert_eq!(row("server.request_timeout").source.to_string(), "preset openai");
    assert!(matches!(row("upstream.attempt_timeout").source, Source::File(_, 3)));
}

#[test]
fn the_same_sources_give_the_same_settings() {
    let sources = toml("[retry]\nbase = \"1s\"\n");
    let twice = [loaded(&sources), loaded(&sources)];
    assert_eq!(twice[0].provenance, twice[1].provenance);
    assert_eq!(format!("{:?}", twice[0].settings), format!("{:?}", twice[1].settings));
    assert!(load(&sources.with_env("TIDEGATE_X", "1")).is_err());
}
