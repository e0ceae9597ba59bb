use super::*;
use crate::world::LogNormal;

fn world() -> World {
    World {
        tokens: 2,
        model: "bucket 1/2s burst 2".parse().unwrap(),
        latency: LogNormal { median: Duration::from_millis(100), sigma: 0.0 },
        errors: 0.0,
        warm_up: Duration::ZERO,
        ..World::default()
    }
}

async fn statuses(upstream: &Upstream, token: usize, count: usize) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..count {
        statuses.push(upstream.call(token, Asked(Duration::ZERO)).await.status.as_u16());
    }
    statuses
}

fn event(from: u64, lasts: u64, what: Happening) -> Event {
    Event { from: Duration::from_secs(from), lasts: Some(Duration::from_secs(lasts)), what }
}

#[tokio::test(start_paused = true)]
async fn each_token_has_a_limit_of_its_own_or_all_have_one() {
    let upstream = Upstream::new(&world(), 1);
    assert_eq!(statuses(&upstream, 0, 3).await, [200, 200, 429]);
    assert_eq!(statuses(&upstream, 1, 3).await, [200, 200, 429]);
    let upstream = Upstream::new(&World { counted: Counted::Address, ..world() }, 1);
    assert_eq!(statuses(&upstream, 0, 3).await, [200, 200, 429]);
    assert_eq!(statuses(&upstream, 1, 1).await, [429]);
    let calls = upstream.calls();
    assert_eq!((calls.all, calls.refused), (4, 2));
}

#[tokio::test(start_paused = true)]
async fn what_happens_happens_in_its_time() {
    let second = Duration::from_secs(1);
    let events = vec![
        event(10, 5, Happening::Outage),
        event(20, 5, Happening::Slow { factor: 3.0 }),
        event(30, 5, Happening::Revoked { token: 0 }),
    ];
    let upstream = Upstream::new(&World { events, ..world() }, 1);
    for (at, status, took) in [(0, 200, 100), (10, 503, 100), (15, 200, 100), (20, 200, 300), (30, 401, 100)]
    {
        sleep_until(upstream.instant(at * second)).await;
        assert_eq!(statuses(&upstream, 0, 1).await, [status], "at {at}");
        assert_eq!(upstream.now(), at * second + Duration::from_millis(took), "at {at}");
    }
    assert_eq!(statuses(&upstream, 1, 1).await, [200]);
    assert_eq!(upstream.calls().in_outage, 1);
}

#[tokio::test(start_paused = true)]
async fn a_limit_changes_midway_and_back() {
    let events = vec![event(100, 100, Happening::Limit { factor: 0.1 })];
    let upstream = Upstream::new(&World { events, ..world() }, 1);
    // One in two seconds, then one in twenty.
    for (from, granted) in [(0, 2 + 20), (110, 4), (300, 2 + 20)] {
        let mut good = 0;
        for tick in 0..80 {
            sleep_until(upstream.instant(Duration::from_secs(from) + tick * Duration::from_millis(500)))
                .await;
            good += usize::from(statuses(&upstream, 0, 1).await == [200]);
        }
        assert!(good.abs_diff(granted) <= 2, "from {from}: {good}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_is_met_after_a_part_of_the_latency() {
    let upstream = Upstream::new(&World { arrives_after: 0.5, ..world() }, 1);
    assert_eq!(statuses(&upstream, 0, 2).await, [200, 200]);
    // Full again but for one at 2.05 s, which this call, sent at 1.99 s, does not reach.
    sleep_until(upstream.instant(Duration::from_millis(1990))).await;
    assert_eq!(statuses(&upstream, 0, 1).await, [429]);
    sleep_until(upstream.instant(Duration::from_millis(2100))).await;
    assert_eq!(statuses(&upstream, 0, 1).await, [200]);
}

#[tokio::test(start_paused = true)]
async fn hints_are_what_the_client_reads() {
    let call = async |hints| {
        let upstream = Upstream::new(&World { hints, arrives_after: 0.0, ..world() }, 1);
        statuses(&upstream, 0, 2).await;
        let reply = upstream.call(0, Asked(Duration::ZERO)).await;
        let epoch = std::time::SystemTime::UNIX_EPOCH;
        assert_eq!(reply.status, 429);
        (
            tidegate_api_client::told_delay(reply.status, &reply.headers, epoch),
            tidegate_api_client::quota_empty(&reply.headers, epoch),
        )
    };
    let (whole, exact) = (Duration::from_secs(2), Duration::from_millis(1800));
    assert_eq!(call(Hints::None).await, (None, None));
    assert_eq!(call(Hints::RetryAfter).await, (Some(whole), None));
    assert_eq!(call(Hints::Quota).await, (Some(exact), Some(exact)));
    assert_eq!(call(Hints::Both).await, (Some(whole), Some(exact)));
}

#[tokio::test(start_paused = true)]
async fn faults_come_in_their_shares() {
    let model = "sliding 100000/1m".parse().unwrap();
    let upstream = Upstream::new(&World { model, errors: 0.1, not_found: 0.2, ..world() }, 1);
    let statuses = statuses(&upstream, 0, 10_000).await;
    let count = |status: u16| statuses.iter().filter(|it| **it == status).count();
    assert!(count(503).abs_diff(1000) < 150, "{}", count(503));
    assert!(count(404).abs_diff(2000) < 200, "{}", count(404));
    assert_eq!(count(200) + count(503) + count(404), 10_000);
}
