use super::*;

fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

#[test]
fn what_can_be_granted_follows_the_events() {
    let quiet = World { tokens: 4, model: "window 30/1m".parse().unwrap(), ..World::default() };
    let event = |from, lasts, what| Event { from: minutes(from), lasts, what };
    let rows: [(&str, Counted, Vec<Event>, f64); 6] = [
        ("quiet", Counted::Token, vec![], 3600.0),
        ("one limit for all", Counted::Address, vec![], 900.0),
        ("outage", Counted::Token, vec![event(10, Some(minutes(6)), Happening::Outage)], 2880.0),
        ("to the end", Counted::Token, vec![event(20, None, Happening::Outage)], 2400.0),
        ("revoked", Counted::Token, vec![event(15, None, Happening::Revoked { token: 1 })], 3150.0),
        (
            "halved, and an outage in it",
            Counted::Token,
            vec![
                event(10, Some(minutes(10)), Happening::Limit { factor: 0.5 }),
                event(15, Some(minutes(1)), Happening::Outage),
            ],
            3600.0 - 600.0 - 60.0,
        ),
    ];
    for (name, counted, events, expected) in rows {
        let world = World { counted, events, ..quiet.clone() };
        assert!((world.grantable() - expected).abs() < 1e-6, "{name}: {}", world.grantable());
    }
}

#[test]
fn models_are_written_as_they_are_read() {
    for text in [
        "bucket 2/1s burst 10",
        "window 100/1m",
        "sliding 1/500ms",
        "block 100/1m for 30s",
        "block 100/1m for 1m extend",
    ] {
        let model: Model = text.parse().unwrap();
        assert_eq!(model.to_string().parse::<Model>().unwrap(), model, "{text}");
    }
    for text in
        ["", "bucket 2/1s", "bucket 0/1s burst 1", "window 1/0", "window 60", "block 1/1s for", "x 1/1s"]
    {
        assert!(text.parse::<Model>().is_err(), "{text}");
    }
}

#[test]
fn latencies_have_their_median_and_their_mean() {
    let latency = LogNormal { median: Duration::from_millis(120), sigma: 0.5 };
    let mut random = fastrand::Rng::with_seed(1);
    let mut drawn: Vec<Duration> = (0..20_001).map(|_| latency.draw(&mut random)).collect();
    drawn.sort_unstable();
    let near =
        |value: Duration, milliseconds: f64| (value.as_secs_f64() * 1e3 / milliseconds - 1.0).abs() < 0.03;
    assert!(near(drawn[10_000], 120.0), "{:?}", drawn[10_000]);
    // e^(0.5 * 2.326) times the median.
    assert!(near(drawn[19_800], 384.0), "{:?}", drawn[19_800]);
    assert!(near(drawn.iter().sum::<Duration>() / 20_001, 136.0));
    assert!(near(latency.mean(), 136.0));
}
