//! What Prometheus reads. Every label is one of a closed set, and every series is there from the start, at zero.

use std::time::Duration;

use prometheus::{
    Encoder, Gauge, GaugeVec, Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Opts, Registry, TextEncoder,
};
use tidegate_api_client::{Attempt, Attempts, Cause, Ended, Fault};
use tidegate_token_manager::{Reason, State, TokenStatus};

use crate::live::Service;

#[cfg(test)]
mod tests;

/// The media type of [`Metrics::render`]'s text.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The route of a request that none was found for.
pub(crate) const NO_ROUTE: &str = "none";

/// Statuses whose series are there before the first such answer.
const USUAL_STATUSES: [u16; 22] = [
    200, 201, 204, 206, 301, 302, 304, 400, 401, 403, 404, 405, 408, 413, 422, 429, 500, 501, 502, 503, 504,
    499,
];
const OUTCOMES: [&str; 8] = [
    "success",
    "token_limited",
    "token_rejected",
    "forbidden",
    "upstream",
    "request",
    "configuration",
    "caller",
];
/// What becomes of a client's requests; `limited` is its own rate's doing.
const CLIENT_OUTCOMES: [&str; 4] = ["served", "failed", "limited", "left"];
/// Why an attempt was followed by another: the fault of an answer, or the kind of the error.
const RETRY_REASONS: [&str; 11] = [
    "upstream",
    "token_limited",
    "token_rejected",
    "forbidden",
    "connect",
    "tls_handshake",
    "reset",
    "refused_stream",
    "protocol",
    "attempt_timeout",
    "other",
];
/// From a cached answer on the same machine to the longest request timeout of a preset.
const SECONDS: [f64; 16] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 660.0];

/// The counters and histograms of the process. What has a state elsewhere is read when it is asked for: see [`Scrape`].
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    request_seconds: Histogram,
    attempts: IntCounterVec,
    retries: IntCounterVec,
    clients: IntCounterVec,
    token_wait_seconds: Histogram,
    in_flight: IntGauge,
    shed: IntCounter,
}

/// The state of what keeps its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scrape {
    /// Each pool's name and tokens.
    pub(crate) pools: Vec<(String, Vec<TokenStatus>)>,
    /// Each upstream's origin and how many retries its budget would grant now.
    pub(crate) budgets: Vec<(String, u64)>,
    /// The store, if there is one beyond the process.
    pub(crate) store: Option<StoreScrape>,
}

/// How the store does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreScrape {
    pub(crate) connected: bool,
    pub(crate) told: u64,
    pub(crate) heard: u64,
    pub(crate) failures: u64,
}

impl Metrics {
    /// With the series of these routes, by their prefixes.
    ///
    /// # Errors
    ///
    /// Never with these names; what the library says is handed on.
    pub(crate) fn new<'a>(routes: impl IntoIterator<Item = &'a str>) -> prometheus::Result<Self> {
        let registry = Registry::new();
        let counters = |name: &str, help: &str, labels: &[&str]| {
            let counters = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(counters.clone())).map(|()| counters)
        };
        let histogram = |name: &str, help: &str| {
            let histogram = Histogram::with_opts(HistogramOpts::new(name, help).buckets(SECONDS.to_vec()))?;
            registry.register(Box::new(histogram.clone())).map(|()| histogram)
        };
        let requests = counters(
            "tidegate_requests_total",
            "Requests that were answered, by their status.",
            &["route", "status"],
        )?;
        let attempts = counters(
            "tidegate_attempts_total",
            "Calls of the upstream, by whose fault their end was.",
            &["route", "outcome"],
        )?;
        let retries = counters(
            "tidegate_retries_total",
            "Calls that followed a failed one, by how that ended.",
            &["reason"],
        )?;
        let clients = counters(
            "tidegate_client_requests_total",
            "Requests of each client that has a key, by what became of them.",
            &["client", "outcome"],
        )?;
        let request_seconds = histogram(
            "tidegate_request_duration_seconds",
            "From a request's head to the head of its answer.",
        )?;
        let token_wait_seconds = histogram(
            "tidegate_token_wait_seconds",
            "How long a call of the upstream waited for its token.",
        )?;
        let in_flight =
            IntGauge::new("tidegate_in_flight", "Requests under way, to the end of their bodies.")?;
        registry.register(Box::new(in_flight.clone()))?;
        let shed = IntCounter::new(
            "tidegate_shed_total",
            "Requests that were refused because too many were under way.",
        )?;
        registry.register(Box::new(shed.clone()))?;

        for route in routes.into_iter().chain([NO_ROUTE]) {
            for status in USUAL_STATUSES {
                requests.with_label_values(&[route, &status.to_string()]);
            }
            for outcome in OUTCOMES {
                attempts.with_label_values(&[route, outcome]);
            }
        }
        for reason in RETRY_REASONS {
            retries.with_label_values(&[reason]);
        }
        Ok(Self {
            registry,
            requests,
            request_seconds,
            attempts,
            retries,
            clients,
            token_wait_seconds,
            in_flight,
            shed,
        })
    }

    /// A request is under way until the guard is dropped.
    pub(crate) fn begin(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// A request was answered; `route` is a prefix of the settings, or [`NO_ROUTE`].
    pub(crate) fn answered(&self, route: &str, status: http::StatusCode, took: Duration) {
        // Any number from 100 to 999 can come from an upstream; only those that HTTP knows get a series.
        let status = if status.as_u16() < 600 { status.as_str() } else { "other" };
        self.requests.with_label_values(&[route, status]).inc();
        self.request_seconds.observe(took.as_secs_f64());
    }

    /// Makes the series of these clients, at zero where they are new.
    pub(crate) fn know_clients<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        for name in names {
            for outcome in CLIENT_OUTCOMES {
                self.clients.with_label_values(&[name, outcome]);
            }
        }
    }

    /// A request of the client whose key has this name is over; no status for a caller that had gone.
    pub(crate) fn client(&self, name: &str, status: Option<http::StatusCode>, attempts: usize) {
        let outcome = match (Service::of(status), status) {
            (Service::Served, _) => "served",
            (Service::Left, _) => "left",
            // Without an attempt a 429 is the gateway's own.
            (Service::Failed, Some(http::StatusCode::TOO_MANY_REQUESTS)) if attempts == 0 => "limited",
            (Service::Failed, _) => "failed",
        };
        self.clients.with_label_values(&[name, outcome]).inc();
    }

    /// What a request's attempts came to.
    pub(crate) fn attempted(&self, route: &str, attempts: &Attempts) {
        let mut before: Option<&Attempt> = None;
        for attempt in attempts.iter() {
            self.attempts.with_label_values(&[route, outcome(attempt.fault)]).inc();
            if attempt.token.is_some() {
                self.token_wait_seconds.observe(attempt.token_wait.as_secs_f64());
            }
            if attempt.cause != Cause::First {
                self.retries.with_label_values(&[before.map_or("other", reason)]).inc();
            }
            before = Some(attempt);
        }
    }

    /// How many requests are under way.
    pub(crate) fn under_way(&self) -> u64 {
        u64::try_from(self.in_flight.get()).unwrap_or_default()
    }

    pub(crate) fn shed(&self) {
        self.shed.inc();
    }

    /// The page, in Prometheus' text format.
    pub(crate) fn render(&self, scrape: &Scrape) -> String {
        let mut families = self.registry.gather();
        // Made anew each time, so that a token that was removed is gone here too.
        match state_families(scrape) {
            Ok(state) => families.extend(state),
            Err(error) => tracing::error!(%error, "the state of the pools is missing in the metrics"),
        }
        families.sort_by(|a, b| a.name().cmp(b.name()));
        let mut page = Vec::new();
        if let Err(error) = TextEncoder::new().encode(&families, &mut page) {
            tracing::error!(%error, "the metrics are not whole");
        }
        String::from_utf8(page).unwrap_or_default()
    }
}

/// One request under way.
#[derive(Debug)]
pub(crate) struct InFlight(IntGauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn outcome(fault: Option<Fault>) -> &'static str {
    match fault {
        Some(Fault::None) => "success",
        // An attempt that never ended was left by its caller.
        None => "caller",
        Some(fault) => fault.as_str(),
    }
}

fn reason(failed: &Attempt) -> &'static str {
    let said = match (failed.ended, failed.fault) {
        (Ended::Failed(kind), _) => kind,
        (_, Some(fault)) => fault.as_str(),
        _ => "other",
    };
    RETRY_REASONS.into_iter().find(|reason| *reason == said).unwrap_or("other")
}

fn state_families(scrape: &Scrape) -> prometheus::Result<Vec<prometheus::proto::MetricFamily>> {
    let registry = Registry::new();
    let tokens =
        IntGaugeVec::new(Opts::new("tidegate_tokens", "Tokens, by their state."), &["pool", "state"])?;
    let cooldowns = IntCounterVec::new(
        Opts::new("tidegate_token_cooldowns_total", "Rests that began, by their reason."),
        &["pool", "token", "reason"],
    )?;
    let budget = GaugeVec::new(
        Opts::new("tidegate_retry_budget_balance", "Retries that the budget would grant now."),
        &["upstream"],
    )?;
    registry.register(Box::new(tokens.clone()))?;
    registry.register(Box::new(cooldowns.clone()))?;
    registry.register(Box::new(budget.clone()))?;
    for (pool, statuses) in &scrape.pools {
        for state in State::ALL {
            let count = statuses.iter().filter(|status| status.state == state).count();
            tokens
                .with_label_values(&[pool.as_str(), state.as_str()])
                .set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        for status in statuses {
            let token = status.name.clone().unwrap_or_else(|| status.id.to_string());
            for reason in Reason::ALL {
                let count = status.cooldowns.get(reason.index()).copied().unwrap_or_default();
                cooldowns.with_label_values(&[pool.as_str(), &token, reason.as_str()]).inc_by(count);
            }
        }
    }
    for (upstream, balance) in &scrape.budgets {
        let gauge: Gauge = budget.with_label_values(&[upstream.as_str()]);
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float; no balance comes near 2^53")]
        gauge.set(*balance as f64);
    }
    if let Some(store) = &scrape.store {
        store_families(&registry, store)?;
    }
    Ok(registry.gather())
}

fn store_families(registry: &Registry, store: &StoreScrape) -> prometheus::Result<()> {
    let connected = IntGauge::new(
        "tidegate_store_connected",
        "Whether the store is read and told of changes (1), or the gateway goes on alone (0).",
    )?;
    let news = IntCounterVec::new(
        Opts::new(
            "tidegate_store_news_total",
            "Changes of tokens that were told to the store or heard from it.",
        ),
        &["direction"],
    )?;
    let failures = IntCounter::new(
        "tidegate_store_failures_total",
        "How often the store could not be reached, read or written.",
    )?;
    registry.register(Box::new(connected.clone()))?;
    registry.register(Box::new(news.clone()))?;
    registry.register(Box::new(failures.clone()))?;
    connected.set(i64::from(store.connected));
    news.with_label_values(&["told"]).inc_by(store.told);
    news.with_label_values(&["heard"]).inc_by(store.heard);
    failures.inc_by(store.failures);
    Ok(())
}
