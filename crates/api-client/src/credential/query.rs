//! One parameter of a query, put in, found or taken out; the others stay byte for byte.

use std::fmt::Write;

/// The query with the parameter `name` last, instead of any that was there.
pub(super) fn with(query: Option<&str>, name: &str, value: &str) -> String {
    let mut text = without(query, name).filter(|query| !query.is_empty()).unwrap_or_default();
    if !text.is_empty() {
        text.push('&');
    }
    encode(name, &mut text);
    text.push('=');
    encode(value, &mut text);
    text
}

/// The query without the parameter `name`; `None` if none is left.
pub(super) fn without(query: Option<&str>, name: &str) -> Option<String> {
    let query = query?;
    if !has(Some(query), name) {
        return Some(query.to_owned());
    }
    let left: Vec<&str> = query.split('&').filter(|pair| !is_named(pair, name)).collect();
    (!left.is_empty()).then(|| left.join("&"))
}

pub(super) fn has(query: Option<&str>, name: &str) -> bool {
    query.is_some_and(|query| query.split('&').any(|pair| is_named(pair, name)))
}

/// Whether a pair's name, decoded as forms are, is `name`: `k%65y` is `key` to the upstream too.
fn is_named(pair: &str, name: &str) -> bool {
    let written = pair.split_once('=').map_or(pair, |(name, _)| name);
    decoded(written.as_bytes()).eq(name.bytes())
}

fn decoded(mut text: &[u8]) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let (byte, rest) = match *text {
            [b'%', high, low, ref rest @ ..] => match (hex(high), hex(low)) {
                (Some(high), Some(low)) => (high << 4 | low, rest),
                _ => (b'%', &text[1..]),
            },
            [b'+', ref rest @ ..] => (b' ', rest),
            [byte, ref rest @ ..] => (byte, rest),
            [] => return None,
        };
        text = rest;
        Some(byte)
    })
}

const fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Percent signs for all but what RFC 3986 calls unreserved.
fn encode(value: &str, text: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a String does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
}
