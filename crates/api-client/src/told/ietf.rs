//! The `RateLimit` field of draft-ietf-httpapi-ratelimit-headers, in both of its forms.
//!
//! Since draft 08 a list with an element for each policy: `"burst";r=0;t=2, "day";r=4711;t=3600`. Before that one
//! quota as a dictionary: `limit=100, remaining=0, reset=50`.

use std::time::SystemTime;

use http::{HeaderValue, header::GetAll};

use super::{moment, window::Window};

pub(super) fn windows(lines: GetAll<'_, HeaderValue>, origin: SystemTime, each: &mut impl FnMut(Window)) {
    let mut old = Window { empty: None, left: None, reset: None };
    for member in lines.into_iter().flat_map(|line| split(line.as_bytes(), b',')) {
        let mut parts = split(member, b';');
        let Some(item) = parts.next() else { continue };
        match key_value(item) {
            Some((b"remaining", value)) => old.tell_left(value),
            Some((b"reset", value)) => old.reset = moment::reset(value, origin),
            Some(_) => {}
            None => {
                let mut window = Window { empty: None, left: None, reset: None };
                for (key, value) in parts.filter_map(key_value) {
                    match key {
                        b"r" => window.tell_left(value),
                        b"t" => window.reset = moment::reset(value, origin),
                        _ => {}
                    }
                }
                each(window);
            }
        }
    }
    each(old);
}

/// The parts of `text` between separators that stand outside of quotes.
fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |&byte| {
        let separates = byte == separator && !quoted;
        if byte == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && byte == b'\\' && !escaped;
        separates
    })
}

fn key_value(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let part = part.trim_ascii();
    let equals = part.iter().position(|&byte| byte == b'=')?;
    // A policy's name may hold an equals sign, but only in quotes.
    if part.starts_with(b"\"") {
        return None;
    }
    Some((part[..equals].trim_ascii(), part[equals + 1..].trim_ascii()))
}
