//! The file's text. A head, then a record a line: a checksum, and what has become of a token as JSON. Records are
//! added at the end; of one token there may be several, whose news are merged, so that none need be taken away. A
//! checksum stands on each, so that a torn one cannot be taken for a whole one; and people can read it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tidegate_token_manager::{Bar, BarNews, News, Reason, RestNews, Stamp};

use super::learned::Learned;

const FORMAT: &str = "tidegate-state";
const VERSION: u32 = 2;
/// Digits of a checksum, and a blank.
const CHECKED: usize = 9;

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

/// What a text holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) news: Vec<News>,
    /// How much of it is head and whole lines: what follows is a record that was torn when its writer was killed.
    pub(super) whole: usize,
    /// How many whole lines are no records: the disk's fault, or somebody's.
    pub(super) damaged: usize,
    /// Whether records can be added to it: not to one of an old format.
    pub(super) grows: bool,
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// The whole text, in version 1.
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
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    learned: Option<Learned<'a>>,
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

/// What a text begins with.
pub(super) fn head() -> Vec<u8> {
    format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION}}}\n").into_bytes()
}

/// Adds a record; every moment in it is in milliseconds since 1970.
pub(super) fn write(news: &News, text: &mut Vec<u8>) {
    let begin = text.len();
    text.extend_from_slice(b"00000000 ");
    // Strings and numbers, into memory: it cannot fail.
    let _ = serde_json::to_writer(&mut *text, &token(news));
    let sum = format!("{:08x}", crc32fast::hash(&text[begin + CHECKED..]));
    text[begin..begin + sum.len()].copy_from_slice(sum.as_bytes());
    text.push(b'\n');
}

/// What the text holds.
pub(super) fn read(text: &[u8]) -> Result<Read, Unreadable> {
    let line = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
    // In version 1 the head was not a line of its own.
    let head: Head = serde_json::from_slice(&text[..line])
        .or_else(|_| serde_json::from_slice(text))
        .map_err(|_| Unreadable::Foreign)?;
    if head.format != FORMAT {
        return Err(Unreadable::Foreign);
    }
    match head.version {
        1 => read_old(text),
        VERSION => Ok(read_records(text, line)),
        newer => Err(Unreadable::Newer(newer)),
    }
}

fn read_records(text: &[u8], begin: usize) -> Read {
    let mut read = Read { whole: begin, grows: true, ..Read::default() };
    let mut pools = Pools::default();
    for line in text[begin..].split_inclusive(|&byte| byte == b'\n') {
        let Some(record) = line.strip_suffix(b"\n") else { break };
        read.whole += line.len();
        match checked(record).and_then(|json| pools.news(serde_json::from_slice(json).ok()?)) {
            Some(news) => read.news.push(news),
            None => read.damaged += 1,
        }
    }
    read
}

/// A record without its checksum, if that is right.
fn checked(record: &[u8]) -> Option<&[u8]> {
    let (sum, json) = record.split_at_checked(CHECKED)?;
    let sum = u32::from_str_radix(std::str::from_utf8(sum).ok()?.strip_suffix(' ')?, 16).ok()?;
    (sum == crc32fast::hash(json)).then_some(json)
}

fn read_old(text: &[u8]) -> Result<Read, Unreadable> {
    let state: State<'_> = serde_json::from_slice(text).map_err(|_| Unreadable::Meaningless)?;
    let mut pools = Pools::default();
    let news: Option<Vec<News>> = state.tokens.into_iter().map(|token| pools.news(token)).collect();
    Ok(Read { news: news.ok_or(Unreadable::Meaningless)?, whole: text.len(), damaged: 0, grows: false })
}

/// Tens of thousands of tokens share a handful of pools.
#[derive(Default)]
struct Pools(HashMap<String, Arc<str>>);

impl Pools {
    fn news(&mut self, token: Token<'_>) -> Option<News> {
        let pool = match self.0.get(&*token.pool) {
            Some(pool) => Arc::clone(pool),
            None => {
                let pool: Arc<str> = (&*token.pool).into();
                self.0.insert(token.pool.into_owned(), Arc::clone(&pool));
                pool
            }
        };
        let news = news(pool, &token.id, token.rest, token.disabled)?;
        let learned = token.learned.and_then(Learned::news);
        Some(News {
            cleared: token.cleared.map(Stamp),
            recovered: token.recovered.map(Stamp),
            learned,
            ..news
        })
    }
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
        learned: news.learned.map(Learned::of),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tidegate_backoff_core::{Bound, LearnedLimit};
    use tidegate_token_manager::{LearnedNews, TokenId};

    use super::*;

    #[test]
    fn what_was_learned_is_read_back_and_what_a_later_version_adds_to_it_is_passed_over() {
        let limit = LearnedLimit {
            interval: Duration::from_millis(500),
            refused: Duration::from_millis(480),
            cost: Duration::from_secs(60),
            credit: 7,
            window: 100,
            bound: Bound::Ceiling,
        };
        let news = |limit| News {
            learned: Some(LearnedNews { at: Stamp(9), limit }),
            ..News::none("a".into(), TokenId::from_bytes([1; 8]))
        };
        let floor = LearnedLimit { bound: Bound::Floor, ..limit };
        let all = [news(None), news(Some(limit)), news(Some(floor))];
        assert_eq!(read(&text(&all)).unwrap().news, all);
        let written = serde_json::to_string(&token(&all[1])).unwrap();
        for (later, want) in [
            (written.replace("\"window\"", "\"more\":[1],\"window\""), all[1].clone()),
            (written.replace("\"at\":9", "\"at\":9,\"more\":1"), all[1].clone()),
            (written.replace("ceiling", "fog"), News { learned: None, ..all[1].clone() }),
        ] {
            assert_ne!(later, written);
            let line = format!("{:08x} {later}\n", crc32fast::hash(later.as_bytes()));
            let read = read(&[head(), line.into_bytes()].concat()).unwrap();
            assert_eq!((read.news, read.damaged), (vec![want], 0), "{later}");
        }
    }

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

    fn text(news: &[News]) -> Vec<u8> {
        let mut text = head();
        news.iter().for_each(|news| write(news, &mut text));
        text
    }

    #[test]
    fn what_is_written_is_read_back() {
        for news in [some(), Vec::new()] {
            let text = text(&news);
            assert_eq!(read(&text), Ok(Read { news, whole: text.len(), damaged: 0, grows: true }));
        }
    }

    #[test]
    fn wherever_a_file_is_torn_the_records_before_are_read_and_no_other() {
        let whole = text(&some());
        for length in head().len()..=whole.len() {
            let read = read(&whole[..length]).unwrap();
            let lines = whole[..length].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(
                (read.news.as_slice(), read.damaged),
                (&some()[..lines - 1], 0),
                "the first {length} bytes"
            );
            assert_eq!(read.whole, text(&read.news).len(), "what is added later begins a line");
        }
        for length in 0..head().len() - 1 {
            assert_eq!(read(&whole[..length]), Err(Unreadable::Foreign), "the first {length} bytes");
        }
    }

    #[test]
    fn a_byte_that_has_changed_spoils_its_record_alone() {
        let whole = text(&some());
        for at in head().len()..whole.len() {
            let mut spoilt = whole.clone();
            spoilt[at] ^= 1;
            let read = read(&spoilt).unwrap();
            assert!(read.news.len() < 3 && read.news.iter().all(|news| some().contains(news)), "byte {at}");
            assert!(read.damaged > 0 || read.whole < whole.len(), "byte {at}");
        }
    }

    #[test]
    fn what_is_not_ours_is_told_apart() {
        for (text, want) in [
            ("", Unreadable::Foreign),
            ("\0\0\0\0", Unreadable::Foreign),
            ("{}", Unreadable::Foreign),
            (r#"{"format":"other","version":1}"#, Unreadable::Foreign),
            (r#"{"format":"tidegate-state","version":3,"all":"else"}"#, Unreadable::Newer(3)),
            ("{\"format\":\"tidegate-state\",\"version\":3}\nwhatever", Unreadable::Newer(3)),
            (r#"{"format":"tidegate-state","version":1}"#, Unreadable::Meaningless),
        ] {
            assert_eq!(read(text.as_bytes()), Err(want), "{text}");
        }
        let ours = String::from_utf8(text(&some())).unwrap();
        assert_eq!(read(ours.replace("rejected", "bored").as_bytes()).unwrap().damaged, 1);
    }

    #[test]
    fn the_first_format_is_read() {
        let old = concat!(
            "{\"format\":\"tidegate-state\",\"version\":1,\"written\":1,\"tokens\":[\n",
            "{\"pool\":\"a b\",\"id\":\"0101010101010101\",\"rest\":{\"at\":1796119200000,\"until\":1796119201870,",
            "\"failures\":7,\"rejections\":2,\"reason\":\"rejected\",\"unavailable\":true},\"cleared\":5},\n",
            "{\"pool\":\"a b\",\"id\":\"0202020202020202\",\"recovered\":-5},\n",
            "{\"pool\":\"z\",\"id\":\"0000000000000000\",\"disabled\":{\"at\":9,\"yes\":true}}\n]}\n",
        );
        let read_whole = |text: &str| read(text.as_bytes()).map(|read| (read.news, read.grows));
        assert_eq!(read_whole(old), Ok((some(), false)));
        assert_eq!(
            read_whole(&old.replace("\"written\":1", "\"written\":1,\"more\":[]")),
            Ok((some(), false))
        );
        assert_eq!(read_whole(&old.replace("rejected", "bored")), Err(Unreadable::Meaningless));
        assert_eq!(read_whole(&old.replace("0101010101010101", "01")), Err(Unreadable::Meaningless));
        for length in 0..old.len() - 2 {
            assert!(read(&old.as_bytes()[..length]).is_err(), "the first {length} bytes of {}", old.len());
        }
    }
}
