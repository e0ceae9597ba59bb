//! What is known of a token's limit, as it stands in the file. Times are in nanoseconds.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tidegate_backoff_core::{Bound, LearnedLimit};
use tidegate_token_manager::{LearnedNews, Stamp};

#[derive(Serialize, Deserialize)]
pub(super) struct Learned<'a> {
    at: i64,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    limit: Option<Limit<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Limit<'a> {
    interval: u64,
    refused: u64,
    cost: u64,
    credit: u32,
    window: u32,
    #[serde(borrow)]
    bound: Cow<'a, str>,
}

impl Learned<'_> {
    pub(super) fn of(news: LearnedNews) -> Self {
        let limit = news.limit.map(|limit| Limit {
            interval: nanos(limit.interval),
            refused: nanos(limit.refused),
            cost: nanos(limit.cost),
            credit: limit.credit,
            window: limit.window,
            bound: Cow::Borrowed(match limit.bound {
                Bound::Floor => "floor",
                Bound::Ceiling => "ceiling",
            }),
        });
        Self { at: news.at.0, limit }
    }

    /// None if a later version has written of it what this one does not know: it is learned again.
    pub(super) fn news(self) -> Option<LearnedNews> {
        let limit = match self.limit {
            Some(limit) => Some(LearnedLimit {
                interval: Duration::from_nanos(limit.interval),
                refused: Duration::from_nanos(limit.refused),
                cost: Duration::from_nanos(limit.cost),
                credit: limit.credit,
                window: limit.window,
                bound: match &*limit.bound {
                    "floor" => Bound::Floor,
                    "ceiling" => Bound::Ceiling,
                    _ => return None,
                },
            }),
            None => None,
        };
        Some(LearnedNews { at: Stamp(self.at), limit })
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
