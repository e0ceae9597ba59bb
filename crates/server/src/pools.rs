//! The settings' pools as token managers.

use tidegate_config as config;
use tidegate_config::Settings;
use tidegate_token_manager::{
    IdKey, Limit, Pacing, PoolParams, Strategy, Token, TokenManager, TokenSpec, WhenExhausted,
};

/// A manager for each pool that a route uses. One of `old` with the same name goes on with the new tokens and
/// limits, and with the states of the tokens that stay.
pub(crate) fn build(settings: &Settings, key: &IdKey, old: &[TokenManager]) -> Vec<TokenManager> {
    settings
        .pools_in_use()
        .map(|pool| {
            let (params, specs) = (params(pool, settings.replicas), specs(&pool.tokens));
            match old.iter().find(|manager| manager.name() == pool.name) {
                Some(manager) => {
                    manager.set_params(params);
                    // What a program prints under a known name is that token renewed.
                    if pool.command.is_some() {
                        manager.renew(specs);
                    } else {
                        manager.reload(specs);
                    }
                    manager.clone()
                }
                None => TokenManager::new(&pool.name, params, specs, key.clone()),
            }
        })
        .collect()
}

fn specs(tokens: &[config::TokenEntry]) -> Vec<TokenSpec> {
    let spec = |token: &config::TokenEntry| TokenSpec {
        value: Token::new(token.value.expose()),
        name: token.name.clone(),
        weight: token.weight,
        group: token.group.clone(),
    };
    tokens.iter().map(spec).collect()
}

fn params(pool: &config::Pool, replicas: u32) -> PoolParams {
    let limit = pool.limit.map(|limit| limit.share(replicas));
    PoolParams {
        cool_down: pool.cool_down,
        strategy: match pool.strategy {
            config::Strategy::RoundRobin => Strategy::RoundRobin,
            config::Strategy::Random => Strategy::Random,
            config::Strategy::LeastRecentlyUsed => Strategy::LeastRecentlyUsed,
            config::Strategy::LeastLoaded => Strategy::LeastLoaded,
        },
        when_exhausted: match pool.when_exhausted {
            config::WhenExhausted::Wait => WhenExhausted::Wait,
            config::WhenExhausted::Fail => WhenExhausted::Fail,
            config::WhenExhausted::Soonest => WhenExhausted::Soonest,
        },
        max_wait: pool.max_wait,
        max_concurrency: pool.max_concurrency,
        limit: limit.map(|limit| Limit { count: limit.count, per: limit.per, burst: limit.burst }),
        max_waiting: usize::try_from(pool.max_waiting).unwrap_or(usize::MAX),
        pacing: match pool.pacing {
            config::Pacing::Learned => Pacing::Learned,
            config::Pacing::Off => Pacing::Off,
        },
    }
}
