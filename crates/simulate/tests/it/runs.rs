//! Runs of small worlds.

use std::thread;
use std::time::Duration;

use tidegate_simulate::measure::Measured;
use tidegate_simulate::policy::{Named, OursSettings};
use tidegate_simulate::report::{Line, figures_table};
use tidegate_simulate::world::{Event, Happening, Hints, Model, Traffic, World};
use tidegate_simulate::{Case, Plan, run, run_all};

fn world(model: &str, tokens: usize, load: f64) -> World {
    World {
        tokens,
        model: model.parse::<Model>().unwrap(),
        traffic: Traffic::Poisson { load },
        warm_up: Duration::from_secs(60),
        measured: Duration::from_secs(300),
        ..World::default()
    }
}

fn settings(text: &str) -> OursSettings {
    OursSettings::from_toml("test", text).unwrap()
}

fn run_as(policy: Named, world: &World) -> Measured {
    let best_waits = Duration::from_secs(5);
    run(&Case { world: world.clone(), policy, settings: settings(""), best_waits }, 1).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_figures_on_any_thread() {
    let world = world("bucket 2/1s burst 5", 3, 1.5);
    for policy in Named::ALL {
        let case =
            Case { world: world.clone(), policy, settings: settings(""), best_waits: Duration::from_secs(5) };
        let here = run(&case, 7).unwrap();
        // A thread that has drawn before.
        let there = thread::scope(|scope| {
            let other = scope.spawn(|| {
                fastrand::u64(..);
                run(&case, 3).unwrap();
                run(&case, 7).unwrap()
            });
            other.join().unwrap()
        });
        assert_eq!(here, there, "{policy}");
        assert_ne!(here, run(&case, 8).unwrap(), "{policy}");
    }
}

/// The figures of the policies that do not change with the pool: on another machine they are these too.
#[test]
fn the_same_seed_gives_the_same_figures_on_any_machine() {
    let model = world("bucket 2/1s burst 5", 3, 1.5);
    let plan = Plan {
        worlds: [0.9, 1.5].map(|load| World { traffic: Traffic::Poisson { load }, ..model.clone() }).into(),
        policies: Named::ALL.into_iter().filter(|policy| *policy != Named::Ours).collect(),
        settings: settings(""),
        seeds: 2,
    };
    let figures = run_all(&plan.cases(), &[1, 2]).unwrap();
    insta::assert_snapshot!(figures_table(&Line::of_plan(&plan, &figures)));
}

#[test]
fn the_order_of_threads_does_not_show() {
    let world = world("window 30/1m", 2, 1.2);
    let case =
        |policy| Case { world: world.clone(), policy, settings: settings(""), best_waits: Duration::ZERO };
    let (many, one) = ([case(Named::Ours), case(Named::Fixed)], [case(Named::Fixed)]);
    let seeds = [1, 2, 3];
    assert_eq!(run_all(&many, &seeds).unwrap()[1], run_all(&one, &seeds).unwrap()[0]);
}

#[test]
fn the_best_possible_is_never_refused_and_uses_what_is_granted() {
    for model in ["bucket 2/1s burst 1", "window 30/1m", "sliding 30/1m", "block 30/1m for 1m extend"] {
        let it = run_as(Named::Best, &World { errors: 0.0, ..world(model, 3, 1.5) });
        assert_eq!((it.refused, it.calls_per_success), (0.0, 1.0), "{model}");
        // Timers are whole milliseconds; and the last who came in while it was measured are served after it.
        assert!((0.97..1.05).contains(&it.goodput), "{model}: {}", it.goodput);
        assert!(it.p99 < 5.0 + 0.5, "{model}: {}", it.p99);
    }
}

#[test]
fn each_policy_serves_all_where_little_is_asked() {
    for policy in Named::ALL {
        let quiet = World { errors: 0.0, ..world("bucket 5/1s burst 20", 4, 0.3) };
        let it = run_as(policy, &quiet);
        assert_eq!((it.goodput, it.calls_per_success, it.refused), (1.0, 1.0, 0.0), "{policy}");
        assert_eq!(it.fairness, 1.0, "{policy}");
    }
}

#[test]
fn policies_try_as_often_as_they_say() {
    let outage = Event { from: Duration::ZERO, lasts: None, what: Happening::Outage };
    let broken = World { events: vec![outage], ..world("bucket 100/1s burst 100", 4, 0.01) };
    for (policy, calls) in [(Named::PixivFe3, 1.0), (Named::Fixed, 3.0), (Named::RoundRobin, 3.0)] {
        let it = run_as(policy, &broken);
        // The last requests' calls arrive after the end.
        let told = it.calls_in_outage.unwrap();
        assert!(it.served == 0.0 && (calls - 0.02..=calls).contains(&told), "{policy}: {told}");
    }
    // Three tokens, four tries with each, and the time it takes: 10 s do not suffice for all twelve.
    let patient = World { deadline: Duration::from_secs(60), ..broken.clone() };
    let calls = run_as(Named::PixivFe2, &patient).calls_in_outage.unwrap();
    assert!((11.0..=12.0).contains(&calls), "{calls}");
    assert!(run_as(Named::PixivFe2, &broken).calls_in_outage.unwrap() < 11.0);
    // A 404 is an answer for us, and a failure of the token for PixivFE.
    let empty = World { not_found: 1.0, errors: 0.0, ..world("bucket 100/1s burst 100", 4, 0.01) };
    for (policy, calls) in [(Named::Ours, 1.0), (Named::PixivFe2, 3.0), (Named::PixivFe3, 1.0)] {
        let it = run_as(policy, &empty);
        assert_eq!((it.goodput, it.calls_per_success), (1.0, calls), "{policy}");
    }
}

#[test]
fn ours_is_made_with_its_settings() {
    let world = world("bucket 2/1s burst 10", 3, 1.5);
    let ours = |text: &str| {
        let settings = settings(text);
        run(&Case { world: world.clone(), policy: Named::Ours, settings, best_waits: Duration::ZERO }, 1)
            .unwrap()
    };
    // A limit that is known is never met.
    let known = ours("token.limit = \"10/5s\"");
    assert_eq!(known.refused, 0.0);
    assert!(known.goodput > 0.9, "{}", known.goodput);
    let quick = ours("token.limit = \"10/5s\"\ntoken.max_wait = \"500ms\"");
    assert!(quick.p99 < 1.2, "{}", quick.p99);
    assert!(known.p99 > 2.0, "{}", known.p99);
}

#[test]
fn a_limit_that_is_told_is_met_less_often() {
    let silent = world("window 30/1m", 3, 1.5);
    let told = World { hints: Hints::Both, ..silent.clone() };
    let refused = |world: World| {
        let settings = settings("token.pacing = \"off\"");
        run(&Case { world, policy: Named::Ours, settings, best_waits: Duration::ZERO }, 1).unwrap().refused
    };
    let (silent, told) = (refused(silent), refused(told));
    assert!(told < silent, "{told} {silent}");
}

#[test]
fn a_revoked_token_costs_its_share_and_a_few_calls() {
    let revoked =
        Event { from: Duration::from_secs(100), lasts: None, what: Happening::Revoked { token: 0 } };
    let it = run_as(Named::Ours, &World { events: vec![revoked], ..world("bucket 5/1s burst 10", 4, 0.5) });
    assert!(it.goodput > 0.999, "{}", it.goodput);
    assert!(it.calls_per_success < 1.02, "{}", it.calls_per_success);
}

#[test]
fn users_who_wait_for_their_answers_ask_no_more_than_they_get() {
    let think = Duration::from_secs(2);
    let closed = |users| World { traffic: Traffic::Closed { users, think }, ..world("window 60/1m", 5, 0.0) };
    // Ten users ask for 10 / 2.14 = 4.7 a second of the five that are granted.
    let few = run_as(Named::Best, &closed(10));
    assert!((0.9..1.0).contains(&(few.served_a_second / 5.0)), "{}", few.served_a_second);
    assert!(few.success > 0.99, "{}", few.success);
    // A hundred ask for more than there is.
    let many = run_as(Named::Best, &closed(100));
    assert!(many.goodput > 0.95 && many.success < 0.5, "{} {}", many.goodput, many.success);
}

#[test]
fn bursts_wait_for_their_grants() {
    let every = Duration::from_secs(30);
    let calm = world("bucket 2/1s burst 10", 5, 0.5);
    let bursts = World { traffic: Traffic::Bursts { load: 0.5, every }, ..calm.clone() };
    let (calm, bursts) = (run_as(Named::Best, &calm), run_as(Named::Best, &bursts));
    assert!(calm.p99 < 1.0 && bursts.p99 > 3.0, "{} {}", calm.p99, bursts.p99);
}
