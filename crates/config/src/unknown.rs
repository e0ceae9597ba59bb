//! Names that mean nothing: a fault for ours, with the nearest that does; a line for PixivFE's others.

use std::collections::BTreeSet;

use crate::{
    catalogue::{self, Known, other, route, token},
    fault::{Fault, Source},
    reader::Reader,
    toml_source::{Document, Item, Node, Table},
};

/// Tells all unknown names of all sources.
pub(crate) fn check(reader: &mut Reader<'_>) {
    check_variables(reader);
    let layers = reader.layers;
    if let Some(document) = &layers.document {
        Keys { document, faults: &mut reader.faults }.check();
    }
}

fn check_variables(reader: &mut Reader<'_>) {
    let known: BTreeSet<_> = catalogue::all().flat_map(|entry| entry.env().iter().copied()).collect();
    let (mut faults, mut ignored) = (Vec::new(), BTreeSet::new());
    for (name, value, source) in reader.layers.variables() {
        if known.contains(name) || is_kubernetes(name, value) {
            continue;
        }
        if name.starts_with("PIXIVFE_") {
            ignored.insert(name.to_owned());
        } else if name.starts_with("TIDEGATE_") {
            let mend = nearest_variable(name, &known)
                .map_or("take it away; `tidegate config` shows all names".to_owned(), |known| {
                    format!("did you mean {known}?")
                });
            faults.push(Fault {
                name: name.to_owned(),
                at: Some(source),
                what: "there is no such setting".to_owned(),
                mend,
            });
        }
    }
    reader.faults.extend(faults);
    if !ignored.is_empty() {
        let names: Vec<_> = ignored.into_iter().collect();
        reader
            .notice(format!("settings of PixivFE that mean nothing here are ignored: {}", names.join(", ")));
    }
}

/// What Kubernetes puts into each pod's environment for a Service named `tidegate`, or `tidegate-something`: for the
/// latter only what no setting's name or value looks like.
fn is_kubernetes(name: &str, value: &str) -> bool {
    let Some(name) = name.strip_prefix("TIDEGATE_") else { return false };
    if name == "PORT" || name.starts_with("PORT_") || name.starts_with("SERVICE_") {
        return true;
    }
    let link = name.ends_with("_PORT")
        && ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    let part = ["_TCP", "_UDP", "_SCTP"].iter().any(|protocol| {
        let ends = ["", "_ADDR", "_PORT", "_PROTO"];
        ends.iter().any(|end| {
            let number = name
                .strip_suffix(end)
                .and_then(|name| name.strip_suffix(protocol))
                .and_then(|name| name.rsplit_once("_PORT_"));
            number.is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
        })
    });
    link || part
        || name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
}

/// The variable that was probably meant: the one of the TOML path or of PixivFE's name that the name spells, else the
/// most alike.
fn nearest_variable(name: &str, known: &BTreeSet<&'static str>) -> Option<&'static str> {
    let rest = name.strip_prefix("TIDEGATE_")?;
    let spelled = catalogue::all().find(|entry| {
        entry.path().to_uppercase().replace('.', "_") == rest
            || entry.env().iter().any(|known| known.strip_prefix("PIXIVFE_") == Some(rest))
    });
    let ours = known.iter().copied().filter(|known| known.starts_with("TIDEGATE_"));
    spelled.and_then(|entry| entry.env().first().copied()).or_else(|| nearest(name, "TIDEGATE_".len(), ours))
}

/// The most alike of the names, from byte `skip` on, if one is so near that it was probably meant.
fn nearest<'n>(name: &str, skip: usize, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.get(skip..).unwrap_or(name).to_lowercase();
    known
        .filter_map(|known| {
            let short = known.get(skip..).unwrap_or(known).to_lowercase();
            let far = strsim::damerau_levenshtein(&name, &short);
            let longer = name.chars().count().max(short.chars().count());
            (far * 3 <= longer || is_part(&name, &short)).then_some((far, known))
        })
        .min_by_key(|(far, _)| *far)
        .map(|(_, known)| known)
}

/// Whether one name is whole words at the begin or the end of the other, and at least half of it: `proxy_url`, `shutdown`.
fn is_part(a: &str, b: &str) -> bool {
    let (part, whole) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let begins = whole.strip_prefix(part).is_some_and(|rest| rest.starts_with('_'));
    let ends = whole.strip_suffix(part).is_some_and(|rest| rest.ends_with('_'));
    !part.is_empty() && part.len() * 2 >= whole.len() && (begins || ends)
}

/// Keys that people bring from PixivFE's names, and what they are here.
const SYNONYMS: [(&str, &str); 6] = [
    ("base_timeout", "base"),
    ("max_backoff_time", "max"),
    ("max_backoff", "max"),
    ("load_balancing", "strategy"),
    ("token", "tokens"),
    ("values", "tokens"),
];

struct Keys<'a> {
    document: &'a Document,
    faults: &'a mut Vec<Fault>,
}

impl Keys<'_> {
    fn check(&mut self) {
        let document = self.document;
        let mut sections: BTreeSet<&str> =
            catalogue::all().filter_map(|entry| Some(entry.toml()?.0)).collect();
        sections.remove("");
        let single: BTreeSet<&str> = catalogue::all()
            .filter_map(|entry| entry.toml().filter(|(section, _)| section.is_empty()).map(|(_, key)| key))
            .collect();
        for (key, item) in &document.root {
            match (key.as_str(), &item.node) {
                ("pool", Node::Table(pools)) => self.pools(pools),
                ("route", Node::Array(items)) => self.array(key, items, route::ROUTE, &["headers"]),
                ("rule", Node::Array(items)) => self.array(key, items, route::RULE, &["status"]),
                (section, Node::Table(table)) if sections.contains(section) => self.section(section, table),
                ("pool", node) => self.wrong_kind(key, item.line, node, "write tables [pool.NAME]"),
                ("route" | "rule", node) => {
                    self.wrong_kind(key, item.line, node, &format!("write tables [[{key}]]"));
                }
                (section, node) if sections.contains(section) => {
                    self.wrong_kind(key, item.line, node, &format!("write a table [{section}]"));
                }
                (key, _) if single.contains(key) => {}
                (key, _) => {
                    let names = sections
                        .iter()
                        .copied()
                        .chain(single.iter().copied())
                        .chain(["pool", "route", "rule"]);
                    let elsewhere =
                        catalogue::all().find(|entry| entry.toml().is_some_and(|(_, known)| known == key));
                    let meant = elsewhere
                        .map(|entry| entry.path().to_owned())
                        .or_else(|| nearest(key, 0, names).map(str::to_owned));
                    self.unknown(key.to_owned(), item.line, meant);
                }
            }
        }
    }

    fn section(&mut self, section: &str, table: &Table) {
        let own: Vec<&str> = catalogue::all()
            .filter_map(|entry| entry.toml().filter(|(known, _)| *known == section).map(|(_, key)| key))
            .chain(
                (section == "token")
                    .then(|| other::TOKEN_REPLICAS.path().rsplit('.').next().unwrap_or_default()),
            )
            .collect();
        self.keys(section, table, &own);
    }

    fn pools(&mut self, pools: &Table) {
        let mut own = keys_of(token::ALL);
        own.push("credential");
        for (name, item) in pools {
            match &item.node {
                Node::Table(table) => self.keys(&format!("pool.{name}"), table, &own),
                node => self.wrong_kind(
                    &format!("pool.{name}"),
                    item.line,
                    node,
                    &format!("write a table [pool.{name}]"),
                ),
            }
        }
    }

    fn array(&mut self, name: &str, items: &[Item], known: &[&dyn Known], more: &[&'static str]) {
        let mut own = keys_of(known);
        own.extend(more);
        for (n, item) in items.iter().enumerate() {
            let name = format!("{name}[{}]", n + 1);
            match &item.node {
                Node::Table(table) => self.keys(&name, table, &own),
                node => self.wrong_kind(&name, item.line, node, "write tables"),
            }
        }
    }

    fn keys(&mut self, section: &str, table: &Table, known: &[&str]) {
        for (key, item) in table {
            if known.contains(&key.as_str()) {
                continue;
            }
            let synonym =
                SYNONYMS.iter().find(|(name, own)| name == key && known.contains(own)).map(|(_, own)| *own);
            let here = synonym
                .or_else(|| nearest(key, 0, known.iter().copied()))
                .map(|key| format!("{section}.{key}"));
            // The very key in another section is meant before one that is merely alike here.
            let elsewhere =
                catalogue::all().find(|entry| entry.toml().is_some_and(|(_, known)| known == key));
            let meant = match (synonym, elsewhere) {
                (None, Some(entry)) => Some(entry.path().to_owned()),
                _ => here,
            };
            self.unknown(format!("{section}.{key}"), item.line, meant);
        }
    }

    fn unknown(&mut self, name: String, line: usize, meant: Option<String>) {
        let mend = meant.map_or("take it away; `tidegate config` shows all names".to_owned(), |meant| {
            format!("did you mean {meant}?")
        });
        self.tell(name, line, "there is no such setting".to_owned(), mend);
    }

    fn wrong_kind(&mut self, name: &str, line: usize, node: &Node, mend: &str) {
        self.tell(
            name.to_owned(),
            line,
            format!("it is {}, which cannot stand here", node.kind()),
            mend.to_owned(),
        );
    }

    fn tell(&mut self, name: String, line: usize, what: String, mend: String) {
        self.faults.push(Fault {
            name,
            at: Some(Source::File(self.document.path.clone(), line)),
            what,
            mend,
        });
    }
}

fn keys_of(known: &[&dyn Known]) -> Vec<&'static str> {
    known.iter().map(|entry| entry.path().rsplit('.').next().unwrap_or_default()).collect()
}
