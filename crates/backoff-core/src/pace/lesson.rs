//! What one token tells others that are held to the same limit.

use core::time::Duration;

use super::search::faster;
use super::usage::Trial;
use super::{Known, Pace, nanos};

/// What a token's refusal, its return, or what it tries and is granted says of others that are held to the same limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a lesson is for the other tokens"]
pub struct Lesson {
    /// The pace that the token had.
    pub(super) pace: u64,
    /// The pace that it has now.
    pub(super) now: u64,
    /// Whether that is known from a refusal of another.
    pub(super) known: Known,
    pub(super) news: News,
    pub(super) window: u32,
}

/// What has happened to the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    Refused,
    /// It was granted something after a refusal, which has cost so much.
    Returned(u64),
    /// It tries whether more is granted: one of them is enough.
    Tries,
    /// More was granted.
    Granted,
}

impl Pace {
    /// What another token has learned. It counts where this one has about the same pace, or may have.
    pub fn heed(&mut self, lesson: &Lesson, now: Duration) {
        let now = nanos(now);
        if lesson.known == Known::Ceiling && self.may_be(lesson.now) {
            self.adopt(lesson, now);
            return;
        }
        let alike = self.whole.abs_diff(lesson.pace) < lesson.pace / 10;
        if !alike || self.refused_at.is_some() || matches!(self.known, Known::Nothing | Known::Usual) {
            return;
        }
        match lesson.news {
            News::Refused if self.is_dear() && self.whole < lesson.now => {
                self.known = Known::Ceiling;
                self.risky = self.risky.max(lesson.pace);
                self.slow_down_to(lesson.now);
                self.growth = 0;
                self.trial = Trial::from(now);
                // Its window is as full as the other's was.
                self.meter.hold(now, 4);
            }
            News::Granted if self.whole > lesson.now => self.follow(lesson.now, now),
            News::Tries => {
                // What it finds out counts for a guess of the same, too.
                self.known = lesson.known;
                self.trial = Trial::from(now);
            }
            News::Returned(cost) => self.cost = cost,
            News::Refused | News::Granted => {}
        }
    }

    pub(super) fn lesson(&self, pace: u64, news: News) -> Lesson {
        Lesson { pace, now: self.whole, known: self.known, news, window: self.window }
    }

    /// Whether this may be its limit too, by what little is known of it.
    fn may_be(&self, interval: u64) -> bool {
        match self.known {
            Known::Nothing | Known::Ceiling => false,
            Known::Usual | Known::Guessed => interval > self.whole && interval / 4 < self.whole,
            Known::Floor => interval > self.risky && interval < self.safe,
        }
    }

    fn adopt(&mut self, lesson: &Lesson, now: u64) {
        self.known = Known::Ceiling;
        self.whole = lesson.now;
        self.window = lesson.window;
        self.share = Self::WHOLE;
        self.recent.mean = lesson.now;
        self.safe = self.safe.max(lesson.now);
        self.risky = faster(lesson.now, 30);
        self.growth = 0;
        self.trial = Trial::from(now);
        self.apply();
        self.meter.empty(now);
    }
}
