use tidegate_backoff_core::{Lesson, Pace};

use super::learned::Learned;
use super::moment::Moment;
use super::window::{Frame, Window};

/// What a token is held to beyond its rests: the limit that is known beforehand, and the pace that its refusals
/// have taught.
#[derive(Debug, Default)]
pub(super) struct Limits {
    window: Option<Window>,
    pub(super) pace: Option<Pace>,
    pub(super) learned: Learned,
}

impl Limits {
    /// Of a token of which nothing is known but the settings' limit.
    pub(super) fn of(frame: Option<Frame>) -> Option<Box<Self>> {
        frame.map(|frame| Box::new(Self { window: Some(Window::new(frame)), ..Self::default() }))
    }

    /// The same under another known limit.
    pub(super) fn reframed(
        limits: Option<Box<Self>>,
        old: Option<Frame>,
        new: Option<Frame>,
    ) -> Option<Box<Self>> {
        let Self { window, pace, learned } = limits.map_or_else(Self::default, |limits| *limits);
        let window = match (old, new, window) {
            (Some(old), Some(new), Some(window)) => Some(window.reframed(old, new)),
            (_, Some(new), _) => Some(Window::new(new)),
            (_, None, _) => None,
        };
        (window.is_some() || pace.is_some()).then(|| Box::new(Self { window, pace, learned }))
    }

    /// The same without a pace.
    pub(super) fn unpaced(limits: Option<Box<Self>>) -> Option<Box<Self>> {
        let window = limits.and_then(|limits| limits.window);
        window.map(|window| Box::new(Self { window: Some(window), ..Self::default() }))
    }

    /// Counts a lend. Returns what it teaches other tokens.
    pub(super) fn lend(&mut self, frame: Option<Frame>, now: Moment) -> Option<Lesson> {
        if let (Some(frame), Some(window)) = (frame, &mut self.window) {
            window.lend(frame, now);
        }
        self.pace.as_mut().and_then(|pace| pace.lent(now.as_duration()))
    }

    /// Takes back a lend of this moment that was never used.
    pub(super) fn take_back(&mut self, frame: Option<Frame>, lent: Moment) {
        if let (Some(frame), Some(window)) = (frame, &mut self.window) {
            window.take_back(frame, lent);
        }
        if let Some(pace) = &mut self.pace {
            pace.taken_back();
        }
    }

    /// The moment from which both allow a lend.
    pub(super) fn free_at(&mut self, frame: Option<Frame>, now: Moment) -> Moment {
        let window = match (frame, &mut self.window) {
            (Some(frame), Some(window)) => window.free_at(frame, now),
            _ => Moment::BEFORE,
        };
        let pace = self.pace.as_ref().map_or(Moment::BEFORE, |pace| Moment::of(pace.allows_from()));
        window.max(pace)
    }

    /// The moment at which both allow lend number `nth` (0 is the next), if each is made as soon as it may be,
    /// and the first not before `from`.
    pub(super) fn serves_at(&self, frame: Option<Frame>, nth: u32, from: Moment) -> Moment {
        let window = match (frame, &self.window) {
            (Some(frame), Some(window)) => window.serves_at(frame, nth, from),
            _ => from,
        };
        let pace =
            self.pace.as_ref().map_or(from, |pace| Moment::of(pace.serves_at(nth, from.as_duration())));
        window.max(pace)
    }
}
