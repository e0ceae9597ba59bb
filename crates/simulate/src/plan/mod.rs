//! A file that describes a world: a settings file of Tidegate's with a table `[simulate]` more.

mod split;
#[cfg(test)]
mod tests;
mod written;

use std::time::Duration;

use self::written::{Count, Text, Written, WrittenEvent};
use crate::policy::{Named, OursSettings, SettingsError};
use crate::run::Case;
use crate::world::{Event, Happening, LogNormal, Traffic, World};

/// The loads that are looked at where a file names none.
const LOADS: [f64; 10] = [0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.1, 1.25, 1.5, 2.0];

/// What is to be found out: worlds that differ in their traffic alone, under some policies.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The worlds, in the file's order.
    pub worlds: Vec<World>,
    /// Who spends the tokens.
    pub policies: Vec<Named>,
    /// How, if it is us.
    pub settings: OursSettings,
    /// How many seeds each figure is the mean of.
    pub seeds: u64,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// In `[simulate]`.
    #[error("{place}: {fault}")]
    World {
        /// The file, and the line where there is one.
        place: String,
        /// What, and where.
        fault: String,
    },
    /// In Tidegate's own settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

#[derive(serde::Deserialize)]
struct Document {
    simulate: Option<Written>,
}

impl Plan {
    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// The first fault of `[simulate]`, or all of Tidegate's own settings.
    ///
    /// ```
    /// use tidegate_simulate::Plan;
    ///
    /// let plan = Plan::read("plan.toml", "[simulate]\ntokens = 5\nlimit = 'window 60/1m'\nload = [0.9]")?;
    /// assert_eq!(plan.worlds[0].per_second(), 5.0);
    /// # Ok::<(), tidegate_simulate::PlanError>(())
    /// ```
    pub fn read(path: &str, text: &str) -> Result<Self, PlanError> {
        let (world, settings) = split::split(text);
        let fault = |fault: String| PlanError::World { place: path.to_owned(), fault };
        let document: Document = toml::from_str(&world).map_err(|error| PlanError::World {
            place: match error.span() {
                Some(span) => format!("{path}:{}", world[..span.start].matches('\n').count() + 1),
                None => path.to_owned(),
            },
            fault: error.message().to_owned(),
        })?;
        let written = document.simulate.ok_or_else(|| {
            fault(
                "no [simulate]; add it, with tokens = 5 and limit = \"window 60/1m\" for a start".to_owned(),
            )
        })?;
        let settings = OursSettings::from_toml(path, &settings)?;
        let worlds = written.worlds(&settings).map_err(fault)?;
        let policies =
            written.policies.map_or(vec![Named::Ours], |named| named.iter().map(|it| it.0).collect());
        Ok(Self { worlds, policies, settings, seeds: written.seeds.map_or(3, |count| count.0 as u64) })
    }

    /// All that is to be run, world by world.
    pub fn cases(&self) -> Vec<Case> {
        let case = |world: &World, policy: Named| Case {
            world: world.clone(),
            policy,
            settings: self.settings.clone(),
            best_waits: self.settings.max_wait(),
        };
        self.worlds.iter().flat_map(|world| self.policies.iter().map(|policy| case(world, *policy))).collect()
    }
}

impl Written {
    fn worlds(&self, settings: &OursSettings) -> Result<Vec<World>, String> {
        let given = World::default();
        let tokens = self.tokens.map_or_else(|| settings.tokens(), |count| count.0);
        if tokens == 0 {
            return Err("[simulate]: no tokens; add tokens = 5".to_owned());
        }
        let Some(Text(model)) = self.limit else {
            return Err("[simulate]: no limit; add limit = \"window 60/1m\"".to_owned());
        };
        let base = World {
            tokens,
            model,
            counted: self.counted.unwrap_or(given.counted),
            hints: self.tells.unwrap_or(given.hints),
            latency: LogNormal {
                median: self.latency.map_or(given.latency.median, |length| length.0),
                sigma: self.spread.map_or(given.latency.sigma, |share| share.0),
            },
            arrives_after: self.arrives_after.map_or(given.arrives_after, |share| share.0),
            errors: self.errors.map_or(given.errors, |share| share.0),
            not_found: self.not_found.map_or(given.not_found, |share| share.0),
            events: self.event.iter().map(|event| event.read(tokens)).collect::<Result<_, _>>()?,
            clients: match &self.clients {
                Some(parts) if !parts.is_empty() => parts.iter().map(|part| part.0).collect(),
                _ => given.clients,
            },
            deadline: self.deadline.map_or(given.deadline, |length| length.0),
            warm_up: self.warm_up.map_or(given.warm_up, |length| length.0),
            measured: self.measured.map_or(given.measured, |length| length.0),
            traffic: given.traffic,
        };
        let traffics = self.traffics(base.per_second())?;
        Ok(traffics.into_iter().map(|traffic| World { traffic, ..base.clone() }).collect())
    }

    fn traffics(&self, granted: f64) -> Result<Vec<Traffic>, String> {
        if let Some(users) = &self.users {
            let think = self.think.map_or(Duration::from_secs(3), |length| length.0);
            return match (&self.load, &self.rate, self.bursts) {
                (None, None, None) => {
                    Ok(users.iter().map(|Count(users)| Traffic::Closed { users: *users, think }).collect())
                }
                _ => Err("[simulate]: users call when they have an answer; leave out load, rate and bursts"
                    .to_owned()),
            };
        }
        if self.think.is_some() {
            return Err("[simulate]: who thinks? add users = [10, 100], or leave out think".to_owned());
        }
        let loads: Vec<f64> = match (&self.load, &self.rate) {
            (Some(_), Some(_)) => {
                return Err("[simulate]: load and rate say the same; leave out one".to_owned());
            }
            (Some(loads), None) => loads.iter().map(|load| load.0).collect(),
            (None, Some(rates)) => rates.iter().map(|rate| rate.0.per_second() / granted).collect(),
            (None, None) => LOADS.to_vec(),
        };
        let traffic = |load| match self.bursts {
            Some(every) => Traffic::Bursts { load, every: every.0 },
            None => Traffic::Poisson { load },
        };
        Ok(loads.into_iter().map(traffic).collect())
    }
}

impl WrittenEvent {
    fn read(&self, tokens: usize) -> Result<Event, String> {
        let (from, lasts, what) = match self {
            Self::Outage { from, lasts } => (from, *lasts, Happening::Outage),
            Self::Slow { from, lasts, times } => (from, *lasts, Happening::Slow { factor: times.0 }),
            Self::Limit { from, lasts, times } => (from, *lasts, Happening::Limit { factor: times.0 }),
            Self::Revoked { token: Count(token), .. } if *token > tokens => {
                return Err(format!("[[simulate.event]]: there is no token {token}; the last is {tokens}"));
            }
            Self::Revoked { from, token } => (from, None, Happening::Revoked { token: token.0 - 1 }),
        };
        Ok(Event { from: from.0, lasts: lasts.map(|length| length.0), what })
    }
}
