use super::header::{is_token, own_field_name};
use crate::{problem::Problem, settings::Credential};

const KINDS: &str = "write cookie:NAME, bearer, header:NAME or query:NAME";

/// `cookie:NAME`, `bearer`, `header:NAME` or `query:NAME`.
///
/// What is wrong is told without the text: who mistakes what stands here writes the token itself.
pub(crate) fn credential(text: &str) -> Result<Credential, Problem> {
    parse(text).map_err(|problem| problem.about("it"))
}

fn parse(text: &str) -> Result<Credential, Problem> {
    let (kind, name) = match text.split_once(':') {
        Some((kind, name)) => (kind.trim().to_ascii_lowercase(), Some(name.trim())),
        None => (text.trim().to_ascii_lowercase(), None),
    };
    match (kind.as_str(), name) {
        ("bearer", None) => Ok(Credential::Bearer),
        ("bearer", Some(_)) => {
            Err(Problem::new("gives bearer a name, which it has not", "write bearer alone"))
        }
        ("cookie" | "header" | "query", None | Some("")) => {
            Err(Problem::new("does not name what holds the token", format!("write {kind}:NAME")))
        }
        ("cookie", Some(name)) if is_token(name) => Ok(Credential::Cookie(name.to_owned())),
        ("cookie", Some(_)) => {
            Err(Problem::new("does not name a cookie", "write a name such as cookie:PHPSESSID"))
        }
        ("header", Some(name)) => match own_field_name(name)?.as_str() {
            // As `header:` it would go out without its scheme and be refused by every server.
            "cookie" => {
                Err(Problem::new("names the Cookie field", "write cookie:NAME with the cookie's name"))
            }
            name => Ok(Credential::Header(name.to_owned())),
        },
        ("query", Some(name))
            if name.bytes().all(|byte| byte.is_ascii_graphic() && !b"&=#?+%".contains(&byte)) =>
        {
            Ok(Credential::Query(name.to_owned()))
        }
        ("query", Some(_)) => {
            Err(Problem::new("does not name a query parameter", "write a name such as query:key"))
        }
        _ => Err(Problem::new("is not a credential", KINDS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_a_kind_and_its_name() {
        for (text, want) in [
            ("bearer", Some(Credential::Bearer)),
            ("Bearer", Some(Credential::Bearer)),
            ("cookie:PHPSESSID", Some(Credential::Cookie("PHPSESSID".into()))),
            ("header:X-Api-Key", Some(Credential::Header("x-api-key".into()))),
            ("header: Authorization", Some(Credential::Header("authorization".into()))),
            ("query:key", Some(Credential::Query("key".into()))),
            ("query:api.key[]", Some(Credential::Query("api.key[]".into()))),
            ("bearer:x", None),
            ("cookie", None),
            ("cookie:", None),
            ("cookie:a b", None),
            ("cookie:a=b", None),
            ("header:Host", None),
            ("header:connection", None),
            ("header:Cookie", None),
            ("header:a b", None),
            ("query:a&b", None),
            ("query:", None),
            ("token", None),
            ("", None),
        ] {
            assert_eq!(credential(text).ok(), want, "{text}");
        }
    }
}
