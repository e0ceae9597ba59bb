//! The file's text: JSON, so that a torn one cannot be taken for a whole one, and people can read it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tidegate_token_manager::{Bar, BarNews, News, Reason, RestNews, Stamp};

const FORMAT: &str = "tidegate-state";
const VERSION: u32 = 1;

/// Why a text is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("it is torn, or no state of Tidegate's")]
    Foreign,
    #[error("it was written by a newer version (its format is {0}, and {VERSION} is the latest known)")]
    Newer(u32),
    #[error("something in it has no meaning")]
    Meaningless,
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Deserialize)]
struct State<'a> {
    #[serde(borrow)]
    tokens: Vec<Token<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Token<'a> {
    #[serde(borrow)]
    pool: Cow<'a, str>,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<Rest<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovered: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled: Option<Disabled>,
}

#[derive(Serialize, Deserialize)]
struct Rest<'a> {
    at: i64,
    until: i64,
    failures: u32,
    rejections: u32,
    #[serde(borrow)]
    reason: Cow<'a, str>,
    unavailable: bool,
}

#[derive(Serialize, Deserialize)]
struct Disabled {
    at: i64,
    yes: bool,
}

/// The text that holds these; every moment in it is in milliseconds since 1970. One token a line, put together by
/// hand, since there may be a hundred thousand of them and a change is to be on disk soon.
pub(super) fn write<'a>(news: impl Iterator<Item = &'a News>, now: Stamp) -> Vec<u8> {
    let head = format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"written\":{},\"tokens\":[", now.0);
    let mut text = head.into_bytes();
    for (number, news) in news.enumerate() {
        text.extend_from_slice(if number == 0 { b"\n" } else { b",\n" });
        // Strings and numbers, into memory: it cannot fail.
        let _ = serde_json::to_writer(&mut text, &token(news));
    }
    text.extend_from_slice(b"\n]}\n");
    text
}

/// What the text holds.
pub(super) fn read(text: &[u8]) -> Result<Vec<News>, Unreadable> {
    let head: Head = serde_json::from_slice(text).map_err(|_| Unreadable::Foreign)?;
    if head.format != FORMAT {
        return Err(Unreadable::Foreign);
    }
    if head.version != VERSION {
        return Err(Unreadable::Newer(head.version));
    }
    let state: State<'_> = serde_json::from_slice(text).map_err(|_| Unreadable::Meaningless)?;
    // Tens of thousands of tokens share a handful of pools.
    let mut pools: HashMap<Cow<'_, str>, Arc<str>> = HashMap::new();
    let news = state.tokens.into_iter().map(|token| {
        let pool = pools.entry(token.pool).or_insert_with_key(|name| (&**name).into());
        news(Arc::clone(pool), &token.id, token.rest, token.disabled).map(|news| News {
            cleared: token.cleared.map(Stamp),
            recovered: token.recovered.map(Stamp),
            ..news
        })
    });
    news.collect::<Option<Vec<News>>>().ok_or(Unreadable::Meaningless)
}

fn news(pool: Arc<str>, id: &str, rest: Option<Rest<'_>>, disabled: Option<Disabled>) -> Option<News> {
    let rest = match rest {
        Some(rest) => Some(RestNews {
            at: Stamp(rest.at),
            until: Stamp(rest.until),
            failures: rest.failures,
            rejections: rest.rejections,
            reason: Reason::ALL.into_iter().find(|reason| reason.as_str() == rest.reason)?,
            worn_out: rest.unavailable,
        }),
        None => None,
    };
    let bar = disabled.map(|disabled| BarNews {
        at: Stamp(disabled.at),
        bar: if disabled.yes { Bar::Barred } else { Bar::Allowed },
    });
    Some(News { rest, bar, ..News::none(pool, id.parse().ok()?) })
}

fn token(news: &News) -> Token<'_> {
    Token {
        pool: Cow::Borrowed(&news.pool),
        id: news.id.to_string(),
        rest: news.rest.map(|rest| Rest {
            at: rest.at.0,
            until: rest.until.0,
            failures: rest.failures,
            rejections: rest.rejections,
            reason: Cow::Borrowed(rest.reason.as_str()),
            unavailable: rest.worn_out,
        }),
        cleared: news.cleared.map(|at| at.0),
        recovered: news.recovered.map(|at| at.0),
        disabled: news.bar.map(|news| Disabled { at: news.at.0, yes: news.bar == Bar::Barred }),
    }
}

#[cfg(test)]
mod tests {
    use tidegate_token_manager::TokenId;

    use super::*;

    fn some() -> Vec<News> {
        let id = |byte| TokenId::from_bytes([byte; 8]);
        let rest = RestNews {
            at: Stamp(1_796_119_200_000),
            until: Stamp(1_796_119_201_870),
            failures: 7,
            rejections: 2,
            reason: Reason::Rejected,
            worn_out: true,
        };
        vec![
            News { rest: Some(rest), cleared: Some(Stamp(5)), ..News::none("a b".into(), id(1)) },
            News { recovered: Some(Stamp(-5)), ..News::none("a b".into(), id(2)) },
            News { bar: Some(BarNews { at: Stamp(9), bar: Bar::Barred }), ..News::none("z".into(), id(0)) },
        ]
    }

    #[test]
    fn what_is_written_is_read_back() {
        for news in [some(), Vec::new()] {
            assert_eq!(read(&write(news.iter(), Stamp(1))), Ok(news));
        }
    }

    #[test]
    fn no_beginning_of_a_file_is_taken_for_a_file() {
        let whole = write(some().iter(), Stamp(1));
        for length in 0..whole.len() - 2 {
            assert!(read(&whole[..length]).is_err(), "the first {length} bytes of {}", whole.len());
        }
    }

    #[test]
    fn what_is_not_ours_is_told_apart() {
        let ours = String::from_utf8(write(some().iter(), Stamp(1))).unwrap();
        for (text, want) in [
            (String::new(), Unreadable::Foreign),
            ("\0\0\0\0".into(), Unreadable::Foreign),
            ("{}".into(), Unreadable::Foreign),
            (r#"{"format":"other","version":1}"#.into(), Unreadable::Foreign),
            (r#"{"format":"tidegate-state","version":2,"all":"else"}"#.into(), Unreadable::Newer(2)),
            (r#"{"format":"tidegate-state","version":1}"#.into(), Unreadable::Meaningless),
            (ours.replace("rejected", "bored"), Unreadable::Meaningless),
            (ours.replace("0101010101010101", "01"), Unreadable::Meaningless),
        ] {
            assert_eq!(read(text.as_bytes()), Err(want), "{text}");
        }
        assert_eq!(read(ours.replace(r#""written":1"#, r#""written":1,"more":[]"#).as_bytes()), Ok(some()));
    }
}
