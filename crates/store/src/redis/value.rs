//! How a token's news stand in a key and in a message.
//!
//! A value is eleven words: the version, then the rest's `at`, `until`, failures, rejections, reason and
//! whether the token is unavailable; then when it was cleared, when it recovered, when its bar was decided, and
//! whether it is barred. Moments are milliseconds since 1970 by the server's clock, 0 where there is none. The
//! script `merge.lua` reads and writes the same.

use std::sync::Arc;

use tidegate_token_manager::{Bar, BarNews, News, Reason, RestNews, Stamp, TokenId};

const VERSION: u32 = 1;
const WORDS: usize = 11;

/// Why a value is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("it holds something that is not Tidegate's")]
    Foreign,
    #[error("it was written by a newer version of Tidegate")]
    Newer,
}

pub(super) fn write(news: &News) -> String {
    let none = RestNews {
        at: Stamp(0),
        until: Stamp(0),
        failures: 0,
        rejections: 0,
        reason: Reason::RateLimited,
        worn_out: false,
    };
    let rest = news.rest.unwrap_or(none);
    let stamp = |stamp: Option<Stamp>| stamp.map_or(0, |stamp| stamp.0.max(1));
    let bar = news.bar.unwrap_or(BarNews { at: Stamp(0), bar: Bar::Allowed });
    format!(
        "{VERSION} {} {} {} {} {} {} {} {} {} {}",
        rest.at.0.max(0),
        rest.until.0.max(0),
        rest.failures,
        rest.rejections,
        rest.reason.index(),
        u8::from(rest.worn_out),
        stamp(news.cleared),
        stamp(news.recovered),
        bar.at.0.max(0),
        u8::from(bar.bar == Bar::Barred),
    )
}

pub(super) fn read(pool: Arc<str>, id: TokenId, text: &str) -> Result<News, Unreadable> {
    let words: Vec<&str> = text.split(' ').collect();
    match words[0].parse::<u32>() {
        Ok(VERSION) if words.len() == WORDS => {}
        Ok(version) if version > VERSION => return Err(Unreadable::Newer),
        _ => return Err(Unreadable::Foreign),
    }
    from_words(pool, id, &words).ok_or(Unreadable::Foreign)
}

fn from_words(pool: Arc<str>, id: TokenId, words: &[&str]) -> Option<News> {
    let stamp = |at: usize| words[at].parse().ok().filter(|millis| *millis >= 0).map(Stamp);
    let count = |at: usize| words[at].parse::<u32>().ok();
    let (at, until, cleared, recovered, decided) = (stamp(1)?, stamp(2)?, stamp(7)?, stamp(8)?, stamp(9)?);
    let reason = Reason::ALL.into_iter().find(|reason| reason.index().to_string() == words[5])?;
    let rest =
        RestNews { at, until, failures: count(3)?, rejections: count(4)?, reason, worn_out: flag(words[6])? };
    let bar = BarNews { at: decided, bar: if flag(words[10])? { Bar::Barred } else { Bar::Allowed } };
    let there = |stamp: &Stamp| stamp.0 > 0;
    Some(News {
        rest: Some(rest).filter(|rest| there(&rest.at)),
        cleared: Some(cleared).filter(there),
        recovered: Some(recovered).filter(there),
        bar: Some(bar).filter(|bar| there(&bar.at)),
        ..News::none(pool, id)
    })
}

fn flag(word: &str) -> Option<bool> {
    match word {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// News on the channel: the value, who sent it, the token and its pool. The pool's name comes last, since it may
/// hold blanks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub(super) origin: &'a str,
    pub(super) news: News,
}

impl<'a> Message<'a> {
    /// What follows the value.
    pub(super) fn tail(origin: &str, news: &News) -> String {
        format!(" {origin} {} {}", news.id, news.pool)
    }

    /// What a message says; none for one of another version, which is of no use here.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let words: Vec<&str> = text.splitn(WORDS + 3, ' ').collect();
        let [.., origin, id, pool] = words[..] else { return None };
        if words.len() != WORDS + 3 || words[0] != VERSION.to_string() {
            return None;
        }
        Some(Self { origin, news: from_words(pool.into(), id.parse().ok()?, &words)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> [News; 3] {
        let id = TokenId::from_bytes([3; 8]);
        let rest = RestNews {
            at: Stamp(1_796_119_200_000),
            until: Stamp(1_796_119_201_870),
            failures: 7,
            rejections: 2,
            reason: Reason::QuotaEmpty,
            worn_out: true,
        };
        let none = News::none("a pool".into(), id);
        [
            News { rest: Some(rest), cleared: Some(Stamp(5)), recovered: Some(Stamp(6)), ..none.clone() },
            News { bar: Some(BarNews { at: Stamp(9), bar: Bar::Barred }), ..none.clone() },
            none,
        ]
    }

    #[test]
    fn what_is_written_is_read_back() {
        for news in some() {
            assert_eq!(read("a pool".into(), news.id, &write(&news)), Ok(news.clone()));
            let text = write(&news) + &Message::tail("me", &news);
            assert_eq!(Message::read(&text), Some(Message { origin: "me", news }));
        }
    }

    #[test]
    fn what_is_not_ours_is_told_apart() {
        let id = TokenId::from_bytes([3; 8]);
        for (text, want) in [
            ("", Unreadable::Foreign),
            ("hello", Unreadable::Foreign),
            ("1 2 3", Unreadable::Foreign),
            ("1 1 2 3 4 0 1 6 7 8 2", Unreadable::Foreign),
            ("1 1 2 3 4 9 1 6 7 8 0", Unreadable::Foreign),
            ("1 -1 2 3 4 0 1 6 7 8 0", Unreadable::Foreign),
            ("2 anything", Unreadable::Newer),
        ] {
            assert_eq!(read("p".into(), id, text), Err(want), "{text:?}");
        }
        for text in ["", "1", "2 1 2 3 4 0 1 6 7 8 0 me 0303030303030303 p", "1 1 2 3 4 0 1 6 7 8 0 me 03 p"]
        {
            assert_eq!(Message::read(text), None, "{text:?}");
        }
    }
}
