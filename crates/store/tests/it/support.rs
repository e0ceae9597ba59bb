use std::time::Duration;

use tidegate_backoff_core::{Bound, LearnedLimit};
use tidegate_store::{Keys, Link, Status};
use tidegate_token_manager::{
    IdKey, News, Outcome, PoolParams, Reason, Report, RestNews, Stamp, State, Store, Token, TokenId,
    TokenManager, TokenSpec,
};

/// Far beyond what anything here takes; a test that hits it has failed.
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) fn pool(names: &str) -> TokenManager {
    let specs = names.split_whitespace().map(TokenSpec::new).collect();
    TokenManager::new("tests", PoolParams::default(), specs, IdKey::from_bytes(b"before"))
}

pub(crate) fn limit(interval: Duration) -> LearnedLimit {
    LearnedLimit {
        interval,
        refused: Duration::ZERO,
        cost: Duration::from_secs(1),
        credit: 0,
        window: 0,
        bound: Bound::Ceiling,
    }
}

/// A pool whose first token has learned that it is granted a call a minute, without a scope and in this one. That takes
/// some hours, by a clock that is advanced.
pub(crate) async fn taught(names: &str, scope: &str) -> TokenManager {
    let pool = pool(names);
    pool.share();
    let others: Vec<_> = pool.snapshot().iter().skip(1).map(|status| status.id).collect();
    tokio::time::pause();
    for scope in [None, Some(scope)] {
        let mut granted = 0;
        for minute in 0..200 {
            tokio::time::advance(Duration::from_secs(30)).await;
            let Ok(mut lease) = pool.try_acquire_in(scope, &others) else { continue };
            let is_granted = granted <= minute / 2;
            granted += i32::from(is_granted);
            lease.settle(&Report::new(if is_granted { Outcome::Success } else { Outcome::Limited }));
        }
    }
    tokio::time::resume();
    pool
}

pub(crate) fn link(store: impl Store, pool: &TokenManager) -> Link {
    Link::start(store, Keys::OfTheStore(Box::new(|_| {})), vec![pool.clone()])
}

pub(crate) fn linked(store: impl Store, names: &str) -> (TokenManager, Link) {
    let pool = pool(names);
    let link = link(store, &pool);
    (pool, link)
}

/// Takes any ready token and has it rest this long.
pub(crate) fn rest(pool: &TokenManager, seconds: u64) {
    rest_for(Outcome::Limited, pool, seconds);
}

/// The same for this reason: three that are refused together for one reason have the whole pool rest.
pub(crate) fn rest_for(outcome: Outcome, pool: &TokenManager, seconds: u64) {
    let told = Some(Duration::from_secs(seconds));
    pool.try_acquire(&[]).unwrap().settle(&Report { told, ..Report::new(outcome) });
}

pub(crate) fn states(pool: &TokenManager) -> Vec<State> {
    pool.snapshot().iter().map(|status| status.state).collect()
}

/// Looks until it is so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(LONG, looking).await.unwrap_or_else(|_| panic!("not within {LONG:?}: {what}"));
}

pub(crate) async fn reaches(link: &Link, status: Status) {
    let reached = tokio::time::timeout(LONG, link.reaches(status)).await;
    reached.unwrap_or_else(|_| panic!("it is {:?} and never {status:?}", link.status()));
}

pub(crate) fn id(name: &str) -> TokenId {
    IdKey::from_bytes(b"tests").id(&Token::new(name))
}

pub(crate) fn resting(name: &str, at: Stamp, millis: i64) -> News {
    let rest = RestNews {
        at,
        until: at.plus(millis),
        failures: 2,
        rejections: 0,
        reason: Reason::RateLimited,
        worn_out: false,
    };
    News { rest: Some(rest), ..News::none("tests".into(), id(name)) }
}
