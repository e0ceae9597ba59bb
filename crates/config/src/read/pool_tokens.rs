use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use crate::{
    catalogue::token as entry,
    decode::counted,
    fault::Source,
    reader::{Read, Reader, Scope},
    settings::Credential,
    sources::Files,
    tokens::{TokenEntry, parse_lines},
};

/// A token, what to call it, and where it stands.
struct Found {
    token: TokenEntry,
    called: String,
    at: Source,
}

/// A pool's tokens and where they are from.
pub(super) struct Tokens {
    pub(super) tokens: Vec<TokenEntry>,
    pub(super) file: Option<PathBuf>,
    pub(super) command: Option<String>,
    /// Something was wrong, and told.
    pub(super) faulty: bool,
}

/// The tokens of a pool: the listed ones, then the file's, then the program's, each once.
pub(super) fn read(
    reader: &mut Reader<'_>,
    pool: &str,
    place: Scope<'_>,
    credential: Option<&Credential>,
    files: &Files,
) -> Tokens {
    let listed = reader.read_in(&entry::TOKENS, place);
    let named = reader.read_in(&entry::FILE, place);
    let program = reader.read_in(&entry::COMMAND, place);
    let mut faulty = listed.faulty || named.faulty || program.faulty;
    let (name, at) = (listed.name, listed.source);
    let tokens = listed.value.unwrap_or_default().into_iter().map(TokenEntry::new);
    let mut found: Vec<_> = (1..)
        .zip(tokens)
        .map(|(n, token)| Found { token, called: format!("token {n} of {name}"), at: at.clone() })
        .collect();
    let file = named.value.as_ref().map(|path| beside(path, &named.source));
    if let Some(path) = &file {
        let more = read_file(reader, &named, path, files);
        faulty |= more.is_none();
        let more = more.unwrap_or_default();
        let value = format!("{} {}", path.display(), counted(more.len(), "token"));
        reader.amend_row(&place.path(entry::FILE.path), value);
        found.extend(more);
    }
    if let Some(command) = &program.value {
        let more = run_program(reader, &program, command, files);
        faulty |= more.is_none();
        found.extend(more.unwrap_or_default());
    }
    let (mut values, mut names, mut tokens) = (HashSet::new(), HashSet::new(), Vec::new());
    for Found { token, called, at } in found {
        if !values.insert(token.value.clone()) {
            reader.notice(format!("{called} ({at}) is in pool {pool:?} already and left out"));
            continue;
        }
        if let Some(wrong) = unfit(&token, credential) {
            let mend = "use visible ASCII, for a cookie without commas and semicolons";
            reader.fault(called.clone(), Some(at.clone()), wrong, mend);
            faulty = true;
        }
        if token.name.as_ref().is_some_and(|name| !names.insert(name.clone())) {
            reader.fault(called, Some(at), "has the name of another token", "give each its own");
            faulty = true;
        }
        tokens.push(token);
    }
    Tokens { tokens, file, command: program.value, faulty }
}

/// The tokens of a file; `None` if something was wrong with it, and told.
fn read_file(
    reader: &mut Reader<'_>,
    named: &Read<PathBuf>,
    path: &Path,
    files: &Files,
) -> Option<Vec<Found>> {
    let bytes = match files.read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let what = format!("the token file {:?} cannot be read: {error}", path.display().to_string());
            reader.incomplete(named.name.clone(), named.at(), what, "check its path and permissions");
            return None;
        }
    };
    parse(reader, "the token file", path, bytes)
}

/// The tokens that a program prints; `None` if something was wrong with it, and told.
fn run_program(
    reader: &mut Reader<'_>,
    named: &Read<String>,
    command: &str,
    files: &Files,
) -> Option<Vec<Found>> {
    match files.run(command) {
        Ok(bytes) => parse(reader, "the output of token.command", Path::new("token.command"), bytes),
        Err(error) => {
            let what = format!("the program did not print tokens: {error}");
            reader.incomplete(named.name.clone(), named.at(), what, "run it by hand to see why");
            None
        }
    }
}

fn parse(reader: &mut Reader<'_>, called: &str, path: &Path, bytes: Vec<u8>) -> Option<Vec<Found>> {
    let at = |line| Source::TokenFile(path.to_owned(), line);
    let Ok(text) = String::from_utf8(bytes) else {
        reader.fault(called, Some(at(0)), "is not UTF-8", "write it in UTF-8");
        return None;
    };
    match parse_lines(&text) {
        Ok(tokens) => {
            if tokens.is_empty() {
                reader.notice(format!("{called} ({}) holds no token", path.display()));
            }
            let found = |(line, token)| Found { token, called: "a token".to_owned(), at: at(line) };
            Some(tokens.into_iter().map(found).collect())
        }
        Err(faults) => {
            for fault in faults {
                reader.fault("a token", Some(at(fault.line)), fault.what, fault.mend);
            }
            None
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
fn unfit(token: &TokenEntry, credential: Option<&Credential>) -> Option<&'static str> {
    let bad = |bad: fn(u8) -> bool| token.value.expose().bytes().any(bad);
    match credential? {
        Credential::Cookie(_) => bad(|byte| !byte.is_ascii_graphic() || byte == b';' || byte == b',')
            .then_some("holds a character that no cookie can carry"),
        Credential::Bearer | Credential::Header(_) => bad(|byte| !byte.is_ascii_graphic())
            .then_some("holds a blank or a character that no header can carry"),
        // Written with percent signs it can be anything.
        Credential::Query(_) => None,
    }
}
