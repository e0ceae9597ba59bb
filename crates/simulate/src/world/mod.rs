//! The world around the pool: an upstream that limits, its faults, and those who call.

mod arrivals;
mod limiter;
mod model;
mod random;
mod upstream;

use std::time::Duration;

pub use arrivals::{Arrival, Arrivals, Traffic};
pub use limiter::{Limiter, Verdict};
pub use model::{Model, ParseModelError, Rate, Renewal};
pub use random::{LogNormal, exponential};
pub use upstream::{Asked, Reply, TOKEN_HEADER, Upstream};

/// All that is the same for every policy.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// How many tokens there are.
    pub tokens: usize,
    /// What the upstream grants.
    pub model: Model,
    /// Whom it counts.
    pub counted: Counted,
    /// What it tells of its limit.
    pub hints: Hints,
    /// How long an answer takes.
    pub latency: LogNormal,
    /// After which part of a call's latency the limit is asked.
    pub arrives_after: f64,
    /// The share of granted calls that end in a 503.
    pub errors: f64,
    /// The share of granted calls that end in a 404.
    pub not_found: f64,
    /// What happens to the upstream on the way; moments count from the end of the warm-up.
    pub events: Vec<Event>,
    /// Who calls, and how often.
    pub traffic: Traffic,
    /// The part of the traffic that each client has, in any unit.
    pub clients: Vec<f64>,
    /// How long a client waits for an answer.
    pub deadline: Duration,
    /// How long the world runs before anything is counted.
    pub warm_up: Duration,
    /// How long it is measured.
    pub measured: Duration,
}

impl Default for World {
    /// Five tokens of 60 calls a minute, called at nine tenths of that.
    fn default() -> Self {
        Self {
            tokens: 5,
            model: Model::Window { rate: Rate { count: 60, per: Duration::from_secs(60) } },
            counted: Counted::Token,
            hints: Hints::None,
            latency: LogNormal { median: Duration::from_millis(120), sigma: 0.5 },
            arrives_after: 0.1,
            errors: 0.005,
            not_found: 0.0,
            events: Vec::new(),
            traffic: Traffic::Poisson { load: 0.9 },
            clients: vec![1.0; 4],
            deadline: Duration::from_secs(10),
            warm_up: Duration::from_secs(5 * 60),
            measured: Duration::from_secs(30 * 60),
        }
    }
}

impl World {
    /// How many limits there are: one a token, or one for all.
    pub fn limits(&self) -> usize {
        match self.counted {
            Counted::Token => self.tokens,
            Counted::Address => 1,
        }
    }

    /// What all tokens together are granted a second, when nothing goes wrong.
    pub fn per_second(&self) -> f64 {
        self.model.per_second() * self.limits() as f64
    }

    /// How many calls can be granted from the end of the warm-up to the end.
    pub fn grantable(&self) -> f64 {
        let mut edges = vec![Duration::ZERO, self.measured];
        for event in &self.events {
            edges.extend([event.from.min(self.measured), event.until().min(self.measured)]);
        }
        edges.sort();
        let pieces =
            edges.windows(2).map(|edge| (edge[1] - edge[0]).as_secs_f64() * self.per_second_at(edge[0]));
        pieces.sum()
    }

    /// Whether the upstream is out at this moment since the start.
    pub fn is_out(&self, at: Duration) -> bool {
        let at = at.checked_sub(self.warm_up);
        let mut outages = self.events.iter().filter(|event| event.what == Happening::Outage);
        outages.any(|outage| at.is_some_and(|at| outage.holds_at(at)))
    }

    /// What all tokens together are granted a second at this moment after the warm-up.
    fn per_second_at(&self, at: Duration) -> f64 {
        let mut factor = 1.0;
        let mut limits = self.limits();
        for event in self.events.iter().filter(|event| event.holds_at(at)) {
            match event.what {
                Happening::Outage => return 0.0,
                Happening::Limit { factor: by } => factor *= by,
                Happening::Revoked { .. } if self.counted == Counted::Token => limits -= 1,
                Happening::Revoked { .. } | Happening::Slow { .. } => {}
            }
        }
        self.model.scaled(factor).per_second() * limits as f64
    }
}

/// Whom the upstream counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Each token.
    Token,
    /// The caller's address: all tokens share one limit.
    Address,
}

/// What the upstream tells of its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hints {
    /// Nothing.
    #[serde(rename = "nothing")]
    None,
    /// `Retry-After` on refusals, in whole seconds.
    RetryAfter,
    /// `X-RateLimit-Limit`, `-Remaining` and `-Reset` on every answer.
    Quota,
    /// Both.
    Both,
}

/// Something that happens to the upstream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Since the end of the warm-up.
    pub from: Duration,
    /// Until the end, where it is none.
    pub lasts: Option<Duration>,
    /// What it is.
    pub what: Happening,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// Every call ends in a 503.
    Outage,
    /// Answers take so many times as long.
    Slow {
        /// How many times.
        factor: f64,
    },
    /// A token is answered 401.
    Revoked {
        /// Which one, from 0.
        token: usize,
    },
    /// The limit is this many times what it was.
    Limit {
        /// How many times.
        factor: f64,
    },
}

impl Event {
    /// Its end.
    pub fn until(&self) -> Duration {
        self.lasts.map_or(Duration::MAX, |lasts| self.from.saturating_add(lasts))
    }

    /// Whether it holds at this moment.
    pub fn holds_at(&self, at: Duration) -> bool {
        self.from <= at && at < self.until()
    }
}

#[cfg(test)]
mod tests;
