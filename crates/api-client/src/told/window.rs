//! The quotas a response tells of: whether one is used up, and when it is full again.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName};

use super::{ietf, moment};

/// What is told of one quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Whether nothing is left; `None`: not told.
    pub(crate) empty: Option<bool>,
    /// How much is left; `None`: not told, or no number.
    pub(crate) left: Option<u32>,
    /// When it is full again.
    pub(crate) reset: Option<Duration>,
}

impl Window {
    pub(super) fn tell_left(&mut self, value: &[u8]) {
        (self.empty, self.left) = (Some(moment::is_zero(value) == Some(true)), moment::whole(value));
    }
}

/// Hands on each quota that the headers tell of, in all the ways there are.
///
/// Fields come in pairs, of any family whose name says "ratelimit" or "rate-limit": `x-ratelimit-remaining` with
/// `x-ratelimit-reset`, `x-ratelimit-remaining-tokens` with `x-ratelimit-reset-tokens`,
/// `x-requests-ratelimit-remaining` with its own. A field may list several quotas (`0, 4999` with `1, 86400`).
///
/// `origin` is asked for only where there is such a field: most responses have none, and a `Date` to read it from.
pub(crate) fn windows(headers: &HeaderMap, origin: impl Fn() -> SystemTime, mut each: impl FnMut(Window)) {
    for name in headers.keys() {
        if name.as_str() == "ratelimit" {
            ietf::windows(headers.get_all(name), origin(), &mut each);
            continue;
        }
        let Some(field) = Field::parse(name) else { continue };
        match field.kind {
            Kind::Remaining => {
                // Without its reset, a quota that is used up is still told to be.
                let reset = headers.keys().find(|other| {
                    Field::parse(other)
                        .is_some_and(|other| other.kind == Kind::Reset && other.is_about(&field))
                });
                pairs(headers, name, reset, origin(), &mut each);
            }
            Kind::Reset => {
                let paired = headers.keys().any(|other| {
                    Field::parse(other)
                        .is_some_and(|other| other.kind == Kind::Remaining && field.is_about(&other))
                });
                if !paired {
                    resets(headers, name, origin())
                        .for_each(|reset| each(Window { empty: None, left: None, reset }));
                }
            }
        }
    }
}

/// A name such as `x-ratelimit-reset-tokens`, taken apart.
#[derive(PartialEq, Eq)]
struct Field<'a> {
    kind: Kind,
    before: &'a str,
    after: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Remaining,
    Reset,
}

impl<'a> Field<'a> {
    fn parse(name: &'a HeaderName) -> Option<Self> {
        let name = name.as_str();
        // Every response's every field comes through here, and most names are shorter.
        if name.len() < "ratelimit-reset".len() {
            return None;
        }
        if !(name.contains("ratelimit") || name.contains("rate-limit")) {
            return None;
        }
        let (kind, (before, after)) = name
            .split_once("-remaining")
            .map(|parts| (Kind::Remaining, parts))
            .or_else(|| Some((Kind::Reset, name.split_once("-reset")?)))?;
        // `-resets` or `-remainingly` is another word.
        (after.is_empty() || after.starts_with('-')).then_some(Self { kind, before, after })
    }

    /// Whether this reset field is about the quota of that remaining field. `-reset-after` is another spelling.
    fn is_about(&self, remaining: &Field<'_>) -> bool {
        self.before == remaining.before
            && (self.after == remaining.after
                || self.after.strip_suffix("-after").is_some_and(|after| after == remaining.after))
    }
}

/// Quotas by place: the first element of the one field belongs to the first of the other.
fn pairs(
    headers: &HeaderMap,
    remaining: &HeaderName,
    reset: Option<&HeaderName>,
    origin: SystemTime,
    each: &mut impl FnMut(Window),
) {
    let mut resets = reset.map(|name| resets(headers, name, origin));
    let mut last = None;
    for value in elements(headers, remaining) {
        // One reset may stand for all of them.
        last = resets.as_mut().and_then(Iterator::next).flatten().or(last);
        let mut window = Window { empty: None, left: None, reset: last };
        window.tell_left(value);
        each(window);
    }
}

/// The moments of a reset field. A date holds a comma itself: such a line is one element.
fn resets<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    origin: SystemTime,
) -> impl Iterator<Item = Option<Duration>> + use<'a> {
    headers.get_all(name).into_iter().flat_map(move |line| {
        let date = moment::until_http_date(line.as_bytes(), origin);
        let elements = date.is_none().then(|| line.as_bytes().split(|&byte| byte == b','));
        let elements = elements.into_iter().flatten().map(move |value| moment::reset(value, origin));
        date.map(Some).into_iter().chain(elements)
    })
}

fn elements<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    headers.get_all(name).into_iter().flat_map(|line| line.as_bytes().split(|&byte| byte == b','))
}
