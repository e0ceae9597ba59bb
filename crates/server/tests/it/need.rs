//! Tools of the system that a test cannot do without.

use std::io::Write as _;
use std::path::PathBuf;

/// Where `tools` are, if all are there. Without one the test `what` is skipped, with a line that says so; with
/// `CI=true` it fails instead.
pub(crate) fn tools<const N: usize>(what: &str, tools: [&str; N]) -> Option<[PathBuf; N]> {
    let variable = |name| {
        #[expect(clippy::disallowed_methods, reason = "a test's own surroundings are no setting")]
        std::env::var_os(name)
    };
    let folders = variable("PATH").unwrap_or_default();
    let found = tools.map(|tool| {
        std::env::split_paths(&folders).map(|folder| folder.join(tool)).find(|path| path.is_file())
    });
    let missing: Vec<_> =
        tools.iter().zip(&found).filter(|(_, path)| path.is_none()).map(|(tool, _)| *tool).collect();
    if missing.is_empty() {
        return Some(found.map(Option::unwrap));
    }
    let said = format!("{what}: {} is not installed", missing.join(" and "));
    assert!(variable("CI").is_none_or(|ci| ci != "true"), "{said}, and with CI=true it has to be");
    // Past the capture of the harness, or nobody would know.
    std::io::stderr().write_all(format!("\nSKIPPED {said}\n").as_bytes()).unwrap();
    None
}
