//! What the demo says: each token's fortunes as they turn, a line of figures a second, and a summary.

use std::io::{Write as _, stdout};
use std::process::Stdio;
use std::time::Duration;

use tidegate_token_manager::{State as TokenState, TokenStatus};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::traffic::Seen;
use super::upstream::{BURST, LimitingApi, PER_SECOND};
use super::{NAMES, count, percent};
use crate::listen::Served;
use crate::state::State;

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What has been told so far.
pub(super) struct Story {
    began: Instant,
    states: Vec<TokenState>,
    told: u64,
    served: u64,
    refused: u64,
}

impl Story {
    pub(super) fn begin(gateway: &str, admin: &[String], upstream: &str) -> Self {
        say(&format!("The gateway listens at {gateway} and stands in front of {upstream},"));
        say(&format!(
            "an API that grants each token {PER_SECOND} requests a second after a burst of {BURST}, and refuses \
             more with 429."
        ));
        say(&format!(
            "Three tokens ({}) share the traffic of six clients. Try it: curl {gateway}/ajax/illust/1",
            NAMES.join(", ")
        ));
        if let Some(admin) = admin.first() {
            say(&format!("The tokens as an operator sees them: {admin}/"));
        }
        say("");
        Self {
            began: Instant::now(),
            states: vec![TokenState::Ready; NAMES.len()],
            told: 0,
            served: 0,
            refused: 0,
        }
    }

    /// Tells what happens until the gateway has ended.
    pub(super) async fn tell_until(
        &mut self,
        mut serving: JoinHandle<Served>,
        state: &State,
        api: &LimitingApi,
        seen: &Seen,
    ) -> Result<(), String> {
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                ended = &mut serving => return ended.map(drop).map_err(|error| error.to_string()),
                _ = look.tick() => self.look(state, api, seen),
            }
        }
    }

    fn look(&mut self, state: &State, api: &LimitingApi, seen: &Seen) {
        for pool in &state.gateway().pools {
            for ((token, before), name) in pool.snapshot().iter().zip(&mut self.states).zip(NAMES) {
                if token.state != *before {
                    *before = token.state;
                    let at = self.began.elapsed();
                    say(&format!("{:>5.1}s  {}", at.as_secs_f32(), turn(name, token)));
                }
            }
        }
        if self.began.elapsed().as_secs() > self.told {
            self.told = self.began.elapsed().as_secs();
            let (served, refused) = (count(&seen.served), api.tally().refused);
            let bar = "=".repeat(usize::try_from(served - self.served).unwrap_or(0).min(60));
            let line = format!(
                "{:>3} answered a second, {:>2} refusals inside",
                served - self.served,
                refused - self.refused
            );
            say(&format!("{:>5.1}s  {line}  {bar}", self.began.elapsed().as_secs_f32()));
            (self.served, self.refused) = (served, refused);
        }
    }

    /// Compares what the clients saw with what the upstream said.
    pub(super) fn end(&self, api: &LimitingApi, seen: &Seen, direct: &Seen) {
        let tally = api.tally();
        say("");
        say(&format!("In {:.1} s, six clients of each kind:", self.began.elapsed().as_secs_f32()));
        say("                     answers  failures  served");
        for (kind, seen) in [("with Tidegate", seen), ("without it", direct)] {
            let (served, failed) = (count(&seen.served), count(&seen.refused));
            let share = percent(served, served + failed);
            say(&format!("  {kind:<17} {served:>9} {failed:>9} {share:>5} %"));
        }
        say("Those without call an API of the same kind themselves, with three tokens in turn.");
        say(&format!(
            "Inside, the upstream refused {} of the gateway's {} calls ({} %); what came of it for the clients stands above.",
            tally.refused,
            tally.refused + tally.served,
            percent(tally.refused, tally.refused + tally.served)
        ));
    }

    /// Shows the dashboard with the system's own opener.
    pub(super) fn open(&self, admin: Option<&str>) {
        let Some(admin) = admin else { return say("There is no admin listener to open.") };
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut command = std::process::Command::new(opener);
        command.arg(format!("{admin}/")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Err(error) = command.spawn() {
            say(&format!("{opener} cannot be run ({error}); open {admin}/ yourself."));
        }
    }
}

fn turn(name: &str, token: &TokenStatus) -> String {
    let rest = token.retry_in.as_secs_f32();
    match token.state {
        TokenState::Ready => format!("{name} is back: its probe was served"),
        TokenState::Cooling => {
            format!("{name} was refused ({} in a row) and rests {rest:.1} s", token.failures)
        }
        TokenState::Probing => format!("{name} has rested; its next request is a probe"),
        TokenState::Unavailable => format!("{name} is unavailable for {rest:.0} s"),
        TokenState::Disabled => format!("{name} was disabled"),
    }
}

/// A line for the person who watches; when nobody does any more, that is no fault.
fn say(line: &str) {
    let _ = writeln!(stdout(), "{line}");
}
