use std::time::Duration;

use super::Service;
use super::quantiles::Durations;

/// How many seconds are kept: what the charts show.
const KEPT: u64 = 120;
/// With the one that runs.
const SLOTS: u64 = KEPT + 1;
/// How many the headline figures look back.
const WINDOW: u64 = 10;

/// What was answered within one second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Second {
    /// Counted from the start of the process.
    pub(crate) number: u64,
    pub(crate) requests: u32,
    pub(crate) served: u32,
    pub(crate) failed: u32,
    pub(crate) attempts: u32,
    durations: Durations,
}

/// What several seconds come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    /// How many seconds that is: fewer than ten at the start.
    pub(crate) seconds: u64,
    pub(crate) requests: u64,
    pub(crate) served: u64,
    pub(crate) failed: u64,
    pub(crate) attempts: u64,
    /// In milliseconds.
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
}

impl Second {
    /// The median of the durations, in milliseconds.
    pub(crate) fn p50(&self) -> Option<f64> {
        self.durations.quantile(0.5)
    }

    /// What 99 of 100 did not exceed, in milliseconds.
    pub(crate) fn p99(&self) -> Option<f64> {
        self.durations.quantile(0.99)
    }
}

/// The last seconds; one without a request need not be there.
#[derive(Debug, Default)]
pub(super) struct Seconds(Vec<Second>);

impl Seconds {
    pub(super) fn count(&mut self, number: u64, service: Service, attempts: usize, took: Duration) {
        if self.0.is_empty() {
            self.0 = vec![Second::default(); usize::try_from(SLOTS).unwrap_or_default()];
        }
        let Some(second) = self.0.get_mut(place(number)) else { return };
        if second.number != number {
            *second = Second { number, ..Second::default() };
        }
        second.requests = second.requests.saturating_add(1);
        match service {
            Service::Served => second.served = second.served.saturating_add(1),
            Service::Failed => second.failed = second.failed.saturating_add(1),
            Service::Left => {}
        }
        second.attempts = second.attempts.saturating_add(u32::try_from(attempts).unwrap_or(u32::MAX));
        second.durations.count(took);
    }

    /// The seconds from `from` on and before `now`.
    pub(super) fn between(&self, from: u64, now: u64) -> Vec<Second> {
        let first = from.max(now.saturating_sub(KEPT));
        (first..now).map(|number| self.get(number)).collect()
    }

    pub(super) fn figures(&self, now: u64) -> Figures {
        let (mut figures, mut durations) = (Figures::default(), Durations::default());
        for second in self.between(now.saturating_sub(WINDOW), now) {
            figures.seconds += 1;
            figures.requests += u64::from(second.requests);
            figures.served += u64::from(second.served);
            figures.failed += u64::from(second.failed);
            figures.attempts += u64::from(second.attempts);
            durations.add(&second.durations);
        }
        Figures { p50: durations.quantile(0.5), p99: durations.quantile(0.99), ..figures }
    }

    fn get(&self, number: u64) -> Second {
        let kept = self.0.get(place(number)).filter(|second| second.number == number);
        kept.cloned().unwrap_or(Second { number, ..Second::default() })
    }
}

fn place(number: u64) -> usize {
    usize::try_from(number % SLOTS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOK: Duration = Duration::from_millis(20);

    #[test]
    fn a_second_that_is_overwritten_or_was_quiet_is_empty() {
        let mut seconds = Seconds::default();
        assert_eq!(seconds.between(0, 3).len(), 3);
        seconds.count(1, Service::Served, 2, TOOK);
        seconds.count(1, Service::Left, 1, TOOK);
        seconds.count(122, Service::Failed, 4, TOOK);
        let requests = |from, now| {
            let found = seconds.between(from, now);
            found
                .iter()
                .map(|second| (second.number, second.requests))
                .filter(|(_, n)| *n > 0)
                .collect::<Vec<_>>()
        };
        for (from, now, want) in [
            (0, 60, vec![]),
            (0, 122, vec![]),
            (0, 123, vec![(122, 1)]),
            (123, 130, vec![]),
            (0, 242, vec![(122, 1)]),
            (0, 243, vec![]),
        ] {
            assert_eq!(requests(from, now), want, "{from} to {now}");
        }
    }

    #[test]
    fn the_figures_are_of_the_last_ten_seconds() {
        let mut seconds = Seconds::default();
        assert_eq!(seconds.figures(0), Figures::default());
        for number in 0..30 {
            seconds.count(number, Service::Served, 1, TOOK);
            seconds.count(number, Service::Failed, 3, TOOK);
        }
        let figures = seconds.figures(4);
        assert_eq!((figures.seconds, figures.requests), (4, 8));
        let figures = seconds.figures(30);
        assert_eq!((figures.seconds, figures.requests, figures.attempts), (10, 20, 40));
        assert_eq!((figures.served, figures.failed), (10, 10));
        assert!(figures.p50.is_some_and(|p50| (20.0..24.0).contains(&p50)), "{figures:?}");
    }
}
