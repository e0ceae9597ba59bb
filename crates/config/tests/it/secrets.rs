//! No secret is ever printed, whatever is printed.

use tidegate_config::load;

use super::{env, loaded, with_file};

const SECRETS: [(&str, &str); 6] = [
    ("PIXIVFE_TOKEN", "zq81tokenAlpha,zq82tokenBeta"),
    ("TIDEGATE_ADMIN_KEY", "zq83admin"),
    ("TIDEGATE_CLIENT_KEYS", "alice=zq84client"),
    ("TIDEGATE_STORE_KEY", "zq85store"),
    ("TIDEGATE_PROXY", "http://me:zq86proxy@proxy:3128"),
    ("https_proxy", "http://me:zq87proxy@proxy:3128"),
];

#[test]
fn good_settings_print_no_secret() {
    let sources = env(&SECRETS).with_env("TIDEGATE_TOKEN_FILE", "tokens").with_toml(
        "t.toml",
        "[pool.b]\ntokens = [\"zq88pool\"]\n[[route]]\nprefix = \"/a/\"\nupstream = \"http://a\"\npool = \"b\"\nheaders = { x-key = \"zq89key\" }\n",
    );
    let sources = with_file(sources, "tokens", "name=zq80file\n");
    let loaded = loaded(&sources);
    let printed =
        format!("{loaded:?}\n{loaded:#?}\n{}\n{sources:?}\n{:?}", loaded.provenance, load(&sources));
    assert!(!printed.contains("zq8"), "{printed}");
}

#[test]
fn faults_and_notices_print_no_secret() {
    let bad = [
        ("PIXIVFE_TOKEN", "zq81 token, zq82;token, zq83\u{7}, zq84é"),
        ("TIDEGATE_TOKEN_FILE", "tokens"),
        ("TIDEGATE_ADMIN_KEY", "zq 8"),
        ("TIDEGATE_CLIENT_KEYS", "zq85, a=, b=zq86 x, c=zq87, c=zq88, d=zq87"),
        ("TIDEGATE_UPSTREAM", "https://me:zq89@host?key=zq80"),
        ("TIDEGATE_PROXY", "ftp://me:zq81/@proxy"),
        ("TIDEGATE_STORE", "redis://:zq82@host"),
        ("TIDEGATE_TOKENN", "zq83"),
        ("PIXIVFE_SECRET", "zq84"),
    ];
    let sources = env(&bad)
        .with_dotenv("zq85\nPIXIVFE_TOKEN='zq86\nTIDEGATE_KEY=zq87\n")
        .with_toml("t.toml", "[token]\ntokens = [5]\n[admin]\nkey = 5\nkeys = \"zq88\"\n[[route]]\nprefix = \"/a/\"\nheaders = { a = \"zq89\\n\" }\n");
    let sources = with_file(sources, "tokens", "zq81 zq82\n=zq83\n");
    let faults = load(&sources).unwrap_err();
    let printed = format!("{faults}\n{faults:?}");
    assert!(!printed.contains("zq8") && !printed.contains("zq 8"), "{printed}");
    assert!(faults.as_slice().len() > 12, "{printed}");
}

#[test]
fn toml_that_cannot_be_parsed_prints_no_secret() {
    for text in [
        "[token]\ntokens = [\"zq81\", zq82]\n",
        "[token]\ntokens = \"zq81\n",
        "[admin]\nkey = 'zq81\nzq82'\n",
        "zq81\n",
        "[admin]\nkey = zq81\n",
        "[admin]\nkey = \"zq81\"\nkey = \"zq82\"\n",
        "[admin]\nkey = \"zq81\\q\"\n",
        "[admin] zq81\n",
        "a = 12zq8\n",
        "a = 2024-13-41zq8\n",
    ] {
        let faults = load(&env(&[]).with_toml("t.toml", text)).unwrap_err();
        let printed = format!("{faults}\n{faults:?}");
        assert!(!printed.contains("zq8"), "{text}: {printed}");
    }
}
