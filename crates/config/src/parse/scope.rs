use super::header::own_field_name;
use crate::{problem::Problem, settings::Scope};

const KINDS: &str = "write none, route, header:NAME or json:/POINTER";

/// `none`, `route`, `header:NAME` or `json:/POINTER` (RFC 6901).
pub(crate) fn scope(text: &str) -> Result<Scope, Problem> {
    match text.split_once(':') {
        None if text.eq_ignore_ascii_case("none") => Ok(Scope::None),
        None if text.eq_ignore_ascii_case("route") => Ok(Scope::Route),
        Some((kind, name)) if kind.eq_ignore_ascii_case("header") => {
            Ok(Scope::Header(own_field_name(name.trim())?))
        }
        Some((kind, pointer)) if kind.eq_ignore_ascii_case("json") => match pointer.trim() {
            pointer if pointer.starts_with('/') => Ok(Scope::Json(pointer.to_owned())),
            _ => Err(Problem::new("is no JSON pointer", "write json:/ and a name, such as json:/model")),
        },
        _ => Err(Problem::new("is no scope", KINDS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_one_of_four_kinds() {
        let rows = [
            ("none", Ok(Scope::None)),
            ("Route", Ok(Scope::Route)),
            ("header:X-RateLimit-Resource", Ok(Scope::Header("x-ratelimit-resource".into()))),
            ("json:/model", Ok(Scope::Json("/model".into()))),
            ("json:/a/b~1c", Ok(Scope::Json("/a/b~1c".into()))),
            ("json:model", Err("is no JSON pointer")),
            ("json:", Err("is no JSON pointer")),
            ("model", Err("is no scope")),
            ("body:/model", Err("is no scope")),
        ];
        for (text, expected) in rows {
            assert_eq!(
                scope(text).map_err(|problem| problem.what),
                expected.map_err(str::to_owned),
                "{text}"
            );
        }
        assert!(scope("header:").is_err() && scope("header:a b").is_err());
    }
}
