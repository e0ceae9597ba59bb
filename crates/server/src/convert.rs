//! Settings in the words of the crates that they are for.

use http::{HeaderMap, HeaderName, HeaderValue};
use tidegate_api_client::{Credential, Rule, RuleVerdict, StandardClassifier};
use tidegate_config as config;

/// A credential; its names were validated when they were read.
pub(crate) fn credential(credential: &config::Credential) -> Option<Credential> {
    Some(match credential {
        config::Credential::Cookie(name) => Credential::Cookie(name.clone()),
        config::Credential::Bearer => Credential::Bearer,
        config::Credential::Header(name) => Credential::Header(header_name(name)?),
        config::Credential::Query(name) => Credential::Query(name.clone()),
    })
}

/// A rule. A header name that is none (the settings refuse it) would make a rule that matches too much, so there
/// is then no rule.
fn rule(rule: &config::Rule) -> Option<Rule> {
    let header = match &rule.header {
        Some(header) => Some((header_name(&header.name)?, header.value.clone())),
        None => None,
    };
    let header_missing = match &rule.header_missing {
        Some(name) => Some(header_name(name)?),
        None => None,
    };
    Some(Rule {
        status: rule.status.0.iter().flat_map(|(first, last)| *first..=*last).collect(),
        header,
        header_missing,
        body_contains: rule.body_contains.clone(),
        verdict: match rule.verdict {
            config::RuleVerdict::TokenLimited => RuleVerdict::TokenLimited,
            config::RuleVerdict::TokenRejected => RuleVerdict::TokenRejected,
            config::RuleVerdict::Upstream => RuleVerdict::Upstream,
            config::RuleVerdict::Request => RuleVerdict::Request,
            config::RuleVerdict::Success => RuleVerdict::Success,
        },
    })
}

/// Who judges what comes back on a route: the rules first, then what the preset's API says in words of its own, on the
/// routes that lead to it or that its tokens sign.
pub(crate) fn classifier(settings: &config::Settings, route: &config::Route) -> StandardClassifier {
    let is_presets = route.upstream.origin() == settings.upstream.url.origin()
        || route
            .pool
            .as_ref()
            .is_some_and(|pool| settings.pools.first().is_some_and(|first| first.name == *pool));
    let customs = match settings.preset {
        config::Preset::Github if is_presets => StandardClassifier::github(),
        config::Preset::Openai if is_presets => StandardClassifier::openai(),
        config::Preset::Pixiv if is_presets => StandardClassifier::pixiv(),
        _ => StandardClassifier::generic(),
    };
    customs.with_rules(settings.rules.iter().filter_map(rule).collect())
}

/// A route's fields; their values may be keys, so they are marked sensitive.
pub(crate) fn headers(fields: &[config::RouteHeader]) -> HeaderMap {
    let pairs = fields.iter().filter_map(|field| {
        let mut value = HeaderValue::from_str(field.value.expose()).ok()?;
        value.set_sensitive(true);
        Some((header_name(&field.name)?, value))
    });
    pairs.collect()
}

fn header_name(name: &str) -> Option<HeaderName> {
    name.parse().ok()
}
