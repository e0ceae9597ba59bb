use http::HeaderMap;
use http::header::COOKIE;

use crate::client_keys::same;

/// The cookie of a browser that has logged in.
const NAME: &str = "tidegate_admin";
/// Half a day: a working day, and not the next one.
const MAX_AGE: u32 = 43_200;

/// What a login is worth: a value of this process alone, so that the cookie is not the key and a restart ends it.
#[derive(Clone)]
pub(super) struct Session(String);

impl Session {
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The value of a `Set-Cookie` field.
    pub(super) fn cookie(&self) -> String {
        format!("{NAME}={}; Path=/; Max-Age={MAX_AGE}; HttpOnly; SameSite=Strict", self.0)
    }

    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().flat_map(|field| field.as_bytes().split(|b| *b == b';'));
        cookies
            .filter_map(|pair| pair.trim_ascii().strip_prefix(NAME.as_bytes())?.strip_prefix(b"="))
            .any(|value| same(self.0.as_bytes(), value))
    }
}

/// The value of the field `name` of a form (`application/x-www-form-urlencoded`).
pub(super) fn form_value(form: &[u8], name: &str) -> Option<Vec<u8>> {
    form.split(|b| *b == b'&').find_map(|pair| {
        let mut halves = pair.splitn(2, |b| *b == b'=');
        (decode(halves.next()?) == name.as_bytes()).then(|| decode(halves.next().unwrap_or_default()))
    })
}

fn decode(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let escaped = match after {
            [high, low, ..] if *first == b'%' => {
                digit(*high).zip(digit(*low)).map(|(high, low)| high * 16 + low)
            }
            _ => None,
        };
        let (byte, used) = match (escaped, first) {
            (Some(byte), _) => (byte, 3),
            (None, b'+') => (b' ', 1),
            (None, byte) => (*byte, 1),
        };
        decoded.push(byte);
        rest = rest.get(used..).unwrap_or_default();
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_browsers_write_it() {
        for (form, want) in [
            ("key=a%2Bb+c%26%C3%A9", Some("a+b c&é")),
            ("x=1&key=2&key=3", Some("2")),
            ("key=", Some("")),
            ("key", Some("")),
            ("key=a=b%", Some("a=b%")),
            ("key=%zz%4", Some("%zz%4")),
            ("kex=1", None),
            ("", None),
        ] {
            let found = form_value(form.as_bytes(), "key").map(|value| String::from_utf8(value).unwrap());
            assert_eq!(found.as_deref(), want, "{form}");
        }
    }

    #[test]
    fn only_the_sessions_own_cookie_counts() {
        let session = Session::random().unwrap();
        assert!(session.cookie().ends_with("; HttpOnly; SameSite=Strict"));
        let sent = session.cookie().split(';').next().unwrap().to_owned();
        for (cookie, known) in [
            (sent.clone(), true),
            (format!("a=b; {sent}; c"), true),
            (format!("x{sent}"), false),
            (format!("{sent}0"), false),
            ("tidegate_admin=".to_owned(), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, cookie.parse().unwrap());
            assert_eq!(session.is_in(&headers), known, "{cookie}");
        }
    }
}
