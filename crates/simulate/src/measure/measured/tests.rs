use http::StatusCode;

use super::*;
use crate::world::{Event, Happening};

fn second(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn world(events: Vec<Event>) -> World {
    World {
        tokens: 1,
        model: "window 60/1m".parse().unwrap(),
        clients: vec![1.0; 2],
        warm_up: second(60),
        measured: second(600),
        events,
        ..World::default()
    }
}

fn request(asked: u64, took: u64, client: usize, outcome: Outcome) -> Request {
    Request { asked: second(asked), ended: second(asked + took), client, outcome }
}

#[test]
fn what_comes_in_while_it_is_measured_counts() {
    let world = world(Vec::new());
    let requests = [
        request(59, 2, 0, Outcome::Served),
        request(60, 1, 0, Outcome::Served),
        request(61, 3, 1, Outcome::Served),
        request(62, 5, 1, Outcome::Refused),
        request(659, 9, 0, Outcome::Failed),
        request(660, 1, 0, Outcome::Served),
    ];
    let mut calls = Calls::new(&world);
    for (asked, status) in [(59, 200), (60, 429), (60, 200), (61, 200), (659, 503), (660, 200)] {
        calls.count(StatusCode::from_u16(status).unwrap(), second(asked), second(asked));
    }
    let it = Measured::new(&world, &requests, &calls);
    assert_eq!((it.offered, it.served, it.limit), (4.0, 2.0, 4.0));
    assert_eq!((it.goodput, it.success, it.calls_per_success, it.refused), (0.5, 0.5, 2.0, 0.25));
    assert_eq!((it.p50, it.p99, it.p99_of_failures), (1.0, 3.0, 9.0));
    assert_eq!((it.recovery, it.calls_in_outage), (None, None));
}

#[test]
fn no_more_can_be_served_than_is_granted_nor_in_an_outage() {
    let outage = Event { from: second(0), lasts: Some(second(300)), what: Happening::Outage };
    let crowd: Vec<Request> = (60..660).flat_map(|at| [request(at, 1, 0, Outcome::Served); 3]).collect();
    let few: Vec<Request> = (60..660).step_by(2).map(|at| request(at, 1, 0, Outcome::Served)).collect();
    let limit = |events: &[Event], requests: &[Request]| {
        let world = world(events.to_vec());
        Measured::new(&world, requests, &Calls::new(&world)).limit
    };
    assert_eq!((limit(&[], &crowd), limit(&[], &few)), (600.0, 300.0));
    assert_eq!((limit(&[outage], &crowd), limit(&[outage], &few)), (300.0, 150.0));
}

#[test]
fn fairness_is_one_where_each_has_what_is_due() {
    let served = |counts: [usize; 2], refused: [usize; 2]| {
        let of = |client, count, outcome| vec![request(100, 1, client, outcome); count];
        let mut all = Vec::new();
        for client in 0..2 {
            all.extend(of(client, counts[client], Outcome::Served));
            all.extend(of(client, refused[client], Outcome::Refused));
        }
        fairness(&all, 2)
    };
    let near = |value: f64, expected: f64| (value - expected).abs() < 1e-9;
    assert!(near(served([10, 10], [5, 5]), 1.0));
    // The greedy one gets the rest, and the modest one all that it asked for.
    assert!(near(served([2, 18], [0, 100]), 1.0));
    // One gets it all though the other asked for as much.
    assert!(near(served([20, 0], [0, 20]), 0.5));
    assert!(near(served([0, 0], [0, 0]), 1.0));
}

#[test]
fn shares_are_equal_but_for_those_who_ask_for_less() {
    for (asked, whole, expected) in [
        ([10.0, 10.0, 10.0], 12.0, [4.0, 4.0, 4.0]),
        ([1.0, 10.0, 10.0], 12.0, [1.0, 5.5, 5.5]),
        ([10.0, 2.0, 3.0], 12.0, [7.0, 2.0, 3.0]),
        ([1.0, 2.0, 3.0], 12.0, [1.0, 2.0, 3.0]),
    ] {
        assert_eq!(max_min(&asked, whole), expected, "{asked:?}");
    }
}

#[test]
fn recovery_is_told_from_the_end_of_the_outage() {
    let outage = Event { from: second(200), lasts: Some(second(60)), what: Happening::Outage };
    let world = world(vec![outage]);
    // Out from 260 to 320; the first to be served after it comes in at 333.
    let requests: Vec<Request> = (60..660)
        .map(|at| request(at, 0, 0, if (260..333).contains(&at) { Outcome::Failed } else { Outcome::Served }))
        .collect();
    let mut calls = Calls::new(&world);
    for at in [259, 260, 260, 319, 320] {
        calls.count(StatusCode::SERVICE_UNAVAILABLE, second(at), second(at));
    }
    let it = Measured::new(&world, &requests, &calls);
    assert!(it.recovery.is_some_and(|recovery| (recovery - 13.0).abs() <= 1.0), "{:?}", it.recovery);
    assert_eq!(it.calls_in_outage, Some(3.0 / 60.0));
}

#[test]
fn the_mean_is_taken_figure_by_figure() {
    let run = |goodput, recovery| Measured { goodput, recovery, ..Measured::default() };
    let mean = Measured::mean(&[run(0.5, Some(2.0)), run(1.0, None)]);
    assert_eq!((mean.goodput, mean.recovery, mean.calls_in_outage), (0.75, Some(2.0), None));
}
