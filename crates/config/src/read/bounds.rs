//! Bounds that belong together. Who sets one of them says nothing of the others, so their defaults give way; only what
//! was set can contradict itself.

use std::time::Duration;

use crate::{
    catalogue::Entry,
    duration::show_duration,
    reader::{Read, Reader, Scope},
};

/// A duration and the TOML path that it has in this place.
pub(super) struct Bound {
    read: Read<Duration>,
    path: String,
}

impl Bound {
    pub(super) fn read(reader: &mut Reader<'_>, entry: &'static Entry<Duration>, place: Scope<'_>) -> Self {
        Self::of(reader.read_in(entry, place), place.path(entry.path))
    }

    pub(super) fn of(read: Read<Duration>, path: String) -> Self {
        Self { read, path }
    }

    pub(super) fn value(&self) -> Duration {
        self.read.value.unwrap_or_default()
    }

    /// Takes the value of another, and shows whose it is.
    pub(super) fn follow(&mut self, reader: &mut Reader<'_>, other: &Self) {
        self.read.value = other.read.value;
        reader.amend_row(&self.path, format!("{} (by {})", show_duration(other.value()), other.path));
    }

    /// Takes a value that no text says.
    pub(super) fn take(&mut self, reader: &mut Reader<'_>, value: Duration) {
        self.read.value = Some(value);
        reader.amend_row(&self.path, show_duration(value));
    }

    fn exceeds(&self, most: &Self) -> bool {
        // What is faulty has been told and is not compared.
        matches!((self.read.value, most.read.value), (Some(least), Some(most)) if least > most)
    }
}

/// Brings two bounds in order: a default gives way to what is set; two that are set are a fault that names both.
pub(super) fn settle(reader: &mut Reader<'_>, least: &mut Bound, most: &mut Bound) {
    if !least.exceeds(most) {
        return;
    }
    match (least.read.is_set(), most.read.is_set()) {
        (true, true) => tell(reader, least, most),
        (true, false) => most.follow(reader, least),
        (false, _) => least.follow(reader, most),
    }
}

/// Tells when `least` is longer than `most`, by both their names.
fn tell(reader: &mut Reader<'_>, least: &Bound, most: &Bound) {
    let (mine, theirs) = (show_duration(least.value()), show_duration(most.value()));
    let other = &most.read;
    let what = format!("{mine} is longer than {theirs} of {} ({})", other.name, other.source);
    let mend = format!("write {theirs} at most, or change {}", other.name);
    reader.fault(least.read.name.clone(), least.read.at(), what, mend);
}

/// The same for the three of a token's rests. Where `max` is a default, `base` and `max_rest` can contradict each other
/// whatever it gives way to.
pub(super) fn settle_rests(reader: &mut Reader<'_>, base: &mut Bound, max: &mut Bound, max_rest: &mut Bound) {
    if base.read.is_set() && !max.read.is_set() && base.exceeds(max_rest) {
        return tell(reader, base, max_rest);
    }
    settle(reader, max, max_rest);
    settle(reader, base, max);
}
