//! PixivFE's own names, as its users have them.

use std::time::Duration;

use tidegate_config::{Listen, Preset, Strategy};

use super::{env, loaded, notices};

#[test]
fn a_pixivfe_env_file_works_as_it_is() {
    let text = "\u{feff}# PixivFE\r\nPIXIVFE_TOKEN=fir$t, \"second\", , third \r\nexport PIXIVFE_PORT = '8000'\r\n\
                PIXIVFE_HOST=0.0.0.0\r\nPIXIVFE_API_MAX_RETRIES=1\r\nPIXIVFE_API_BASE_TIMEOUT=10ms\r\n\
                PIXIVFE_API_MAX_BACKOFF_TIME=1s\r\nPIXIVFE_TOKEN_MAX_RETRIES=7\r\nPIXIVFE_BASE_TIMEOUT=2s\r\n\
                PIXIVFE_MAX_BACKOFF_TIME=2h\r\nPIXIVFE_TOKEN_LOAD_BALANCING=least-recently-used\r\n\
                PIXIVFE_ACCEPTLANGUAGE=ja,en;q=0.5\r\nPIXIVFE_PROXY_CHECK_ENABLED=false\r\n\
                PIXIVFE_CONFIGFILE=./config.yaml\r\nSOMEONE_ELSES=${x}\r\nsome-thing=1\r\n";
    let loaded = loaded(&env(&[]).with_dotenv(text));
    let settings = &loaded.settings;
    let pool = &settings.pools[0];
    assert_eq!(
        pool.tokens.iter().map(|token| token.value.expose()).collect::<Vec<_>>(),
        ["fir$t", "\"second\"", "third"]
    );
    assert_eq!(settings.server.listen.to_string(), "0.0.0.0:8000");
    assert_eq!((settings.retry.max_retries, settings.retry.schedule.base().as_millis()), (1, 10));
    let rests =
        (pool.cool_down.base, pool.cool_down.max, pool.cool_down.max_rest, pool.cool_down.max_retries);
    let hours = Duration::from_secs(2 * 3600);
    assert_eq!(rests, (Duration::from_secs(2), hours, hours, 7), "a cap above an hour still is the cap");
    assert_eq!((pool.strategy, settings.preset), (Strategy::LeastRecentlyUsed, Preset::Pixiv));
    let language = settings
        .routes
        .last()
        .unwrap()
        .headers
        .iter()
        .find(|header| header.name == "accept-language")
        .unwrap();
    assert_eq!(language.value.expose(), "ja,en;q=0.5");
    assert_eq!(
        notices(&loaded),
        "settings of PixivFE that mean nothing here are ignored: PIXIVFE_CONFIGFILE, PIXIVFE_PROXY_CHECK_ENABLED\n"
    );
}

#[test]
fn its_defaults_are_pixivfes() {
    let settings = loaded(&env(&[("PIXIVFE_TOKEN", "a")])).settings;
    assert_eq!(settings.server.listen.to_string(), "localhost:8282");
    let retry = &settings.retry;
    assert_eq!(
        (retry.max_retries, retry.schedule.base().as_millis(), retry.schedule.max().as_secs()),
        (3, 500, 8)
    );
    assert_eq!(settings.pools[0].cool_down, tidegate_backoff_core::CoolDown::default());
    assert_eq!(settings.upstream.url.origin(), "https://www.pixiv.net");
}

#[test]
fn where_to_listen_is_said_by_ours_then_the_socket_then_host_and_port() {
    let socket = ("PIXIVFE_UNIXSOCKET", "/run/p.sock");
    for (set, want, told) in [
        (&[("PIXIVFE_HOST", "::1"), ("PIXIVFE_PORT", "1")][..], "[::1]:1", ""),
        (&[("PIXIVFE_HOST", ""), ("PIXIVFE_PORT", "")], "localhost:8282", ""),
        (&[socket], "unix:/run/p.sock", ""),
        (
            &[socket, ("PIXIVFE_PORT", "1")],
            "unix:/run/p.sock",
            "not used, for PIXIVFE_UNIXSOCKET (environment) says where to listen: PIXIVFE_PORT\n",
        ),
        (
            &[("TIDEGATE_LISTEN", "127.0.0.1:9"), socket, ("PIXIVFE_PORT", "1")],
            "127.0.0.1:9",
            "not used, for TIDEGATE_LISTEN (environment) says where to listen: PIXIVFE_PORT, PIXIVFE_UNIXSOCKET\n",
        ),
    ] {
        let loaded = loaded(&env(set).with_env("PIXIVFE_TOKEN", "a"));
        assert_eq!(
            (loaded.settings.server.listen.to_string().as_str(), notices(&loaded).as_str()),
            (want, told)
        );
    }
    // For hosts where PixivFE shares the file: ours wins even from a weaker layer.
    let shared =
        env(&[("PIXIVFE_TOKEN", "a"), ("PIXIVFE_PORT", "1")]).with_dotenv("TIDEGATE_LISTEN=localhost:2\n");
    assert_eq!(loaded(&shared).settings.server.listen.to_string(), "localhost:2");
}

#[test]
fn a_sockets_permissions_are_pixivfes() {
    for (permissions, want) in [("", 0o666), ("rw-rw----", 0o660), ("0600", 0o600)] {
        let set = [
            ("PIXIVFE_TOKEN", "a"),
            ("PIXIVFE_UNIXSOCKET", "/x"),
            ("PIXIVFE_UNIXSOCKET_PERMISSIONS", permissions),
        ];
        let Listen::Unix { mode, .. } = loaded(&env(&set)).settings.server.listen else {
            panic!("no socket")
        };
        assert_eq!(mode, want, "{permissions}");
    }
    let sources = super::toml("[server]\nlisten = \"unix:/x\"\nsocket_permissions = 0o640\n");
    let Listen::Unix { mode, .. } = loaded(&sources).settings.server.listen else { panic!("no socket") };
    assert_eq!(mode, 0o640);
}
