use super::*;
use crate::world::Model;

fn world(traffic: Traffic) -> World {
    // Granted: 20 a second.
    let model: Model = "bucket 2/1s burst 10".parse().unwrap();
    World { tokens: 10, model, traffic, clients: vec![1.0, 3.0], ..World::default() }
}

#[test]
fn poisson_arrivals_come_at_their_rate_and_are_shared_by_the_clients() {
    let world = world(Traffic::Poisson { load: 1.5 });
    let all: Vec<Arrival> = Arrivals::new(&world, 1).collect();
    // 35 minutes at 30 a second: 63 000, give or take four times its root.
    assert!((62_000..64_000).contains(&all.len()), "{}", all.len());
    assert!(all.is_sorted_by_key(|arrival| arrival.at));
    let of_first = all.iter().filter(|arrival| arrival.client == 0).count() as f64 / all.len() as f64;
    assert!((0.24..0.26).contains(&of_first), "{of_first}");
    // Of waits that remember nothing as many as e^-1 are longer than their mean.
    let longer = all.windows(2).filter(|pair| (pair[1].at - pair[0].at).as_secs_f64() > 1.0 / 30.0).count();
    let longer = longer as f64 / all.len() as f64;
    assert!((0.35..0.385).contains(&longer), "{longer}");
    assert_eq!(Arrivals::new(&world, 1).collect::<Vec<_>>(), all);
    assert_ne!(Arrivals::new(&world, 2).next(), all.first().copied());
}

#[test]
fn bursts_come_together_and_are_as_many_in_all() {
    let every = Duration::from_secs(30);
    let all: Vec<Arrival> = Arrivals::new(&world(Traffic::Bursts { load: 0.5, every }), 1).collect();
    let bursts: Vec<&[Arrival]> = all.chunk_by(|a, b| a.at == b.at).collect();
    // The one at the very end is none any more.
    assert_eq!(bursts.len(), 35 * 60 / 30 - 1);
    assert!(bursts.iter().all(|burst| burst.len() == 300));
}

#[test]
fn nobody_comes_from_outside_into_a_closed_world_or_at_no_load() {
    let closed = Traffic::Closed { users: 3, think: Duration::from_secs(1) };
    assert_eq!(Arrivals::new(&world(closed), 1).next(), None);
    assert_eq!(Arrivals::new(&world(Traffic::Poisson { load: 0.0 }), 1).next(), None);
}
