//! Whose types a public interface names.
//!
//! A type of a dependency in a signature makes a new major version of that dependency one of ours. These are the ones
//! that users meet anyway; all else stays inside.

use std::collections::BTreeSet;
use std::path::Path;

use xshell::{Shell, cmd};

use crate::Outcome;

/// Our crate (or `*`), the other crate, and what of it: a page's name, or `*` for all.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("*", "std", "*"),
    ("*", "core", "*"),
    ("*", "alloc", "*"),
    ("*", "bytes", "*"),
    ("*", "http", "*"),
    ("*", "http_body", "*"),
    ("*", "tokio", "struct.Instant.html"),
    // What tower exports from elsewhere.
    ("*", "tower", "*"),
    ("*", "tower_layer", "*"),
    ("*", "tower_service", "*"),
    // Features of that name.
    ("backoff-core", "backoff", "*"),
    ("backoff-core", "serde", "*"),
    ("backoff-core", "serde_core", "*"),
    // The transport of that name alone.
    ("api-client", "reqwest", "*"),
];

/// Has rustdoc link every type of a dependency: it does so where that crate's docs are beside ours, and asks only for
/// their folder. Whatever was written without those links goes.
pub(super) fn prepare(shell: &Shell, doc: &Path, crates: &[&str]) -> Outcome {
    let mut is_new = false;
    for name in crates {
        let tree = cmd!(shell, "cargo tree --all-features --edges normal --prefix none -p tidegate-{name}");
        for line in tree.quiet().read()?.lines() {
            let package = line.split(' ').next().unwrap_or_default().replace('-', "_");
            let folder = doc.join(&package);
            if !package.is_empty() && !package.starts_with("tidegate_") && !folder.exists() {
                std::fs::create_dir_all(folder)?;
                is_new = true;
            }
        }
    }
    if is_new {
        for name in crates {
            let own = doc.join(format!("tidegate_{}", name.replace('-', "_")));
            if own.exists() {
                std::fs::remove_dir_all(own)?;
            }
        }
    }
    Ok(())
}

/// What the signatures on a page of our crate `name` may not name.
pub(super) fn strangers(name: &str, page: &str, signatures: &str) -> BTreeSet<String> {
    let links = signatures.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let foreign = links.filter_map(|link| {
        // A page lies as deep as its module; what is beside our crate's folder is another crate's.
        let depth = page.matches('/').count() + 1;
        let other = link.strip_prefix(&"../".repeat(depth))?;
        let (other, path) = other.split_once('/')?;
        let item = path.rsplit('/').next()?.split('#').next()?;
        (!other.starts_with("tidegate_")).then_some((other, item))
    });
    foreign
        .filter(|(other, item)| !is_allowed(name, page, other, item))
        .map(|(other, item)| format!("{page} names {other}'s {item}"))
        .collect()
}

fn is_allowed(name: &str, page: &str, other: &str, item: &str) -> bool {
    let in_its_place = other != "reqwest" || page.starts_with("transport/");
    in_its_place
        && ALLOWED.iter().any(|(ours, theirs, what)| {
            (*ours == "*" || *ours == name) && *theirs == other && (*what == "*" || *what == item)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_may_be_named() {
        let rows = [
            ("config", "struct.A.html", "../http/struct.Uri.html", 0),
            ("config", "struct.A.html", "../toml/struct.Table.html", 1),
            ("config", "a/struct.A.html", "../../toml/struct.Table.html", 1),
            // Our own, one folder up.
            ("config", "a/struct.A.html", "../toml/struct.Table.html", 0),
            ("config", "struct.A.html", "https://doc.rust-lang.org/std/time/struct.Duration.html", 0),
            ("config", "struct.A.html", "../tokio/time/struct.Instant.html#method.now", 0),
            ("config", "struct.A.html", "../tokio/time/struct.Sleep.html", 1),
            ("api-client", "transport/struct.A.html", "../../reqwest/struct.Client.html", 0),
            ("api-client", "struct.A.html", "../reqwest/struct.Client.html", 1),
            ("config", "struct.A.html", "../tidegate_backoff_core/struct.Ratio.html", 0),
        ];
        for (name, page, link, found) in rows {
            let signature = format!("pub fn <a href=\"#x\">x</a>() -> <a class=\"s\" href=\"{link}\">X</a>");
            assert_eq!(strangers(name, page, &signature).len(), found, "{name} {page} {link}");
        }
    }
}
