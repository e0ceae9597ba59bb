use std::path::{Path, PathBuf};

use tidegate_backoff_core::CoolDown;

use super::{
    in_order,
    upstream::{UpstreamRead, client_credential},
};
use crate::{
    catalogue::{token as entry, upstream},
    duration::show_duration,
    fault::Source,
    reader::{Read, Reader, Scope, TableScope, counted},
    settings::{Credential, Pool, Route, Signing},
    sources::Files,
    tokens::{TokenEntry, is_name, parse_token_file},
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
    let (tokens, file, tokens_faulty) = tokens(reader, name, place, credential.as_ref(), files);
    let methods = reader.read_in(&entry::METHODS, place);
    let paths = reader.read_in(&entry::PATHS, place);
    let strategy = reader.read_in(&entry::STRATEGY, place);
    let cool_down = cool_down(reader, place);
    let max_switches = reader.read_in(&entry::MAX_SWITCHES, place);
    let max_concurrency = reader.read_in(&entry::MAX_CONCURRENCY, place);
    let max_wait = reader.read_in(&entry::MAX_WAIT, place);
    let when_exhausted = reader.read_in(&entry::WHEN_EXHAUSTED, place);
    let limit = reader.read_in(&entry::LIMIT, place);
    let pacing = reader.read_in(&entry::PACING, place);
    let (allow, deny) = paths.get();
    let pool = Pool {
        name: name.to_owned(),
        tokens,
        file,
        client_credential: client_credential(&upstream.client_credential, credential.as_ref()),
        credential,
        signing: Signing { methods: methods.get(), allow, deny },
        strategy: strategy.get(),
        when_exhausted: when_exhausted.get(),
        cool_down,
        max_switches: max_switches.get(),
        max_wait: max_wait.get(),
        max_concurrency: max_concurrency.get(),
        limit: limit.get(),
        pacing: pacing.get(),
    };
    PoolRead { pool, faulty: credential_faulty || tokens_faulty, at }
}

fn cool_down(reader: &mut Reader<'_>, place: Scope<'_>) -> CoolDown {
    let max_retries = reader.read_in(&entry::MAX_RETRIES, place).get();
    let (base, max) = (reader.read_in(&entry::BASE, place), reader.read_in(&entry::MAX, place));
    in_order(reader, &base, &max);
    let max_rest = reader.read_in(&entry::MAX_REST, place);
    in_order(reader, &max, &max_rest);
    let reject_rest = reader.read_in(&entry::REJECT_REST, place).get();
    let (base, max) = (base.get(), max.get());
    // A cap above an hour that worked in PixivFE goes on working: only who sets `max_rest` can set it too short.
    let rest = max_rest.value.unwrap_or(CoolDown::default().max_rest.max(max));
    if max_rest.value.is_none() {
        reader.amend_row(&place.path(entry::MAX_REST.path), show_duration(rest));
    }
    CoolDown { base, max, max_rest: rest, max_retries, reject_rest }
}

/// The listed tokens, then the file's, each once; the file; whether something was wrong.
fn tokens(
    reader: &mut Reader<'_>,
    pool: &str,
    place: Scope<'_>,
    credential: Option<&Credential>,
    files: &Files,
) -> (Vec<TokenEntry>, Option<PathBuf>, bool) {
    let listed = reader.read_in(&entry::TOKENS, place);
    let named = reader.read_in(&entry::FILE, place);
    let mut faulty = listed.faulty || named.faulty;
    let (name, at) = (listed.name.clone(), listed.at());
    let mut found: Vec<(TokenEntry, String, Option<Source>)> = Vec::new();
    for (n, token) in listed.value.unwrap_or_default().into_iter().enumerate() {
        found.push((TokenEntry::new(token), format!("token {} of {name}", n + 1), at.clone()));
    }
    let file = named.value.as_ref().map(|path| beside(path, &named.source));
    if let Some(path) = &file {
        let before = found.len();
        faulty |= !read_file(reader, &named, path, files, &mut found);
        reader.amend_row(
            &place.path(entry::FILE.path),
            format!("{} {}", path.display(), counted(found.len() - before, "token")),
        );
    }
    let mut tokens: Vec<TokenEntry> = Vec::new();
    for (token, what, at) in found {
        if tokens.iter().any(|known| known.value == token.value) {
            reader.notice(format!("{what} is in pool {pool:?} already and left out"));
            continue;
        }
        if let Some(same) =
            token.name.as_ref().filter(|name| tokens.iter().any(|known| known.name.as_ref() == Some(name)))
        {
            reader.fault(
                what.clone(),
                at.clone(),
                format!("has the name {same:?} of another token"),
                "give each its own",
            );
            faulty = true;
        }
        if let Some((wrong, mend)) = unfit(&token, credential) {
            reader.fault(what, at, wrong, mend);
            faulty = true;
        }
        tokens.push(token);
    }
    (tokens, file, faulty)
}

/// Reads a token file; false if something was wrong with it.
fn read_file(
    reader: &mut Reader<'_>,
    named: &Read<PathBuf>,
    path: &Path,
    files: &Files,
    found: &mut Vec<(TokenEntry, String, Option<Source>)>,
) -> bool {
    let bytes = match files.read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let what = format!("the token file {:?} cannot be read: {error}", path.display().to_string());
            reader.incomplete(named.name.clone(), named.at(), what, "check its path and permissions");
            return false;
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        reader.fault(
            "the token file",
            Some(Source::TokenFile(path.to_owned(), 0)),
            "is not UTF-8",
            "write it in UTF-8",
        );
        return false;
    };
    match parse_token_file(&text) {
        Ok(tokens) => {
            if tokens.is_empty() {
                reader.notice(format!("the token file {} holds no token", path.display()));
            }
            for (n, token) in tokens.into_iter().enumerate() {
                let source = Some(Source::TokenFile(path.to_owned(), 0));
                found.push((token, format!("token {} of the token file", n + 1), source));
            }
            true
        }
        Err(faults) => {
            for fault in faults {
                reader.fault(
                    "a token",
                    Some(Source::TokenFile(path.to_owned(), fault.line)),
                    fault.what,
                    fault.mend,
                );
            }
            false
        }
    }
}

/// A path in the TOML file is beside that file, another one in the working directory.
fn beside(path: &Path, source: &Source) -> PathBuf {
    match source {
        Source::File(toml, _) => toml.parent().map_or(path.to_owned(), |folder| folder.join(path)),
        _ => path.to_owned(),
    }
}

/// Why a token cannot be sent where the credential has it.
fn unfit(token: &TokenEntry, credential: Option<&Credential>) -> Option<(&'static str, &'static str)> {
    let value = token.value.expose();
    match credential? {
        Credential::Query(_) => None,
        Credential::Cookie(_)
            if value.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b';' || byte == b',') =>
        {
            Some((
                "holds a character that no cookie can carry",
                "use visible ASCII without blanks, commas and semicolons",
            ))
        }
        Credential::Bearer | Credential::Header(_) if !value.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Some(("holds a blank or a character that no header can carry", "use visible ASCII only"))
        }
        _ => None,
    }
}

/// A pool that some route uses needs tokens and a credential.
pub(super) fn check_use(reader: &mut Reader<'_>, pools: &[PoolRead], routes: &[Route]) {
    for PoolRead { pool, faulty, at } in pools {
        let used = routes.iter().find(|route| route.pool.as_deref() == Some(pool.name.as_str()));
        let Some(route) = used.filter(|_| !faulty && !reader.layers.torn) else { continue };
        let section = if at.is_some() { format!("pool.{}", pool.name) } else { "token".to_owned() };
        if pool.tokens.is_empty() {
            let (name, mend) = match at {
                None => (
                    "PIXIVFE_TOKEN".to_owned(),
                    "write the tokens there (or in TIDEGATE_TOKEN) with commas between, or set TIDEGATE_TOKEN_FILE to a file of them".to_owned(),
                ),
                Some(_) => (format!("{section}.tokens"), format!("write them there, or name a file in {section}.file")),
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
