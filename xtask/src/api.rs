//! The public interface of each library crate as text, `public-api.txt` beside its `Cargo.toml`: what changes there
//! changes for its users.
//!
//! Read from rustdoc's pages, all features on: every public item's declaration (with public fields, variants and a
//! trait's items), inherent functions, and the traits that are implemented with their associated types. Not covered:
//! auto traits, blanket implementations, and what is hidden from the docs. The pages are those of the toolchain in
//! `rust-toolchain.toml`; another may write a declaration in another way.

mod foreign;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use xshell::{Shell, cmd};

use crate::Outcome;

const CRATES: &[&str] = &["backoff-core", "config", "token-manager", "store", "api-client"];

/// Compares what is with what was written down.
pub(crate) fn check(shell: &Shell) -> Outcome {
    let mut changed = Vec::new();
    for Interface { name, text: now, .. } in extract(shell)? {
        let file = format!("crates/{name}/public-api.txt");
        let before = fs::read_to_string(shell.current_dir().join(&file)).unwrap_or_default();
        for line in differences(&before, &now) {
            changed.push(format!("{file}: {line}"));
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    let count = changed.len();
    let shown: String = changed.iter().take(40).fold(String::new(), |text, line| text + "\n" + line);
    Err(format!(
        "{count} lines of the public interface changed; if that is meant, `cargo xtask api` writes them down, and the \
         CHANGELOG says so{shown}"
    )
    .into())
}

/// Writes down what is.
pub(crate) fn write(shell: &Shell) -> Outcome {
    for Interface { name, text, .. } in extract(shell)? {
        fs::write(shell.current_dir().join(format!("crates/{name}/public-api.txt")), text)?;
    }
    Ok(())
}

/// What one crate shows.
struct Interface {
    name: &'static str,
    text: String,
    strangers: BTreeSet<String>,
}

/// The interface of each crate; none where one names what it may not.
fn extract(shell: &Shell) -> Result<Vec<Interface>, Box<dyn std::error::Error>> {
    let metadata = cmd!(shell, "cargo metadata --format-version 1 --no-deps").quiet().read()?;
    let target = metadata.split("\"target_directory\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let doc = Path::new(target.ok_or("cargo metadata names no target folder")?).join("doc");
    foreign::prepare(shell, &doc, CRATES)?;
    let packages = CRATES.iter().flat_map(|name| ["-p".to_owned(), format!("tidegate-{name}")]);
    cmd!(shell, "cargo doc --quiet --no-deps --all-features").args(packages).run()?;
    let interfaces: Vec<Interface> =
        CRATES.iter().map(|name| crate_interface(name, &doc)).collect::<std::io::Result<_>>()?;
    let strangers: Vec<String> = interfaces
        .iter()
        .flat_map(|Interface { name, strangers, .. }| {
            strangers.iter().map(move |one| format!("\n{name}: {one}"))
        })
        .collect();
    if strangers.is_empty() {
        Ok(interfaces)
    } else {
        Err(format!(
            "types of dependencies in public signatures (xtask/src/api/foreign.rs lists what may be):{}",
            strangers.concat()
        )
        .into())
    }
}

fn crate_interface(name: &'static str, doc: &Path) -> std::io::Result<Interface> {
    let folder = doc.join(format!("tidegate_{}", name.replace('-', "_")));
    let all = fs::read_to_string(folder.join("all.html"))?;
    // Pages of items that are gone stay in the folder; the list has those that are.
    let list = all.split_once("<h1>List of all items</h1>").map_or("", |(_, list)| list);
    let mut interface = Interface { name, text: String::new(), strangers: BTreeSet::new() };
    for link in list.split("<a href=\"").skip(1) {
        let page = link.split('"').next().unwrap_or_default();
        if page.ends_with(".html") && !page.starts_with("..") {
            let signatures = signatures(&fs::read_to_string(folder.join(page))?);
            interface.strangers.extend(foreign::strangers(name, page, &signatures.concat()));
            interface.text.push_str(&format!("# {}\n", page.trim_end_matches(".html")));
            interface.text.push_str(&item(&signatures));
            interface.text.push('\n');
        }
    }
    Ok(interface)
}

/// The signatures on one item's page, as HTML: its declaration first, if it has one.
fn signatures(page: &str) -> Vec<String> {
    let declaration = between(page, "<pre class=\"rust item-decl\">", "</pre>").unwrap_or_default();
    let end = ["id=\"synthetic-implementations\"", "id=\"blanket-implementations\"", "id=\"implementors\""];
    let end = end.iter().filter_map(|id| page.find(id)).min().unwrap_or(page.len());
    let (own, traits) = match page[..end].find("id=\"trait-implementations\"") {
        Some(at) => page[..end].split_at(at),
        None => (&page[..end], ""),
    };
    let own = own.split_once("id=\"implementations\"").map_or("", |(_, own)| own);
    let kept = |html: &&str| {
        let line = line(html);
        // pin-project-lite's own, which says nothing but `F: Unpin`.
        (line.starts_with("impl") || line.starts_with("type ")) && !line.contains("__Origin")
    };
    let all = headers(own).chain(headers(traits).filter(kept));
    std::iter::once(declaration).chain(all).map(str::to_owned).collect()
}

/// The signatures as text.
fn item(signatures: &[String]) -> String {
    let (declaration, rest) = match signatures.split_first() {
        Some((declaration, rest)) => (plain(declaration).trim_end().to_owned(), rest),
        None => (String::new(), signatures),
    };
    let declaration = if declaration.is_empty() { declaration } else { declaration + "\n" };
    rest.iter().fold(declaration, |text, html| format!("{text}    {}\n", line(html)))
}

fn line(html: &str) -> String {
    plain(html).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The headings of implementations and of what is in them.
fn headers(section: &str) -> impl Iterator<Item = &str> {
    section.split("class=\"code-header\">").skip(1).map(|rest| {
        let end = rest.find("</h3>").into_iter().chain(rest.find("</h4>")).min().unwrap_or(rest.len());
        &rest[..end]
    })
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    text.split_once(from)?.1.split_once(to).map(|(inside, _)| inside)
}

/// The text of a piece of HTML.
fn plain(html: &str) -> String {
    let mut text = String::new();
    for piece in html.replace("<div class=\"where", " <div class=\"where").split('<') {
        // Up to the first `<` there is no tag.
        text.push_str(
            piece.split_once('>').map_or(if text.is_empty() { piece } else { "" }, |(_, after)| after),
        );
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// Lines of the one text that are not in the other, each with its sign.
fn differences(before: &str, now: &str) -> Vec<String> {
    let missing = |from: &str, other: &str, sign: char| -> Vec<String> {
        let mut left: Vec<&str> = other.lines().collect();
        let lines = from.lines().filter(|line| match left.iter().position(|other| other == line) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        });
        lines.map(|line| format!("{sign} {}", line.trim())).collect()
    };
    let mut all = missing(before, now, '-');
    all.extend(missing(now, before, '+'));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(
        "<pre class=\"rust item-decl\"><code>pub struct Ratio(<span>/* private fields */</span>);</code></pre>",
        "<h2 id=\"implementations\"><section><h3 class=\"code-header\">impl <a href=\"x\">Ratio</a></h3></section>",
        "<h4 class=\"code-header\">pub const fn <a>of</a>(n: <a>u32</a>) -&gt; Self</h4>",
        "<h2 id=\"trait-implementations\"><h3 class=\"code-header\">impl Iterator for Ratio</h3>",
        "<h4 class=\"code-header\">type <a>Item</a> = u8</h4><h4 class=\"code-header\">fn next(&amp;mut self)</h4>",
        "<h2 id=\"synthetic-implementations\"><h3 class=\"code-header\">impl Send for Ratio</h3>",
    );

    #[test]
    fn a_page_is_read_without_what_every_type_has() {
        let expected = "pub struct Ratio(/* private fields */);\n    impl Ratio\n    pub const fn of(n: u32) -> Self\n    \
                        impl Iterator for Ratio\n    type Item = u8\n";
        assert_eq!(item(&signatures(PAGE)), expected);
    }

    #[test]
    fn lines_that_differ_are_told_with_their_sign() {
        assert_eq!(differences("a\nb\nb\n", "b\nc\n"), ["- a", "- b", "+ c"]);
        assert_eq!(differences("a\n", "a\n"), Vec::<String>::new());
    }
}
