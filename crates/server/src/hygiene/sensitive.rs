use std::sync::Arc;

use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, DATE, HeaderMap, HeaderName, LAST_MODIFIED,
};

/// The spellings of a token, to be found in fields that are on their way to a client.
///
/// An upstream echoes a token in a redirect, in a cookie, or in a debug field; such a field is dropped whole.
#[derive(Clone, Default)]
pub(crate) struct Sensitive(Arc<[Vec<u8>]>);

/// A shorter token is a word that occurs by chance; it counts only where it stands alone.
const SURELY_NO_WORD: usize = 8;

/// Fields that a client cannot do without, and that hold numbers and names of types.
const NEVER_A_TOKEN: [HeaderName; 6] =
    [CONTENT_LENGTH, CONTENT_TYPE, CONTENT_ENCODING, CONTENT_RANGE, DATE, LAST_MODIFIED];

impl Sensitive {
    /// As it is, and percent-encoded.
    pub(crate) fn new(token: &str) -> Self {
        let plain = token.as_bytes().to_vec();
        let encoded = percent_encoded(&plain);
        let spellings = if plain.is_empty() {
            vec![]
        } else if encoded == plain {
            vec![plain]
        } else {
            vec![plain, encoded]
        };
        Self(spellings.into())
    }

    pub(crate) fn remove_from(&self, headers: &mut HeaderMap) {
        if self.0.is_empty() {
            return;
        }
        let shown = |(name, value): (&HeaderName, &http::HeaderValue)| {
            (!NEVER_A_TOKEN.contains(name) && self.is_in(value.as_bytes())).then(|| name.clone())
        };
        let gone: Vec<HeaderName> = headers.iter().filter_map(shown).collect();
        for name in gone {
            tracing::warn!(field = %name, "the upstream's answer held the token in a field; the field is dropped");
            headers.remove(name);
        }
    }

    /// Whether `text` holds the token.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|token| contains(text, token))
    }
}

/// Shows how many spellings there are, and none of them.
impl std::fmt::Debug for Sensitive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sensitive({})", self.0.len())
    }
}

fn contains(text: &[u8], token: &[u8]) -> bool {
    let is_word = |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    text.windows(token.len()).enumerate().any(|(start, window)| {
        let alone = || {
            let before = start.checked_sub(1).and_then(|before| text.get(before));
            !is_word(before) && !is_word(text.get(start + token.len()))
        };
        window == token && (token.len() >= SURELY_NO_WORD || alone())
    })
}

fn percent_encoded(token: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(token.len());
    for byte in token {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            encoded.push(*byte);
        } else {
            encoded.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::super::fields::{map, names};
    use super::*;

    #[test]
    fn a_field_with_the_token_is_dropped() {
        for (token, kept, dropped) in [
            ("12345_abcdefghijklmnopqrst", "12345_abc", "id=12345_abcdefghijklmnopqrstuv"),
            ("tokA", "tokAlpha, xtokA", "a=tokA; b"),
            ("only", "onlyif", "cached, only"),
            ("sk+a/b", "sk+a/bc", "/p?key=sk%2Ba%2Fb&x"),
            ("a1", "a12", "a1"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("x-kept", kept.parse().unwrap());
            headers.insert("location", dropped.parse().unwrap());
            Sensitive::new(token).remove_from(&mut headers);
            assert_eq!(names(&headers), ["x-kept"], "{token}");
        }
    }

    #[test]
    fn the_frame_of_a_body_is_never_dropped() {
        let mut headers = map(&[("content-length", "100"), ("content-type", "text/plain"), ("x", "100")]);
        Sensitive::new("100").remove_from(&mut headers);
        assert_eq!(names(&headers), ["content-length", "content-type"]);
    }

    #[test]
    fn no_token_finds_nothing_and_nothing_is_shown() {
        let mut headers = map(&[("x", "")]);
        Sensitive::new("").remove_from(&mut headers);
        Sensitive::default().remove_from(&mut headers);
        assert_eq!(names(&headers), ["x"]);
        assert_eq!(format!("{:?}", Sensitive::new("zq81+secret")), "Sensitive(2)");
    }
}
