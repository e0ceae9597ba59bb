//! Whatever stands in the sources: no panic, and a verdict.

use proptest::prelude::*;
use tidegate_config::{Purpose, Sources, load, load_for, settings_table};

use super::env;

/// Every variable of the catalogue.
fn names() -> Vec<String> {
    let table = settings_table();
    let names = table.split('`').filter(|part| part.starts_with("TIDEGATE_") || part.starts_with("PIXIVFE_"));
    names.map(str::to_owned).collect()
}

/// Texts that are nearly settings.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-+0-9.a-zµ:/@#=,!*\\[\\] ]{0,24}",
        ".{0,16}",
        "(http|https|redis|file|unix|cookie|header|bearer)?:?(//)?[a-z0-9.:/@?-]{0,16}",
        Just("0".to_owned()),
        Just("18446744073709551616".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_variables_make_it_panic(values in prop::collection::vec((0_usize..64, text()), 0..8)) {
        let names = names();
        let none = Sources { files: tidegate_config::Files::Memory(Default::default()), ..Sources::default() };
        let sources = values.into_iter().fold(none, |sources, (n, value)| {
            sources.with_env(names[n % names.len()].clone(), value)
        });
        for purpose in [Purpose::Serve, Purpose::Inspect] {
            if let Err(faults) = load_for(&sources, purpose) {
                prop_assert!(!faults.as_slice().is_empty());
                // Each fault is one line, whatever was written.
                prop_assert_eq!(faults.to_string().lines().count(), faults.as_slice().len(), "{}", faults);
            }
        }
    }

    #[test]
    fn no_file_makes_it_panic(
        section in "upstream|server|retry|token|pool\\.a|store|log|admin|x",
        key in "url|base|max|tokens|paths|limit|listen|file|credential|[a-z_]{1,8}",
        value in prop_oneof!["\"[ -~]{0,12}\"", "[0-9.eE_+-]{1,8}", "\\[[0-9\", a]{0,8}\\]", "\\{ ?(a = 1)? ?\\}", "true", ".{0,8}"],
        rest in "(\n\\[\\[(route|rule)\\]\\]\n(prefix|status|verdict|pool|headers) = [\"/a-z0-9{}=]{0,8}){0,3}",
    ) {
        let _ = load(&env(&[]).with_toml("t.toml", format!("[{section}]\n{key} = {value}{rest}\n")));
    }

    #[test]
    fn no_bytes_of_an_env_file_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = load(&env(&[]).with_dotenv(text));
    }
}
