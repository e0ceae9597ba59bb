//! What issue 7 calls the grid: models, loads, and what is wanted of each.

use std::time::Duration;

use tidegate_config::Limit;

use crate::measure::Measured;
use crate::policy::{Named, OursSettings};
use crate::run::Case;
use crate::world::{Event, Happening, Hints, Model, Rate, Renewal, Traffic, World};

/// What is wanted of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// `goodput / limit`, at least.
    pub goodput: f64,
    /// Calls per success, at most.
    pub calls: f64,
    /// The 99th percentile of those who were served, in seconds, at most.
    pub p99: f64,
    /// From an outage's end until clients are served as before it, in seconds, at most.
    pub recovery: f64,
    /// Calls during an outage for each request, at most.
    pub calls_in_outage: f64,
}

impl Wanted {
    /// All is well.
    pub const NOTHING: Self = Self {
        goodput: 0.0,
        calls: f64::INFINITY,
        p99: f64::INFINITY,
        recovery: f64::INFINITY,
        calls_in_outage: f64::INFINITY,
    };

    /// Whether it is not all there.
    pub fn is_missed_by(&self, it: &Measured) -> bool {
        it.goodput < self.goodput
            || it.calls_per_success > self.calls
            || it.p99 > self.p99
            || it.recovery.is_some_and(|recovery| recovery > self.recovery)
            || it.calls_in_outage.is_some_and(|calls| calls > self.calls_in_outage)
    }
}

/// One model at one load, with what is wanted.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which part of the grid it is of.
    pub part: Part,
    /// The world.
    pub world: World,
    /// The limit as `token.limit` says it, where the row gives it.
    pub limit: Option<Limit>,
    /// What is wanted.
    pub wanted: Wanted,
}

/// The parts of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The limit is neither told nor given.
    Learned,
    /// The upstream tells it.
    Told,
    /// `token.limit` gives it.
    Given,
    /// An outage of a minute.
    Outage,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Learned, Self::Told, Self::Given, Self::Outage];

    /// What it is about.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Learned => "Neither told nor given",
            Self::Told => "Told in headers",
            Self::Given => "Given as token.limit",
            Self::Outage => "An outage of 60 s",
        }
    }

    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Learned => "learned",
            Self::Told => "told",
            Self::Given => "given",
            Self::Outage => "outage",
        }
    }
}

/// A kind of upstream, and what is wanted where its limit has to be learned.
struct Kind {
    /// And how many tokens there are of it.
    models: &'static [(Model, usize)],
    loads: &'static [f64],
    not_found: f64,
    wanted: Wanted,
}

const MINUTE: Duration = Duration::from_secs(60);
const HUNDRED: Rate = Rate { count: 100, per: MINUTE };

const fn bucket(count: u32, seconds: u64, burst: u32) -> Model {
    Model::Bucket { rate: Rate { count, per: Duration::from_secs(seconds) }, burst }
}

const fn block(renewal: Renewal) -> Model {
    Model::Block { rate: HUNDRED, block: MINUTE, renewal }
}

const KINDS: &[Kind] = &[
    Kind {
        models: &[(bucket(2, 1, 10), 10), (bucket(1, 5, 5), 4), (bucket(1, 1, 60), 10)],
        loads: &[0.5, 0.9, 1.0, 1.5, 3.0],
        not_found: 0.0,
        wanted: Wanted { goodput: 0.97, calls: 1.05, p99: 2.5, ..Wanted::NOTHING },
    },
    Kind {
        models: &[(bucket(20, 1, 40), 5), (bucket(2, 1, 1), 10)],
        loads: &[0.5, 0.9, 1.0, 1.5, 3.0],
        not_found: 0.0,
        wanted: Wanted { goodput: 0.93, calls: 1.08, p99: 2.5, ..Wanted::NOTHING },
    },
    Kind {
        models: &[(Model::Window { rate: HUNDRED }, 4), (Model::Sliding { rate: HUNDRED }, 4)],
        loads: &[0.5, 0.9, 1.0, 1.5, 3.0],
        not_found: 0.0,
        wanted: Wanted { goodput: 0.95, calls: 1.05, p99: 5.0, ..Wanted::NOTHING },
    },
    Kind {
        models: &[(block(Renewal::Fixed), 4), (block(Renewal::Extended), 4)],
        loads: &[0.6, 0.9, 1.0, 1.5, 3.0],
        not_found: 0.05,
        wanted: Wanted { goodput: 0.90, calls: 1.03, p99: 5.0, ..Wanted::NOTHING },
    },
];

/// Where the limit is told or given.
const KNOWN: Wanted = Wanted { goodput: 0.98, calls: 1.02, ..Wanted::NOTHING };

const AFTER_OUTAGE: Wanted = Wanted { recovery: 10.0, calls_in_outage: 1.3, ..Wanted::NOTHING };

/// The whole grid, in the order in which it is printed.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for part in Part::ALL {
        for kind in KINDS {
            for (model, tokens) in kind.models {
                let loads = kind.loads.iter().filter(|load| part != Part::Outage || **load == 0.9);
                rows.extend(loads.map(|load| kind.row(part, *model, *tokens, *load)));
            }
        }
    }
    rows
}

impl Kind {
    fn row(&self, part: Part, model: Model, tokens: usize, load: f64) -> Row {
        let traffic = Traffic::Poisson { load };
        let mut world = World { tokens, model, not_found: self.not_found, traffic, ..World::default() };
        let (mut limit, mut wanted) = (None, self.wanted);
        match part {
            Part::Learned => {}
            Part::Told => (world.hints, wanted) = (Hints::Both, KNOWN),
            Part::Given => (limit, wanted) = (Some(said(model)), KNOWN),
            Part::Outage => {
                wanted = AFTER_OUTAGE;
                world.events.push(Event { from: 5 * MINUTE, lasts: Some(MINUTE), what: Happening::Outage });
            }
        }
        Row { part, world, limit, wanted }
    }
}

/// What a person would write as `token.limit`.
fn said(model: Model) -> Limit {
    let (rate, burst) = match model {
        Model::Bucket { rate, burst } => (rate, Some(burst)),
        Model::Window { rate } | Model::Sliding { rate } | Model::Block { rate, .. } => (rate, None),
    };
    Limit { count: rate.count, per: rate.per, burst }
}

impl Row {
    /// The row under a policy. The best possible one has a request wait as long as the wanted p99 leaves to it beside
    /// an answer's own.
    pub fn case(&self, policy: Named, settings: &OursSettings) -> Case {
        let settings = match self.limit {
            Some(limit) => settings.clone().with_limit(limit),
            None => settings.clone(),
        };
        let best_waits = (self.wanted.p99 - 0.5).min(settings.max_wait().as_secs_f64());
        let best_waits = Duration::from_secs_f64(best_waits);
        Case { world: self.world.clone(), policy, settings, best_waits }
    }

    /// What it is called: its part, model and load.
    pub fn key(&self) -> String {
        let load = match self.world.traffic {
            Traffic::Poisson { load } | Traffic::Bursts { load, .. } => load,
            Traffic::Closed { users, .. } => users as f64,
        };
        format!("{} | {} x {} | {load}", self.part.as_str(), self.world.model, self.world.tokens)
    }
}
