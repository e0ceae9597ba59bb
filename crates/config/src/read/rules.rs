use crate::{
    catalogue::route as entry,
    fault::Source,
    parse,
    problem::Problem,
    reader::{Reader, Scope, TableScope},
    settings::{Rule, RuleVerdict, Statuses},
    toml_source::{self, Node},
};

/// How much of a body is looked at; a longer text is never found.
const BODY_PREFIX: usize = 64 << 10;

pub(super) fn read(reader: &mut Reader<'_>) -> Vec<Rule> {
    let mut rules = Vec::new();
    let Some(document) = &reader.layers.document else { return rules };
    let Some(Node::Array(items)) = toml_source::get(&document.root, "rule").map(|item| &item.node) else {
        return rules;
    };
    for (n, item) in items.iter().enumerate() {
        let Node::Table(table) = &item.node else { continue };
        let scope =
            TableScope { name: format!("rule[{}]", n + 1), table, path: &document.path, line: item.line };
        let rows = reader.rows.len();
        rules.push(one(reader, &scope));
        let shown: Vec<_> = reader.rows.drain(rows..).filter(|row| row.source != Source::Default).collect();
        let said: Vec<_> = shown
            .iter()
            .map(|row| format!("{} {}", row.path.rsplit('.').next().unwrap_or_default(), row.value))
            .collect();
        reader.row(scope.name.clone(), said.join(", "), scope.source(), None);
    }
    rules
}

fn one(reader: &mut Reader<'_>, scope: &TableScope<'_>) -> Rule {
    let place = Scope::Table(scope);
    let status = statuses(reader, scope);
    let header = reader.read_in(&entry::HEADER, place);
    let missing = reader.read_in(&entry::HEADER_MISSING, place);
    let body = reader.read_in(&entry::BODY_CONTAINS, place);
    let verdict = reader.read_in(&entry::VERDICT, place);
    if verdict.value.is_none() && !verdict.faulty {
        let mend =
            "write verdict = \"token_limited\", \"token_rejected\", \"upstream\", \"request\" or \"success\"";
        reader.fault(verdict.name.clone(), Some(scope.source()), "the rule has no verdict", mend);
    }
    let empty = empty_texts(reader, scope);
    let faulty = header.faulty || missing.faulty || body.faulty || empty;
    let any = header.value.is_some() || missing.value.is_some() || body.value.is_some();
    if !any && !faulty && toml_source::get(scope.table, "status").is_none() {
        let mend = "write status, header, header_missing or body_contains";
        reader.fault(scope.name.clone(), Some(scope.source()), "the rule would match every response", mend);
    }
    if body.value.as_ref().is_some_and(|text| text.len() > BODY_PREFIX) {
        reader.fault(
            body.name.clone(),
            body.at(),
            "the text is longer than the 64 KiB that are looked at",
            "write a shorter one",
        );
    }
    Rule {
        status,
        header: header.value,
        header_missing: missing.value,
        body_contains: body.value,
        verdict: verdict.value.unwrap_or(RuleVerdict::Request),
    }
}

/// Tells every empty text that is to be found in a response: elsewhere that is unset, but a rule would match by less
/// than is written.
fn empty_texts(reader: &mut Reader<'_>, scope: &TableScope<'_>) -> bool {
    let mut any = false;
    for (key, item) in scope.table {
        let looked_for = matches!(key.as_str(), "header" | "header_missing" | "body_contains");
        if looked_for && matches!(&item.node, Node::Text(text) if text.trim().is_empty()) {
            let at = Source::File(scope.path.to_owned(), item.line);
            let name = format!("{}.{key}", scope.name);
            reader.fault(name, Some(at), "it is empty", "write a text, or leave it out");
            any = true;
        }
    }
    any
}

/// A status, or an array of them: `429`, `"5xx"`, `"500-504"`.
fn statuses(reader: &mut Reader<'_>, scope: &TableScope<'_>) -> Statuses {
    let Some(item) = toml_source::get(scope.table, "status") else { return Statuses::default() };
    let items = match &item.node {
        Node::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    let (name, mut ranges) = (format!("{}.status", scope.name), Vec::new());
    for item in items {
        let at = Source::File(scope.path.to_owned(), item.line);
        let parsed = match &item.node {
            Node::Integer(number, _) => parse::status_number(*number).map(|range| vec![range]),
            Node::Text(text) => text.split(',').map(parse::status).collect(),
            node => Err(Problem::new("cannot stand here", "write a status such as 429, or \"5xx\"")
                .about(node.kind())),
        };
        match parsed {
            Ok(parsed) => ranges.extend(parsed),
            Err(problem) => {
                let subject = problem.subject.unwrap_or_default();
                reader.fault(&name, Some(at), format!("{subject} {}", problem.what), problem.mend);
            }
        }
    }
    if items.is_empty() {
        let at = Source::File(scope.path.to_owned(), item.line);
        reader.fault(&name, Some(at), "it is an empty array", "write a status such as 429, or leave it out");
    }
    let shown: Vec<_> =
        ranges.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    reader.row(name, shown.join(", "), scope.source(), None);
    Statuses(ranges)
}
