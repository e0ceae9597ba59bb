use tidegate_backoff_core::CoolDown;

use super::{
    bounds::{Bound, settle_rests},
    pool_tokens,
    upstream::{UpstreamRead, client_credential},
};
use crate::{
    catalogue::{token as entry, upstream},
    fault::Source,
    reader::{Reader, Scope, TableScope},
    settings::{MaxRest, Pool, Route, Signing},
    sources::Files,
    tokens::is_name,
    toml_source::{self, Node},
};

/// The name of `[token]`.
const DEFAULT: &str = "default";

/// A pool, and whether something was wrong with what holds its tokens or its credential: then what is missing is not
/// told again.
pub(super) struct PoolRead {
    pub(super) pool: Pool,
    faulty: bool,
    /// Where the pool stands in the file.
    at: Option<Source>,
}

pub(super) fn read(reader: &mut Reader<'_>, upstream: &UpstreamRead, files: &Files) -> Vec<PoolRead> {
    let mut pools = vec![pool(reader, DEFAULT, None, upstream, files)];
    let Some(document) = &reader.layers.document else { return pools };
    let Some(Node::Table(named)) = toml_source::get(&document.root, "pool").map(|item| &item.node) else {
        return pools;
    };
    for (name, item) in named {
        let Node::Table(table) = &item.node else { continue };
        let scope = TableScope { name: format!("pool.{name}"), table, path: &document.path, line: item.line };
        if name == DEFAULT || name == "none" || !is_name(name) {
            reader.fault(
                scope.name.clone(),
                Some(scope.source()),
                if name == DEFAULT { "is the pool of [token]" } else { "is no name for a pool" },
                "give it another name, of letters, digits, _, - and .",
            );
        }
        pools.push(pool(reader, name, Some(&scope), upstream, files));
    }
    pools
}

fn pool(
    reader: &mut Reader<'_>,
    name: &str,
    scope: Option<&TableScope<'_>>,
    upstream: &UpstreamRead,
    files: &Files,
) -> PoolRead {
    let at = scope.map(TableScope::source);
    let place = scope.map_or(Scope::Main, Scope::Table);
    let own = scope.and_then(|_| reader.read_if_set(&upstream::CREDENTIAL, place));
    let (credential, credential_faulty) = match own {
        Some(own) => (own.value, own.faulty),
        None => (upstream.credential.value.clone(), upstream.credential.faulty),
    };
    let pool_tokens::Tokens { tokens, file, command, faulty: tokens_faulty } =
        pool_tokens::read(reader, name, place, credential.as_ref(), files);
    let refresh = reader.read_in(&entry::REFRESH, place);
    let methods = reader.read_or_say(&entry::METHODS, place, "all");
    let paths = reader.read_or_say(&entry::PATHS, place, "all");
    let strategy = reader.read_in(&entry::STRATEGY, place);
    let cool_down = cool_down(reader, place);
    let max_switches = reader.read_in(&entry::MAX_SWITCHES, place);
    let max_concurrency = reader.read_in(&entry::MAX_CONCURRENCY, place);
    let max_wait = reader.read_in(&entry::MAX_WAIT, place);
    let max_waiting = reader.read_in(&entry::MAX_WAITING, place);
    let scope = reader.read_in(&entry::SCOPE, place);
    let when_exhausted = reader.read_in(&entry::WHEN_EXHAUSTED, place);
    let limit = reader.read_in(&entry::LIMIT, place);
    let pacing = reader.read_in(&entry::PACING, place);
    let (allow, deny) = paths.get();
    let pool = Pool {
        name: name.to_owned(),
        tokens,
        file,
        command,
        refresh: refresh.get(),
        client_credential: client_credential(&upstream.client_credential, credential.as_ref()),
        credential,
        signing: Signing { methods: methods.get(), allow, deny },
        strategy: strategy.get(),
        when_exhausted: when_exhausted.get(),
        cool_down,
        max_switches: max_switches.get(),
        max_wait: max_wait.get(),
        max_waiting: max_waiting.get(),
        scope: scope.get(),
        max_concurrency: max_concurrency.get(),
        limit: limit.get(),
        pacing: pacing.get(),
    };
    PoolRead { pool, faulty: credential_faulty || tokens_faulty, at }
}

fn cool_down(reader: &mut Reader<'_>, place: Scope<'_>) -> CoolDown {
    let max_retries = reader.read_in(&entry::MAX_RETRIES, place).get();
    let mut base = Bound::read(reader, &entry::BASE, place);
    let mut max = Bound::read(reader, &entry::MAX, place);
    let (written, path) = (reader.read_in(&entry::MAX_REST, place), place.path(entry::MAX_REST.path));
    let as_max = matches!(written.value, Some(MaxRest::Max));
    let length = written.value.and_then(MaxRest::length);
    let mut max_rest = Bound::of(written.with(length), path);
    settle_rests(reader, &mut base, &mut max, &mut max_rest);
    let reject_rest = reader.read_in(&entry::REJECT_REST, place).get();
    if length.is_none() {
        // A cap above an hour that worked in PixivFE goes on working: only who sets `max_rest` can set it too short.
        let usual = CoolDown::default().max_rest;
        if as_max || usual < max.value() {
            max_rest.follow(reader, &max);
        } else {
            max_rest.take(reader, usual);
        }
    }
    CoolDown { base: base.value(), max: max.value(), max_rest: max_rest.value(), max_retries, reject_rest }
}

/// A pool that some route uses needs tokens and a credential.
pub(super) fn check_use(reader: &mut Reader<'_>, pools: &[PoolRead], routes: &[Route]) {
    for PoolRead { pool, faulty, at } in pools {
        let used = routes.iter().find(|route| route.pool.as_deref() == Some(pool.name.as_str()));
        if used.is_none() && at.is_some() {
            reader.notice(format!("pool {:?} is used by no route", pool.name));
        }
        let Some(route) = used.filter(|_| !faulty && !reader.layers.torn) else { continue };
        let section = if at.is_some() { format!("pool.{}", pool.name) } else { "token".to_owned() };
        if pool.tokens.is_empty() {
            let (name, mend) = match at {
                None => (
                    "PIXIVFE_TOKEN".to_owned(),
                    "write the tokens there (or in TIDEGATE_TOKEN) with commas between, or set TIDEGATE_TOKEN_FILE to a file of them".to_owned(),
                ),
                Some(_) => (format!("{section}.tokens"), format!("write them there, or name a file in {section}.file or a program in {section}.command")),
            };
            let what = format!("pool {:?} has no token, and the route {} needs one", pool.name, route.prefix);
            reader.incomplete(name, at.clone(), what, mend);
        }
        if pool.credential.is_none() {
            let (name, what) = match at {
                None => (
                    "TIDEGATE_CREDENTIAL".to_owned(),
                    "nothing says how a token is sent to this upstream".to_owned(),
                ),
                Some(_) => (
                    format!("{section}.credential"),
                    format!("nothing says how a token of pool {:?} is sent", pool.name),
                ),
            };
            reader.incomplete(name, at.clone(), what, "write cookie:NAME, bearer, header:NAME or query:NAME");
        }
    }
}
