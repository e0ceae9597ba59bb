use crate::{problem::Problem, settings::HeaderMatch};

/// Fields that frame a message or name its connection: no setting may make one.
const FRAMING: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A token of RFC 9110, section 5.6.2.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// The name of a field that a setting may make or look at, in lower case.
pub(crate) fn field_name(text: &str) -> Result<String, Problem> {
    if is_token(text) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(Problem::new("is not the name of a header field", "write a name such as X-Api-Key"))
    }
}

/// The same, but none that frames a message.
pub(crate) fn own_field_name(text: &str) -> Result<String, Problem> {
    let name = field_name(text)?;
    if FRAMING.contains(&name.as_str()) {
        return Err(Problem::new("is a field that belongs to the connection", "use another field"));
    }
    Ok(name)
}

/// The value of a field: visible ASCII with blanks between, as every server takes it.
pub(crate) fn field_value(text: &str) -> Result<String, Problem> {
    if text.bytes().all(|byte| byte == b' ' || byte == b'\t' || byte.is_ascii_graphic()) {
        Ok(text.trim().to_owned())
    } else {
        Err(Problem::new("holds a character that no header can carry", "use visible ASCII"))
    }
}

/// `name` or `name=value`.
pub(crate) fn header_match(text: &str) -> Result<HeaderMatch, Problem> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(field_value(value)?)),
        None => (text, None),
    };
    Ok(HeaderMatch { name: field_name(name.trim())?, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_frames_the_message_is_refused() {
        for name in FRAMING.iter().copied().chain(["Host", "Transfer-Encoding", "", "a b", "a:b", "ä", "a\n"])
        {
            assert!(own_field_name(name).is_err(), "{name}");
        }
        assert_eq!(own_field_name("X-Api-Key"), Ok("x-api-key".to_owned()));
    }

    #[test]
    fn a_match_is_a_name_and_perhaps_a_value() {
        let want = |name: &str, value: Option<&str>| {
            Some(HeaderMatch { name: name.into(), value: value.map(Into::into) })
        };
        for (text, wanted) in [
            ("X-Error", want("x-error", None)),
            ("X-Error=a=b", want("x-error", Some("a=b"))),
            ("X-Error = limit", want("x-error", Some("limit"))),
            ("=x", None),
            ("a b", None),
            ("x=\n", None),
        ] {
            assert_eq!(header_match(text).ok(), wanted, "{text}");
        }
    }
}
