//! `tidegate config`: the effective settings and where each came from.

use std::path::PathBuf;
use std::process::ExitCode;

use tidegate_config::{Purpose, Sources, load_for};

use super::{report_faults, say};

/// 0 and the table, secrets hidden; or every fault and 2.
pub(crate) fn run(config: Option<PathBuf>) -> ExitCode {
    match load_for(&Sources::from_process(config), Purpose::Inspect) {
        Ok(loaded) => {
            let notices: String = loaded.notices.iter().map(|notice| format!("note: {notice}\n")).collect();
            say(&format!("{}\n{notices}", loaded.provenance));
            ExitCode::SUCCESS
        }
        Err(faults) => report_faults(&faults),
    }
}
