//! From the layers to [`Settings`], a part a file. A faulty value is told and stands as some placeholder that nobody
//! sees, so that reading goes on and every other fault is told too.

mod listeners;
mod other;
mod pool_tokens;
mod pools;
mod retry;
mod routes;
mod rules;
mod upstream;

use std::time::Duration;

use crate::{
    duration::show_duration,
    preset::Preset,
    reader::{Read, Reader},
    settings::Settings,
    sources::{Files, proxy_variables},
};

/// Reads everything. What it returns holds only if the reader has no fault then.
pub(crate) fn settings(reader: &mut Reader<'_>, files: &Files) -> Settings {
    let upstream = upstream::read(reader);
    let (server, request_timeout) = listeners::server(reader);
    let retry = retry::read(reader);
    let replicas = other::replicas(reader);
    let pools = pools::read(reader, &upstream, files);
    let admin = listeners::admin(reader, &server.listen);
    let (store, log) = (other::store(reader), other::log(reader));
    let routes = routes::read(
        reader,
        &routes::General { upstream: &upstream, server: &server, retry: &retry, pools: &pools },
    );
    let rules = rules::read(reader);
    pools::check_use(reader, &pools, &routes);
    listeners::check_openness(reader, &server, &routes);
    upstream::check_timeouts(reader, &upstream.attempt_timeout, &request_timeout);
    Settings {
        preset: reader.preset.unwrap_or(Preset::Generic),
        upstream: upstream.settings(),
        server,
        admin,
        retry,
        pools: pools.into_iter().map(|pool| pool.pool).collect(),
        routes,
        rules,
        store,
        log,
        replicas,
        proxy_variables: proxy_variables(reader.layers),
    }
}

/// Tells when `least` is longer than `most`, by both their names. What is faulty has been told and is not compared.
fn in_order(reader: &mut Reader<'_>, least: &Read<Duration>, most: &Read<Duration>) {
    let (Some(shorter), Some(longer)) = (least.value, most.value) else { return };
    if shorter <= longer {
        return;
    }
    // Blame what somebody wrote, and the default only where both are set or neither is.
    let (blamed, other) = if least.is_set() || !most.is_set() { (least, most) } else { (most, least) };
    let (verb, bound) = if std::ptr::eq(blamed, least) { ("longer", "most") } else { ("shorter", "least") };
    let (mine, theirs) = if std::ptr::eq(blamed, least) { (shorter, longer) } else { (longer, shorter) };
    reader.fault(
        blamed.name.clone(),
        blamed.at(),
        format!(
            "{} is {verb} than {} of {} ({})",
            show_duration(mine),
            show_duration(theirs),
            other.name,
            other.source
        ),
        format!("write {} at {bound}, or change {}", show_duration(theirs), other.name),
    );
}
