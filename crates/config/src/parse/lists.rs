//! Settings that are lists. A text is split at its commas before it gets here; blanks are trimmed, empty parts dropped.

use std::{collections::HashSet, num::NonZeroU32};

use super::header::is_token;
use crate::{
    problem::{Problem, quoted},
    secret::Secret,
    settings::{ClientKey, ClientRate, Network},
};

/// Turns each part, and keeps all that is wrong.
fn each<T>(
    parts: &[String],
    parse: impl Fn(usize, &str) -> Result<T, Problem>,
) -> Result<Vec<T>, Vec<Problem>> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for (n, part) in parts.iter().enumerate() {
        match parse(n + 1, part) {
            Ok(value) => good.push(value),
            Err(problem) => bad.push(problem),
        }
    }
    if bad.is_empty() { Ok(good) } else { Err(bad) }
}

/// HTTP methods; `*` stands for all, which is the empty list.
pub(crate) fn methods(parts: &[String]) -> Result<Vec<String>, Vec<Problem>> {
    if parts == ["*"] {
        return Ok(Vec::new());
    }
    not_empty(parts)?;
    each(parts, |_, part| match part {
        part if is_token(part) && part != "*" => Ok(part.to_ascii_uppercase()),
        part => {
            Err(Problem::new("is no method of HTTP", "write GET, HEAD, ... or * for all").about(quoted(part)))
        }
    })
}

/// What a signed path begins with, and (after `!`) what it must not begin with; `*` stands for anything.
pub(crate) fn paths(parts: &[String]) -> Result<(Vec<String>, Vec<String>), Vec<Problem>> {
    not_empty(parts)?;
    let parts = each(parts, |_, part| {
        let (deny, path) = part.strip_prefix('!').map_or((false, part), |path| (true, path));
        if path == "*" && !deny {
            return Ok((deny, "/".to_owned()));
        }
        path_prefix(path).map(|path| (deny, path)).map_err(|problem| problem.about(quoted(part)))
    })?;
    let only =
        |wanted| parts.iter().filter(|(deny, _)| *deny == wanted).map(|(_, path)| path.clone()).collect();
    Ok((only(false), only(true)))
}

/// A list that is written and empty could be meant for nothing as well as for everything.
fn not_empty(parts: &[String]) -> Result<(), Vec<Problem>> {
    if parts.is_empty() {
        return Err(vec![
            Problem::new("the list is empty", "write * for everything, or leave it out").about(""),
        ]);
    }
    Ok(())
}

/// What a path begins with: `/` and characters that a path can hold.
pub(crate) fn path_prefix(text: &str) -> Result<String, Problem> {
    if !text.starts_with('/') {
        return Err(Problem::new("does not begin with a slash", "write a path such as /api/"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic() && !br"?#\".contains(&byte)) {
        return Err(Problem::new("holds a character that no path can hold", "write it with percent signs"));
    }
    if has_dot_segment(text) {
        return Err(Problem::new(
            "has dot segments, which no request may have",
            "write the path that they come to",
        ));
    }
    Ok(text.to_owned())
}

/// Whether a segment is `.` or `..`, plain or with percent signs.
pub(super) fn has_dot_segment(path: &str) -> bool {
    path.split('/')
        .any(|segment| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | ".."))
}

/// Networks, or single addresses.
pub(crate) fn networks(parts: &[String]) -> Result<Vec<Network>, Vec<Problem>> {
    each(parts, |_, part| {
        part.parse().map_err(|_| {
            Problem::new("is no network", "write one such as 10.0.0.0/8, fd00::/8 or 192.0.2.1")
                .about(quoted(part))
        })
    })
}

/// `name=key`, then ` rate=10/20` if wanted. Names and keys are each there once.
pub(crate) fn client_keys(parts: &[String]) -> Result<Vec<ClientKey>, Vec<Problem>> {
    let mut keys = each(parts, |n, part| {
        let problem = |what: &str, mend: &str| Problem::new(format!("client key {n} {what}"), mend);
        // A key holds no blank, so what stands after one is something else.
        let (part, rate) = match part.trim().rsplit_once(" rate=") {
            Some((part, rate)) => (part, Some(client_rate(rate).ok_or_else(|| problem(RATE.0, RATE.1))?)),
            None => (part, None),
        };
        let (name, key) = part.split_once('=').ok_or_else(|| problem("has no name", "write name=key"))?;
        let (name, key) = (name.trim(), key.trim());
        if !super::super::tokens::is_name(name) {
            return Err(problem(
                "has a name with other characters than letters, digits, _, - and .",
                "write name=key",
            ));
        }
        if key.is_empty() {
            return Err(problem("is empty", "write name=key"));
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(problem(
                "holds a blank or a character that no header can carry",
                "use visible ASCII only",
            ));
        }
        Ok(ClientKey { name: name.to_owned(), key: Secret::new(key), rate })
    })?;
    let (mut names, mut values, mut bad) = (HashSet::new(), HashSet::new(), Vec::new());
    for (n, key) in keys.iter().enumerate() {
        let n = n + 1;
        if !names.insert(&key.name) {
            bad.push(Problem::new(
                format!("client key {n} has the name of another"),
                "give each client its own name",
            ));
        } else if !values.insert(&key.key) {
            bad.push(Problem::new(
                format!("client key {n} is the same as another's"),
                "give each client its own key",
            ));
        }
    }
    if bad.is_empty() { Ok(std::mem::take(&mut keys)) } else { Err(bad) }
}

const RATE: (&str, &str) = (
    "has a rate that is none",
    "write rate=10/20 for 10 requests a second and 20 at once, both from 1 to 1000000",
);

/// `10/20`, or `10` for as many at once as a second.
fn client_rate(text: &str) -> Option<ClientRate> {
    let number = |text: &str| {
        let number = text.trim().parse::<NonZeroU32>().ok()?;
        (number.get() <= 1_000_000).then_some(number)
    };
    let (per_second, burst) = text.split_once('/').unwrap_or((text, text));
    Some(ClientRate { per_second: number(per_second)?, burst: number(burst)? })
}

/// Tokens, literal.
pub(crate) fn tokens(parts: &[String]) -> Result<Vec<Secret>, Vec<Problem>> {
    each(parts, |n, part| {
        if part.contains(char::is_control) {
            return Err(Problem::new(
                format!("token {n} holds a control character, such as a line break"),
                "write tokens with commas between, in one line",
            ));
        }
        Ok(Secret::new(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn all_that_is_wrong_in_a_list_is_told() {
        let problems = |found: Result<_, Vec<Problem>>| found.map(|_: Vec<Network>| ()).unwrap_err().len();
        assert_eq!(problems(networks(&parts("10.0.0.0/8 x 10.0.0.0/33 ::1"))), 2);
        assert_eq!(methods(&parts("GET a/b post (")).unwrap_err().len(), 2);
        assert_eq!(paths(&parts("/a b !c /d?e /../x")).unwrap_err().len(), 4);
        assert_eq!(client_keys(&parts("a=1 b a=2 =3 d= c/d=4")).unwrap_err().len(), 4);
    }

    #[test]
    fn a_client_key_is_told_apart_by_name_and_key() {
        for (text, what) in [
            ("a=1 a=2", "client key 2 has the name of another"),
            ("a=1 b=1", "client key 2 is the same as another's"),
            ("secretkey", "client key 1 has no name"),
        ] {
            let problems = client_keys(&parts(text)).unwrap_err();
            assert_eq!(problems[0].what, what, "{text}");
        }
        let keys = client_keys(&parts("a=x=y== b=2")).unwrap();
        assert_eq!((keys[0].name.as_str(), keys[0].key.expose()), ("a", "x=y=="));
    }

    #[test]
    fn a_client_key_may_have_a_rate() {
        let keys = |text: &str| client_keys(&[format!("web=k{text}")]);
        for (text, want) in [
            ("", Some(None)),
            (" rate=10/20", Some(Some((10, 20)))),
            ("  rate=10/20 ", Some(Some((10, 20)))),
            (" rate=5", Some(Some((5, 5)))),
            (" rate=1000000/1", Some(Some((1_000_000, 1)))),
            (" rate=0/20", None),
            (" rate=10/0", None),
            (" rate=1000001", None),
            (" rate=10/", None),
            (" rate=10/1m", None),
            (" rate=", None),
            (" pace=10", None),
        ] {
            let rate = |key: &ClientKey| key.rate.map(|rate| (rate.per_second.get(), rate.burst.get()));
            assert_eq!(keys(text).ok().map(|keys| rate(&keys[0])), want, "{text:?}");
        }
        assert_eq!(keys(" rate=x").unwrap_err()[0].what, "client key 1 has a rate that is none");
        assert_eq!(keys("rate=1").unwrap()[0].key.expose(), "krate=1", "without a blank it is of the key");
    }

    #[test]
    fn lists_are_normal_in_form() {
        assert_eq!(methods(&parts("get HEAD")).unwrap(), ["GET", "HEAD"]);
        assert!(methods(&parts("*")).unwrap().is_empty());
        assert!(methods(&[]).is_err() && paths(&[]).is_err(), "an empty list is not everything");
        assert_eq!(
            paths(&parts("/a/ !/a/b *")).unwrap(),
            (vec!["/a/".into(), "/".into()], vec!["/a/b".into()])
        );
        let nets: Vec<_> = networks(&parts("10.1.2.3/8 192.0.2.1 fd00::1/8"))
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(nets, ["10.0.0.0/8", "192.0.2.1/32", "fd00::/8"]);
    }
}
