//! How a token's news stand in a key and in a message.
//!
//! A value is words: the version; of the rest its `at`, `until`, failures, rejections, reason and whether the token
//! is unavailable; when it was cleared; and when it recovered. Then follow pairs of a moment and a word, of which the later counts: first when its bar was decided,
//! and whether it is barred, then what was learned of its limit, and when (`learned.rs`). Moments are milliseconds since 1970 by the server's clock, 0 where there is none.
//! The script `merge.lua` reads and writes the same.
//!
//! A later version may add pairs without another number. Who does not know them leaves them as they are: the script
//! keeps what it finds, and replicas read what they know.

use std::fmt::Write;
use std::sync::Arc;

use tidegate_token_manager::{Bar, BarNews, LearnedNews, News, Reason, RestNews, Stamp, TokenId};

use super::learned;

const VERSION: u32 = 1;
/// With the first pair.
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
    let mut text = format!(
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
    );
    if let Some(news) = news.learned {
        // Into a string: it cannot fail.
        let _ = write!(text, " {} {}", news.at.0.max(1), learned::write(news.limit));
    }
    text
}

pub(super) fn read(pool: Arc<str>, id: TokenId, text: &str) -> Result<News, Unreadable> {
    let words: Vec<&str> = text.split(' ').collect();
    match words[0].parse::<u32>() {
        Ok(VERSION) if words.len() >= WORDS && words.len() % 2 == 1 => {}
        Ok(version) if version > VERSION => return Err(Unreadable::Newer),
        _ => return Err(Unreadable::Foreign),
    }
    from_words(pool, id, &words).ok_or(Unreadable::Foreign)
}

fn from_words(pool: Arc<str>, id: TokenId, words: &[&str]) -> Option<News> {
    let stamp = |at: usize| words[at].parse().ok().filter(|millis| *millis >= 0).map(Stamp);
    let count = |at: usize| words[at].parse::<u32>().ok();
    let there = |stamp: &Stamp| stamp.0 > 0;
    let (at, until, cleared, recovered, decided) = (stamp(1)?, stamp(2)?, stamp(7)?, stamp(8)?, stamp(9)?);
    let reason = Reason::ALL.into_iter().find(|reason| reason.index().to_string() == words[5])?;
    let rest =
        RestNews { at, until, failures: count(3)?, rejections: count(4)?, reason, worn_out: flag(words[6])? };
    let bar = BarNews { at: decided, bar: if flag(words[10])? { Bar::Barred } else { Bar::Allowed } };
    let learned = match words.get(WORDS..WORDS + 2) {
        Some(pair) => {
            let at = Some(stamp(WORDS)?).filter(there);
            at.and_then(|at| Some(LearnedNews { at, limit: learned::read(pair[1])? }))
        }
        None => None,
    };
    Some(News {
        rest: Some(rest).filter(|rest| there(&rest.at)),
        cleared: Some(cleared).filter(there),
        recovered: Some(recovered).filter(there),
        bar: Some(bar).filter(|bar| there(&bar.at)),
        learned,
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

/// News on the channel, by lines: the value, who sent it, the token and its pool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub(super) origin: &'a str,
    pub(super) news: News,
}

impl<'a> Message<'a> {
    /// What follows the value.
    pub(super) fn tail(origin: &str, news: &News) -> String {
        format!("\n{origin}\n{}\n{}", news.id, news.pool)
    }

    /// What a message says; none for one of another version, which is of no use here.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut lines = text.splitn(4, '\n');
        let (value, origin, id) = (lines.next()?, lines.next()?, lines.next()?);
        Some(Self { origin, news: read(lines.next()?.into(), id.parse().ok()?, value).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tidegate_backoff_core::{Bound, LearnedLimit};

    use super::*;

    fn some() -> [News; 5] {
        let id = TokenId::from_bytes([3; 8]);
        let rest = RestNews {
            at: Stamp(1_796_119_200_000),
            until: Stamp(1_796_119_201_870),
            failures: 7,
            rejections: 2,
            reason: Reason::QuotaEmpty,
            worn_out: true,
        };
        let limit = LearnedLimit {
            interval: Duration::from_millis(500),
            refused: Duration::ZERO,
            cost: Duration::from_secs(60),
            credit: 1,
            window: 2,
            bound: Bound::Floor,
        };
        let none = News::none("a pool".into(), id);
        [
            News { rest: Some(rest), cleared: Some(Stamp(5)), recovered: Some(Stamp(6)), ..none.clone() },
            News { bar: Some(BarNews { at: Stamp(9), bar: Bar::Barred }), ..none.clone() },
            News { learned: Some(LearnedNews { at: Stamp(8), limit: None }), ..none.clone() },
            News { learned: Some(LearnedNews { at: Stamp(8), limit: Some(limit) }), ..none.clone() },
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
            ("1 1 2 3 4 0 1 6 7 8 0 9", Unreadable::Foreign),
            ("1 -1 2 3 4 0 1 6 7 8 0", Unreadable::Foreign),
            ("2 anything", Unreadable::Newer),
        ] {
            assert_eq!(read("p".into(), id, text), Err(want), "{text:?}");
        }
        let (value, id) = ("1 1 2 3 4 0 1 6 7 8 0", "0303030303030303");
        assert!(Message::read(&format!("{value}\nme\n{id}\np")).is_some());
        for text in [
            String::new(),
            value.to_owned(),
            format!("{value}\nme\n{id}"),
            format!("{value}\nme\n03\np"),
            format!("{value} 9\nme\n{id}\np"),
            format!("2 1 2 3 4 0 1 6 7 8 0\nme\n{id}\np"),
        ] {
            assert_eq!(Message::read(&text), None, "{text:?}");
        }
    }

    #[test]
    fn pairs_of_a_later_version_are_passed_over() {
        for (news, more) in [(&some()[0], " 0 - 1796119200000 37.5/60"), (&some()[3], " 5 new")] {
            assert_eq!(read("a pool".into(), news.id, &(write(news) + more)), Ok(news.clone()));
        }
    }

    #[test]
    fn what_a_later_version_has_learned_is_passed_over() {
        let news = &some()[0];
        let text = write(news) + " 1796119200000 37.5/60";
        assert_eq!(read("a pool".into(), news.id, &text), Ok(news.clone()));
        assert_eq!(
            read("a pool".into(), news.id, &(write(news) + " never 37.5/60")),
            Err(Unreadable::Foreign)
        );
    }
}
