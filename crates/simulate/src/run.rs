use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::{sleep, sleep_until, timeout};

use crate::measure::{Measured, Outcome, Request, Requests};
use crate::policy::{Best, Fixed, Named, Ours, OursSettings, PixivFe2, PixivFe3, Policy, RoundRobin};
use crate::world::{Arrival, Arrivals, Traffic, Upstream, World, exponential};

/// A world, and who spends its tokens.
#[derive(Clone, Debug)]
pub struct Case {
    /// The world.
    pub world: World,
    /// Who.
    pub policy: Named,
    /// How, if it is us.
    pub settings: OursSettings,
    /// How long the best possible policy has a request wait.
    pub best_waits: Duration,
}

/// Runs it from the start to the end, in virtual time. The same seed gives the same figures.
///
/// # Errors
///
/// When the system gives no runtime.
pub fn run(case: &Case, seed: u64) -> std::io::Result<Measured> {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build()?;
    // What the pool and the policy draw, they draw from the thread's generator.
    fastrand::seed(seed);
    Ok(runtime.block_on(async {
        let world = &case.world;
        let upstream = Upstream::new(world, seed ^ 0x5157_e4a1_0f0f_1234);
        match case.policy {
            Named::Ours => {
                with(Ours::new(&case.settings, world, upstream.clone()), world, upstream, seed).await
            }
            Named::PixivFe2 => with(PixivFe2::new(world, upstream.clone()), world, upstream, seed).await,
            Named::PixivFe3 => with(PixivFe3::new(world, upstream.clone()), world, upstream, seed).await,
            Named::Fixed => with(Fixed::new(world, upstream.clone()), world, upstream, seed).await,
            Named::RoundRobin => with(RoundRobin::new(world, upstream.clone()), world, upstream, seed).await,
            Named::Best => with(Best::new(upstream.clone(), case.best_waits), world, upstream, seed).await,
        }
    }))
}

async fn with<P: Policy>(policy: P, world: &World, upstream: Upstream, seed: u64) -> Measured {
    let seat = Seat { policy, upstream, requests: Requests::default(), deadline: world.deadline };
    let end = world.warm_up + world.measured;
    for arrival in Arrivals::new(world, seed) {
        sleep_until(seat.upstream.instant(arrival.at)).await;
        let seat = seat.clone();
        tokio::spawn(async move { seat.take(arrival).await });
    }
    if let Traffic::Closed { users, think } = world.traffic {
        for user in 0..users {
            let mut random = fastrand::Rng::with_seed(seed ^ (user as u64) << 32);
            let (seat, client) = (seat.clone(), user % world.clients.len());
            tokio::spawn(async move {
                loop {
                    sleep(exponential(think, &mut random)).await;
                    let at = seat.upstream.now();
                    if at >= end {
                        break;
                    }
                    seat.take(Arrival { at, client }).await;
                }
            });
        }
    }
    sleep_until(seat.upstream.instant(end + world.deadline) + Duration::from_secs(1)).await;
    Measured::new(world, &seat.requests.take(), &seat.upstream.calls())
}

/// Where a request is taken in.
#[derive(Clone)]
struct Seat<P> {
    policy: P,
    upstream: Upstream,
    requests: Requests,
    deadline: Duration,
}

impl<P: Policy> Seat<P> {
    async fn take(&self, arrival: Arrival) {
        let outcome = timeout(self.deadline, self.policy.serve(arrival)).await.unwrap_or(Outcome::Failed);
        self.requests.push(Request {
            asked: arrival.at,
            ended: self.upstream.now(),
            client: arrival.client,
            outcome,
        });
    }
}
