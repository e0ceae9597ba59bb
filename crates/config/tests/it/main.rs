//! Settings from outside: what one writes, and what comes of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod anything;
mod durations;
mod extremes;
mod faults;
mod order;
mod pairs;
mod pixivfe;
mod pools;
mod presets;
mod process;
mod readme;
mod routes;
mod secrets;
mod shown;

use tidegate_config::{Files, Loaded, Sources, load};

/// Sources with these variables.
fn env(variables: &[(&str, &str)]) -> Sources {
    variables.iter().fold(Sources::default(), |sources, (name, value)| sources.with_env(name, value))
}

/// Sources with this TOML file and a token.
fn toml(text: &str) -> Sources {
    env(&[("PIXIVFE_TOKEN", "tokA,tokB")]).with_toml("tidegate.toml", text)
}

/// The same sources with one more file that settings may name.
fn with_file(mut sources: Sources, path: &str, text: &str) -> Sources {
    let mut files = match sources.files {
        Files::Memory(files) => files,
        Files::Disk => Default::default(),
    };
    files.insert(path.into(), text.into());
    sources.files = Files::Memory(files);
    sources
}

/// Settings that must be without a fault.
fn loaded(sources: &Sources) -> Loaded {
    match load(sources) {
        Ok(loaded) => loaded,
        Err(faults) => panic!("faults:\n{faults}"),
    }
}

/// The faults of settings that must have some.
fn faults(sources: &Sources) -> String {
    match load(sources) {
        Ok(_) => panic!("no fault"),
        Err(faults) => faults.to_string(),
    }
}

/// The notices, one a line.
fn notices(loaded: &Loaded) -> String {
    loaded.notices.iter().map(|notice| format!("{notice}\n")).collect()
}
