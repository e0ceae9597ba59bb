//! `[simulate]` as it is written. What can be wrong in one value is told with that value's place.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use tidegate_config::parse_duration;

use crate::policy::Named;
use crate::world::{Counted, Hints, Model, Rate};

/// The whole table. Absent values have the world's defaults.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) limit: Option<Text<Model>>,
    pub(super) tokens: Option<Count>,
    pub(super) counted: Option<Counted>,
    pub(super) tells: Option<Hints>,
    pub(super) latency: Option<Length>,
    pub(super) spread: Option<Share>,
    pub(super) arrives_after: Option<Share>,
    pub(super) errors: Option<Share>,
    pub(super) not_found: Option<Share>,
    #[serde(default)]
    pub(super) event: Vec<WrittenEvent>,
    pub(super) load: Option<Vec<Positive>>,
    pub(super) rate: Option<Vec<Text<Rate>>>,
    pub(super) bursts: Option<Period>,
    pub(super) users: Option<Vec<Count>>,
    pub(super) think: Option<Length>,
    pub(super) clients: Option<Vec<Positive>>,
    pub(super) deadline: Option<Period>,
    pub(super) warm_up: Option<Length>,
    pub(super) measured: Option<Period>,
    pub(super) policies: Option<Vec<Text<Named>>>,
    pub(super) seeds: Option<Count>,
}

/// One `[[simulate.event]]`.
#[derive(Debug, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum WrittenEvent {
    Outage { from: Length, lasts: Option<Period> },
    Slow { from: Length, lasts: Option<Period>, times: Positive },
    Limit { from: Length, lasts: Option<Period>, times: Positive },
    Revoked { from: Length, token: Count },
}

/// What is read from a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<T>(pub(super) T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map(Self).map_err(D::Error::custom)
    }
}

/// A length of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length(pub(super) Duration);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fault = |_| D::Error::custom(format!("{text:?} is no length of time; write 30s, 120ms or 1m30s"));
        parse_duration(&text).map(Self).map_err(fault)
    }
}

/// A length of time above zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period(pub(super) Duration);

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Length::deserialize(deserializer)?.0 {
            Duration::ZERO => Err(D::Error::custom("it must be above zero; write 30s")),
            length => Ok(Self(length)),
        }
    }
}

/// A whole number from 1 on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count(pub(super) usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u16::deserialize(deserializer)? {
            0 => Err(D::Error::custom("it must be at least 1")),
            count => Ok(Self(count.into())),
        }
    }
}

/// A number above zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positive(pub(super) f64);

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let is_fine = number > 0.0 && number <= 1000.0;
        is_fine
            .then_some(Self(number))
            .ok_or_else(|| D::Error::custom("it must be above 0, and 1000 at most"))
    }
}

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share(pub(super) f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(deserializer)?;
        let is_fine = (0.0..=1.0).contains(&share);
        is_fine
            .then_some(Self(share))
            .ok_or_else(|| D::Error::custom("it must be from 0 to 1; write 0.05 for 5 %"))
    }
}
