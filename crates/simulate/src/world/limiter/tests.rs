use super::*;

/// Granted or not, kept the slow way: every grant and every refusal is remembered, and all are counted each time.
struct Naive {
    model: Model,
    phase: Duration,
    grants: Vec<Duration>,
    blocked_until: Duration,
}

impl Naive {
    fn ask(&mut self, now: Duration) -> Verdict {
        let free = match self.model {
            Model::Bucket { rate, burst } => self.level(rate, burst, now) >= rate.interval().as_nanos(),
            Model::Window { rate } => {
                let window = |at: Duration| (at + self.phase).as_nanos() / rate.per.as_nanos();
                self.count(|at| window(at) == window(now)) < rate.count
            }
            Model::Sliding { rate } => self.count(|at| now - at < rate.per) < rate.count,
            Model::Block { rate, .. } => {
                now >= self.blocked_until && self.count(|at| now - at < rate.per) < rate.count
            }
        };
        if free {
            self.grants.push(now);
            return Verdict::Granted;
        }
        if let Model::Block { block, renewal, .. } = self.model {
            if now >= self.blocked_until || renewal == Renewal::Extended {
                self.blocked_until = now + block;
            }
        }
        Verdict::Refused
    }

    fn count(&self, counts: impl Fn(Duration) -> bool) -> u32 {
        u32::try_from(self.grants.iter().filter(|at| counts(**at)).count()).unwrap()
    }

    /// What is in the bucket, in nanoseconds of filling.
    fn level(&self, rate: Rate, burst: u32, now: Duration) -> u128 {
        let grant = rate.interval().as_nanos();
        let full = grant * u128::from(burst);
        let mut level = full;
        let mut last = Duration::ZERO;
        for at in &self.grants {
            level = (level + (*at - last).as_nanos()).min(full) - grant;
            last = *at;
        }
        (level + (now - last).as_nanos()).min(full)
    }
}

const MODELS: [&str; 8] = [
    "bucket 2/1s burst 10",
    "bucket 3/1s burst 1",
    "bucket 1/5s burst 5",
    "window 7/10s",
    "sliding 7/10s",
    "sliding 1/700ms",
    "block 7/10s for 13s",
    "block 7/10s for 3s extend",
];

/// Moments at which calls come: crowds, pauses, and now and then the very end of a window.
fn moments(random: &mut fastrand::Rng) -> impl Iterator<Item = Duration> + '_ {
    let mut at = Duration::ZERO;
    (0..600).map(move |_| {
        at += match random.u32(..10) {
            0 => Duration::ZERO,
            1..=6 => Duration::from_millis(random.u64(..1500)),
            7 => Duration::from_secs(random.u64(..12)),
            8 => Duration::from_nanos(random.u64(..3)),
            _ => Duration::from_millis(10_000 - u64::try_from(at.as_millis() % 10_000).unwrap()),
        };
        at
    })
}

#[test]
fn each_model_grants_what_a_naive_count_grants() {
    for text in MODELS {
        let model: Model = text.parse().unwrap();
        for seed in 0..20 {
            let mut random = fastrand::Rng::with_seed(seed);
            let phase = Duration::from_millis(random.u64(..10_000));
            let mut limiter = Limiter::new(model, phase);
            let mut naive = Naive { model, phase, grants: Vec::new(), blocked_until: Duration::ZERO };
            for at in moments(&mut random) {
                assert_eq!(limiter.ask(at), naive.ask(at), "{text}, seed {seed}, at {at:?}");
            }
        }
    }
}

#[test]
fn the_next_grant_is_the_first_that_there_is() {
    for text in MODELS {
        let mut random = fastrand::Rng::with_seed(7);
        let mut limiter = Limiter::new(text.parse().unwrap(), Duration::from_millis(3210));
        for at in moments(&mut random) {
            let next = limiter.next_grant(at);
            assert_eq!(limiter.clone().ask(next), Verdict::Granted, "{text} at {at:?}");
            if next > at {
                let just_before = next - Duration::from_nanos(1);
                assert_eq!(limiter.clone().ask(just_before), Verdict::Refused, "{text} at {at:?}");
            }
            limiter.ask(at);
        }
    }
}

#[test]
fn what_is_left_is_what_is_granted_at_once() {
    for text in MODELS {
        let mut random = fastrand::Rng::with_seed(8);
        let mut limiter = Limiter::new(text.parse().unwrap(), Duration::ZERO);
        for at in moments(&mut random) {
            let mut other = limiter.clone();
            let granted = (0..).take_while(|_| other.ask(at) == Verdict::Granted).count();
            assert_eq!(limiter.left(at) as usize, granted, "{text} at {at:?}");
            limiter.ask(at);
        }
    }
}

#[test]
fn a_limit_that_changes_keeps_what_was_granted() {
    let second = Duration::from_secs;
    for (text, factor, expected) in [
        // Ten were granted at 0: three are left of the half, none where half is less than ten.
        ("sliding 20/1m", 0.5, second(60)),
        ("sliding 26/1m", 0.5, second(1)),
        ("window 20/1m", 0.5, second(60)),
        ("window 10/1m", 2.0, second(1)),
        // Owes ten grants less the one second's, which come in at half the speed.
        ("bucket 1/1s burst 10", 0.5, second(3)),
    ] {
        let model: Model = text.parse().unwrap();
        let mut limiter = Limiter::new(model, Duration::ZERO);
        for _ in 0..10 {
            assert_eq!(limiter.ask(Duration::ZERO), Verdict::Granted, "{text}");
        }
        let spent_at = if text.starts_with("bucket") {
            assert_eq!(limiter.ask(second(1)), Verdict::Granted);
            second(1)
        } else {
            second(1)
        };
        limiter.change(model.scaled(factor), spent_at);
        assert_eq!(limiter.next_grant(spent_at), expected, "{text} x {factor}");
    }
}

#[test]
fn grants_are_lost_from_the_moment_that_is_told() {
    let second = Duration::from_secs;
    for (text, asked, expected) in [
        // Two of the ten are missing, which take a second to come in.
        ("bucket 2/1s burst 10", 2, second(1)),
        ("window 10/10s", 2, second(10)),
        // One of the chains of grants stands idle since the beginning.
        ("sliding 10/10s", 2, second(0)),
        ("sliding 2/10s", 2, second(10)),
    ] {
        let mut limiter = Limiter::new(text.parse().unwrap(), Duration::ZERO);
        for _ in 0..asked {
            limiter.ask(Duration::ZERO);
        }
        assert_eq!(limiter.loses_from(Duration::ZERO), expected, "{text}");
    }
}
