use std::collections::HashMap;

use super::{pools::PoolRead, upstream::UpstreamRead};
use crate::{
    catalogue::{retry, route as entry, server, upstream},
    fault::Source,
    loaded::Row,
    parse,
    preset::{PIXIV_CONTENT, PIXIV_REFERER, Preset},
    problem::quoted,
    reader::{Reader, Scope, TableScope},
    secret::Secret,
    settings::{BaseUrl, Retry, Route, RouteHeader, Server},
    toml_source::{self, Node},
};

/// What holds for a route that says nothing else.
pub(super) struct General<'a> {
    pub(super) upstream: &'a UpstreamRead,
    pub(super) server: &'a Server,
    pub(super) retry: &'a Retry,
    pub(super) pools: &'a [PoolRead],
}

/// A route, where it comes from, and what else it says, for people.
struct Stated {
    route: Route,
    source: Source,
    more: String,
}

/// The file's routes, then those of the preset and the one for the rest, where the file has none of that prefix.
pub(super) fn read(reader: &mut Reader<'_>, general: &General<'_>) -> Vec<Route> {
    let mut routes = written(reader, general);
    let mut implied = vec![(own(reader, general, "/"), Source::Default)];
    if reader.preset == Some(Preset::Pixiv) {
        implied.extend(PIXIV_CONTENT.iter().filter_map(|(prefix, url, referer)| {
            let headers = vec![header("referer", referer)];
            // The table is written here, and a test reads all of it.
            let route = Route { headers, ..route(general, prefix, &parse::base_url(url).ok()?) };
            Some((route, Source::Preset(Preset::Pixiv)))
        }));
    }
    for (route, source) in implied {
        if !routes.iter().any(|known| known.route.prefix == route.prefix) {
            routes.push(Stated { route, source, more: String::new() });
        }
    }
    routes.sort_by_key(|stated| std::cmp::Reverse(stated.route.prefix.len()));
    for Stated { route, source, more } in &routes {
        let pool = route.pool.as_ref().map_or("no token".to_owned(), |pool| format!("pool {pool}"));
        let public = if route.public { ", public" } else { "" };
        let value = format!("{}{}, {pool}{public}{more}", route.upstream.origin(), route.rewrite);
        reader.row(format!("route {}", route.prefix), value, source.clone(), None);
    }
    routes.into_iter().map(|stated| stated.route).collect()
}

fn written(reader: &mut Reader<'_>, general: &General<'_>) -> Vec<Stated> {
    let mut routes = Vec::new();
    let Some(document) = &reader.layers.document else { return routes };
    let Some(Node::Array(items)) = toml_source::get(&document.root, "route").map(|item| &item.node) else {
        return routes;
    };
    let mut lines = HashMap::new();
    for (n, item) in items.iter().enumerate() {
        let Node::Table(table) = &item.node else { continue };
        let scope =
            TableScope { name: format!("route[{}]", n + 1), table, path: &document.path, line: item.line };
        let rows = reader.rows.len();
        let route = one(reader, general, &scope);
        // A route is one row.
        let said: Vec<_> = reader.rows.drain(rows..).collect();
        let Some(route) = route else { continue };
        match lines.insert(route.prefix.clone(), item.line) {
            None => routes.push(Stated { more: more(&said), route, source: scope.source() }),
            Some(earlier) => reader.fault(
                format!("{}.prefix", scope.name),
                Some(scope.source()),
                format!("{} has a route already, in line {earlier}", quoted(&route.prefix)),
                "write one route for each prefix",
            ),
        }
    }
    routes
}

/// What a route sets differently from the general settings.
fn more(said: &[Row]) -> String {
    said.iter()
        .filter_map(|row| Some((row.path.rsplit('.').next()?, &row.value)))
        .filter(|(key, _)| !["prefix", "upstream", "pool", "public"].contains(key))
        .map(|(key, value)| format!(", {key} {value}"))
        .collect()
}

fn one(reader: &mut Reader<'_>, general: &General<'_>, scope: &TableScope<'_>) -> Option<Route> {
    let place = Scope::Table(scope);
    let prefix = reader.read_in(&entry::PREFIX, place);
    if prefix.value.is_none() && !prefix.faulty {
        reader.fault(
            prefix.name.clone(),
            Some(scope.source()),
            "the route has no prefix",
            "write prefix = \"/path/\"",
        );
    }
    let upstream = reader.read_if_set(&entry::UPSTREAM, place);
    let foreign = upstream.is_some();
    let pool = pool(reader, general, scope, foreign);
    let text = prefix.value.unwrap_or_else(|| "/".to_owned());
    let mut route = match upstream.map(|upstream| upstream.value) {
        Some(Some(url)) => route(general, &text, &url),
        // Faulty, and told.
        Some(None) => own(reader, general, &text),
        None => own(reader, general, &text),
    };
    route.pool = pool;
    if foreign {
        route.headers.clear();
    }
    for header in headers(reader, scope) {
        route.headers.retain(|known| known.name != header.name);
        route.headers.push(header);
    }
    route.token_cookies &= route.pool.is_some();
    if let Some(public) = reader.read_if_set(&entry::PUBLIC, place) {
        let at = public.at();
        route.public = public.value == Some(true);
        if let (true, Some(pool)) = (route.public, &route.pool) {
            let what = format!("a public route cannot use the tokens of pool {pool:?}");
            reader.fault(public.name, at, what, "write pool = \"none\", or leave public out");
        }
    }
    set(reader.read_if_set(&upstream::ATTEMPT_TIMEOUT, place), &mut route.attempt_timeout);
    set(reader.read_if_set(&upstream::CONNECT_TIMEOUT, place), &mut route.connect_timeout);
    set(reader.read_if_set(&upstream::IDLE_TIMEOUT, place), &mut route.idle_timeout);
    set(reader.read_if_set(&server::REQUEST_TIMEOUT, place), &mut route.request_timeout);
    set(reader.read_if_set(&server::BODY_IDLE_TIMEOUT, place), &mut route.body_idle_timeout);
    set(reader.read_if_set(&retry::REPLAY_LIMIT, place), &mut route.replay_limit);
    set(reader.read_if_set(&retry::RETRY_UNSAFE, place), &mut route.retry_unsafe);
    set(reader.read_if_set(&retry::MAX_RETRIES, place), &mut route.max_retries);
    (!prefix.faulty).then_some(route)
}

fn set<T>(read: Option<crate::reader::Read<T>>, field: &mut T) {
    if let Some(value) = read.and_then(|read| read.value) {
        *field = value;
    }
}

/// The pool that is named; without a name the default one, but none for another upstream: a token goes to another
/// host only when somebody says so.
fn pool(
    reader: &mut Reader<'_>,
    general: &General<'_>,
    scope: &TableScope<'_>,
    foreign: bool,
) -> Option<String> {
    let Some(read) = reader.read_if_set(&entry::POOL, Scope::Table(scope)) else {
        return (!foreign).then(|| "default".to_owned());
    };
    let name = read.value.as_deref().filter(|name| *name != "none")?;
    if !general.pools.iter().any(|pool| pool.pool.name == name) {
        let known: Vec<_> = general.pools.iter().map(|pool| pool.pool.name.as_str()).collect();
        let (what, mend) = (
            format!("there is no pool {}", quoted(name)),
            format!("write none or one of: {}", known.join(", ")),
        );
        reader.fault(read.name.clone(), read.at(), what, mend);
    }
    Some(name.to_owned())
}

fn headers(reader: &mut Reader<'_>, scope: &TableScope<'_>) -> Vec<RouteHeader> {
    let Some(item) = toml_source::get(scope.table, "headers") else { return Vec::new() };
    let (name, source) =
        (format!("{}.headers", scope.name), |line| Some(Source::File(scope.path.to_owned(), line)));
    let Node::Table(table) = &item.node else {
        let what = format!("it is {}, which cannot stand here", item.node.kind());
        reader.fault(name, source(item.line), what, "write { name = \"value\" }");
        return Vec::new();
    };
    let mut headers = Vec::new();
    for (field, item) in table {
        let name = format!("{name}.{field}");
        let Node::Text(value) = &item.node else {
            let what = format!("it is {}, which cannot stand here", item.node.kind());
            reader.fault(name, source(item.line), what, "write it in quotes");
            continue;
        };
        // A value may be a key of the other host, so it is not repeated.
        match (parse::own_field_name(field), parse::field_value(value)) {
            (Ok(field), Ok(value)) => headers.push(RouteHeader { name: field, value: Secret::new(value) }),
            (Err(problem), _) => reader.fault(
                name,
                source(item.line),
                format!("{} {}", quoted(field), problem.what),
                problem.mend,
            ),
            (_, Err(problem)) => {
                reader.fault(name, source(item.line), format!("the value {}", problem.what), problem.mend);
            }
        }
    }
    headers
}

/// A route to the upstream itself: the path is kept below the upstream's base path, and what the preset sends with a
/// token goes along.
fn own(reader: &Reader<'_>, general: &General<'_>, prefix: &str) -> Route {
    let upstream = general.upstream;
    let base = upstream.url.path.trim_end_matches('/');
    let pixiv = reader.preset == Some(Preset::Pixiv);
    let mut headers = Vec::new();
    if pixiv {
        headers.push(header("referer", PIXIV_REFERER));
    }
    headers.extend(upstream.user_agent.as_deref().map(|value| header("user-agent", value)));
    headers.extend(upstream.accept_language.as_deref().map(|value| header("accept-language", value)));
    Route {
        pool: Some("default".to_owned()),
        headers,
        token_cookies: pixiv,
        rewrite: format!("{base}{prefix}"),
        ..route(general, prefix, &upstream.url)
    }
}

/// A route to `url`, without a token, with the general bounds.
fn route(general: &General<'_>, prefix: &str, url: &BaseUrl) -> Route {
    let base = url.path.trim_end_matches('/');
    Route {
        prefix: prefix.to_owned(),
        upstream: url.clone(),
        rewrite: if prefix.ends_with('/') { format!("{base}/") } else { base.to_owned() },
        pool: None,
        headers: Vec::new(),
        token_cookies: false,
        public: false,
        attempt_timeout: general.upstream.attempt_timeout.value.unwrap_or_default(),
        connect_timeout: general.upstream.connect_timeout,
        idle_timeout: general.upstream.idle_timeout,
        request_timeout: general.server.request_timeout,
        body_idle_timeout: general.server.body_idle_timeout,
        replay_limit: general.retry.replay_limit,
        retry_unsafe: general.retry.retry_unsafe,
        max_retries: general.retry.max_retries,
    }
}

fn header(name: &str, value: &str) -> RouteHeader {
    RouteHeader { name: name.to_owned(), value: Secret::new(value) }
}
