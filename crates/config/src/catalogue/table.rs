//! The table of settings for the README.

use super::{Default, all};

/// Every setting as a table in Markdown: TOML path, variables, default, what it does. (Pools, routes and rules are
/// tables of TOML alone and stand in the crate's README.)
///
/// ```
/// assert!(tidegate_config::settings_table().contains("| `retry.base` | `TIDEGATE_RETRY_BASE`, `PIXIVFE_API_BASE_TIMEOUT` | `500ms` |"));
/// ```
pub fn settings_table() -> String {
    let mut table = "| TOML | environment | default | |\n|---|---|---|---|\n".to_owned();
    for entry in all() {
        let path = entry.toml().map_or(String::new(), |_| format!("`{}`", entry.path()));
        let env: Vec<_> = entry.env().iter().map(|name| format!("`{name}`")).collect();
        let default = match entry.default() {
            Default::Fixed(text) => format!("`{text}`"),
            Default::Absent(text) => text.to_owned(),
        };
        table += &format!("| {path} | {} | {default} | {} |\n", env.join(", "), entry.help());
    }
    table
}
