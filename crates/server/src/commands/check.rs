//! `tidegate check`: whether the gateway would start with these settings.

use std::path::PathBuf;
use std::process::ExitCode;

use tidegate_config::{Loaded, Sources, load};

use super::{report_faults, say};

/// 0 and a summary, or every fault and 2.
pub(crate) fn run(config: Option<PathBuf>) -> ExitCode {
    match load(&Sources::from_process(config)) {
        Ok(loaded) => {
            say(&summary(&loaded));
            ExitCode::SUCCESS
        }
        Err(faults) => report_faults(&faults),
    }
}

/// What is to know, and what the settings come to.
fn summary(loaded: &Loaded) -> String {
    let settings = &loaded.settings;
    let notices = loaded.notices.iter().map(|notice| format!("note: {notice}\n"));
    let pools = settings.pools_in_use().map(|pool| {
        let tokens = pool.tokens.len();
        format!("pool {}: {tokens} {}\n", pool.name, if tokens == 1 { "token" } else { "tokens" })
    });
    let admin = match &settings.admin {
        Some(admin) => format!("operators on {}\n", admin.listen),
        None => "no operators' listener\n".to_owned(),
    };
    let listen = &settings.server.listen;
    let said: String = notices.chain(pools).collect();
    format!("{said}{listen} -> {}\n{admin}the settings hold\n", settings.upstream.url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_hold_are_summed_up() {
        let sources =
            Sources::default().with_env("PIXIVFE_TOKEN", "zq81,zq82").with_env("PIXIVFE_PORT", "9000");
        assert_eq!(
            summary(&load(&sources).unwrap()),
            "pool default: 2 tokens\n\
             localhost:9000 -> https://www.pixiv.net\n\
             operators on 127.0.0.1:8283\n\
             the settings hold\n"
        );
    }
}
