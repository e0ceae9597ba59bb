//! From the layers to [`Settings`], a part a file. A faulty value is told and stands as some placeholder that nobody
//! sees, so that reading goes on and every other fault is told too.

mod bounds;
mod listeners;
mod other;
mod pool_tokens;
mod pools;
mod retry;
mod routes;
mod rules;
mod upstream;

use crate::{
    preset::Preset,
    reader::Reader,
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
