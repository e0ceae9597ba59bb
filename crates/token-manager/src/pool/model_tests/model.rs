use std::collections::VecDeque;
use std::time::Duration;

use crate::pool::Told;
use crate::{Outcome, PoolParams, Reason, Report, State, Strategy, TokenId, WhenExhausted};

const MONTH: u64 = 30 * 24 * 60 * 60 * 1000;

/// All times are milliseconds from the start.
pub(super) struct Model {
    pub(super) now: u64,
    pub(super) tokens: Vec<Token>,
    pub(super) retired: Vec<Token>,
    params: PoolParams,
    eras: u64,
    cursor: usize,
    /// For least-recently-used: names, the longest unused first.
    order: VecDeque<usize>,
    gate: Gate,
}

/// The rest that the whole pool takes where the caller's address is to blame.
#[derive(Debug, Default)]
struct Gate {
    /// The end of the rest, over or not, while the gate is shut.
    until: Option<u64>,
    failures: u32,
    probe: bool,
    era: u64,
    kind: Option<Reason>,
    /// Who was refused when, and the rest it was told.
    recent: Vec<(usize, u64, u64)>,
    blamed: Vec<usize>,
    since: u64,
    /// Who was pardoned when it opened last, and was not refused since.
    pardoned: Vec<usize>,
    acquitted_until: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) name: usize,
    pub(super) weight: u32,
    /// Changes with whatever makes the results of older leases void.
    era: u64,
    /// None: ready. Otherwise the end of the rest, be it over or not, and whether it is the long one.
    rest: Option<(u64, bool)>,
    why: Option<Reason>,
    pub(super) disabled: bool,
    probe: bool,
    pub(super) failures: u32,
    rejections: u32,
    /// How many may be out after a limit; 0 is any number.
    ramp: u32,
    pub(super) in_flight: u32,
    lends: Vec<u64>,
    last_used: Option<u64>,
    pub(super) cooldowns: [u64; 4],
    /// Requests, successes, rate-limited, rejected.
    pub(super) counts: [u64; 4],
}

pub(super) struct Lease {
    name: usize,
    pub(super) era: u64,
    lent: u64,
    /// Which of the token's lends it is.
    nth: u64,
    probe: bool,
    gate_era: u64,
    gate_probe: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Expected {
    At(u64),
    Unknown,
    Never,
}

#[derive(Default)]
pub(super) struct Came {
    pub(super) ids: Vec<TokenId>,
}

impl Model {
    pub(super) fn new(params: PoolParams, tokens: &[(usize, u32)]) -> Self {
        let mut this = Self {
            now: 0,
            tokens: Vec::new(),
            retired: Vec::new(),
            params,
            eras: 0,
            cursor: 0,
            order: VecDeque::new(),
            gate: Gate::default(),
        };
        this.reload(tokens);
        this
    }

    /// The end of the whole pool's rest.
    fn whole_rest(&self) -> Option<u64> {
        self.gate.until.filter(|&until| until > self.now)
    }

    fn lets_pass(&self) -> bool {
        self.whole_rest().is_none() && !(self.gate.until.is_some() && self.gate.probe)
    }

    /// Whether the whole pool's rest is the one that keeps the token.
    fn rests_with_all(&self, token: &Token) -> Option<u64> {
        let own = token.rest.map(|(until, _)| until).filter(|&until| until > self.now);
        self.whole_rest().filter(|&until| !token.disabled && own.is_none_or(|own| own < until))
    }

    /// What people are shown.
    pub(super) fn state(&self, token: &Token) -> State {
        let own = self.own_state(token);
        match self.rests_with_all(token) {
            Some(_) if own != State::Unavailable => State::Cooling,
            _ => own,
        }
    }

    fn own_state(&self, token: &Token) -> State {
        match token.rest {
            _ if token.disabled => State::Disabled,
            None => State::Ready,
            Some((until, _)) if until <= self.now => State::Probing,
            Some((_, true)) => State::Unavailable,
            Some((_, false)) => State::Cooling,
        }
    }

    pub(super) fn reason(&self, token: &Token) -> Option<Reason> {
        match self.rests_with_all(token) {
            Some(_) => self.gate.kind,
            None if token.disabled => Some(Reason::Operator),
            None => token.why,
        }
    }

    pub(super) fn rest_left(&self, token: &Token) -> Option<Duration> {
        if let Some(until) = self.rests_with_all(token) {
            return Some(Duration::from_millis(until - self.now));
        }
        match (self.own_state(token), token.rest) {
            (State::Cooling | State::Unavailable, Some((until, _))) => {
                Some(Duration::from_millis(until - self.now))
            }
            _ => None,
        }
    }

    fn per(&self) -> u64 {
        self.params.limit.map_or(0, |limit| u64::try_from(limit.per.as_millis()).unwrap())
    }

    /// The moments from which the token's lends count that are still in its window: those after the first such.
    fn window(&self, token: &Token) -> Vec<u64> {
        let lends = token.lends.iter().copied();
        lends.skip_while(|lent| lent + self.per() <= self.now).collect()
    }

    /// A lend counts from its answer on, or from a hundredth of the window after it.
    fn answered(&mut self, lease: &Lease) {
        let (now, per) = (self.now, self.per());
        let Some(token) = self.any_token(lease.name) else { return };
        let later = usize::try_from(token.counts[0].saturating_sub(lease.nth)).unwrap();
        let first = token.lends.iter().take_while(|&&lent| lent + per <= now).count();
        let Some(index) = token.lends.len().checked_sub(1 + later).filter(|&index| index >= first) else {
            return;
        };
        let counted = now.min(lease.lent + per / 100);
        token.lends[index..].iter_mut().for_each(|lend| *lend = counted.max(*lend));
    }

    fn at_limit(&self, token: &Token) -> bool {
        self.params.limit.is_some_and(|limit| self.window(token).len() >= limit.count as usize)
    }

    fn full(&self, token: &Token) -> bool {
        let bounds = [self.params.max_concurrency, token.ramp];
        bounds.iter().any(|&bound| bound > 0 && token.in_flight >= bound)
    }

    fn rests(&self, token: &Token) -> bool {
        matches!(self.own_state(token), State::Cooling | State::Unavailable)
    }

    fn lendable(&self, token: &Token) -> bool {
        let state_allows = match self.own_state(token) {
            State::Ready => true,
            State::Probing => !token.probe,
            _ => false,
        };
        state_allows && !self.at_limit(token) && !self.full(token)
    }

    pub(super) fn has_ready(&self, tried: &[usize]) -> bool {
        self.lets_pass()
            && self.tokens.iter().any(|token| self.lendable(token) && !tried.contains(&token.name))
    }

    /// Which tokens may be lent: the very one where the strategy leaves no choice.
    pub(super) fn candidates(&self, tried: &[usize], any: bool) -> Vec<usize> {
        let lendable: Vec<&Token> = self.tokens.iter().filter(|token| self.lendable(token)).collect();
        let soonest = any && self.params.when_exhausted == WhenExhausted::Soonest;
        if !self.lets_pass() && !soonest {
            return Vec::new();
        }
        let mut chosen: Vec<usize> =
            lendable.iter().map(|token| token.name).filter(|name| !tried.contains(name)).collect();
        if any && (chosen.is_empty() || !self.lets_pass()) {
            chosen = lendable.iter().map(|token| token.name).collect();
            if chosen.is_empty() && soonest {
                return self.soonest(tried);
            }
        }
        let even = self.tokens.iter().all(|token| token.weight == 1);
        match self.params.strategy {
            Strategy::RoundRobin if even => {
                let n = self.tokens.len();
                let turn = (0..n).map(|step| self.tokens[(self.cursor + step) % n].name);
                turn.filter(|name| chosen.contains(name)).take(1).collect()
            }
            Strategy::LeastRecentlyUsed if even => {
                self.order.iter().copied().filter(|name| chosen.contains(name)).take(1).collect()
            }
            _ => chosen,
        }
    }

    fn soonest(&self, tried: &[usize]) -> Vec<usize> {
        let may = |token: &&Token| {
            self.rests(token) && !self.at_limit(token) && !self.full(token) && !tried.contains(&token.name)
        };
        let first =
            self.tokens.iter().filter(may).filter_map(|token| token.rest).map(|(until, _)| until).min();
        let all = self.tokens.iter().filter(may);
        all.filter(|token| token.rest.map(|(until, _)| until) == first).map(|token| token.name).collect()
    }

    pub(super) fn lend(&mut self, name: usize) -> Lease {
        let place = self.tokens.iter().position(|token| token.name == name).unwrap();
        let (now, early) = (self.now, self.rests(&self.tokens[place]));
        if !early {
            self.cursor = place + 1;
            self.cursor %= self.tokens.len();
        }
        self.order.retain(|&other| other != name);
        self.order.push_back(name);
        let gate_probe = self.gate.until.is_some_and(|until| until <= now) && !self.gate.probe;
        self.gate.probe |= gate_probe;
        let gate_era = self.gate.era;
        let token = &mut self.tokens[place];
        let probe = token.rest.is_some() && !early;
        token.probe |= probe;
        token.in_flight += 1;
        token.counts[0] += 1;
        token.lends.push(now);
        token.last_used = Some(now);
        Lease { name, era: token.era, lent: now, nth: token.counts[0], probe, gate_era, gate_probe }
    }

    pub(super) fn settle(&mut self, lease: &Lease, report: &Report) {
        let failed = self.settle_own(lease, report);
        self.answered(lease);
        let millis = |time: Option<Duration>| time.map_or(0, |time| u64::try_from(time.as_millis()).unwrap());
        let (next, now) = (self.next_era(), self.now);
        let ours = lease.gate_probe && lease.gate_era == self.gate.era;
        if let Some(kind) = failed {
            let told = millis(report.told).max(millis(report.quota));
            if let Some(told) = self.suspect(lease.name, kind, told).or(lease.gate_probe.then_some(told)) {
                self.gate.failures += 1;
                let rest = self.params.cool_down.rest(self.gate.failures, 0).duration;
                let rest = u64::try_from(rest.as_millis()).unwrap().max(told.min(MONTH));
                self.gate.until = Some(self.gate.until.unwrap_or(0).max(now + rest));
                self.gate.probe = false;
                self.gate.era = next;
            }
        } else if report.outcome == Outcome::Success && lease.gate_probe {
            if self.gate.until.is_some() && lease.gate_era == self.gate.era {
                let blamed = std::mem::take(&mut self.gate.blamed);
                self.open_gate(next);
                let kind = self.gate.kind;
                self.gate.pardoned =
                    if kind == Some(Reason::RateLimited) { blamed.clone() } else { Vec::new() };
                for name in blamed.into_iter().filter(|_| kind == Some(Reason::RateLimited)) {
                    let next = self.next_era();
                    let Some(token) = self.token(name) else { continue };
                    if matches!(token.why, Some(Reason::RateLimited | Reason::QuotaEmpty)) {
                        let failures = token.failures;
                        token.recover();
                        token.failures = failures;
                        token.ramp = 2;
                        token.era = next;
                    }
                }
            }
        } else if report.outcome == Outcome::Success {
            if self.gate.until.is_some() {
                if lease.lent >= self.gate.since {
                    self.open_gate(next);
                    self.gate.blamed.clear();
                    self.gate.acquitted_until = now + 60_000;
                }
            } else {
                self.gate.recent.retain(|&(_, at, _)| at + 1000 >= now);
                if self.gate.recent.first().is_some_and(|&(_, at, _)| lease.lent >= at) {
                    self.gate.recent.clear();
                }
            }
        } else if ours {
            self.gate.probe = false;
        }
    }

    fn open_gate(&mut self, next: u64) {
        self.gate.until = None;
        self.gate.failures = 0;
        self.gate.probe = false;
        self.gate.era = next;
    }

    /// Enters a refusal. Returns the least rest that was told, where the address is to blame.
    fn suspect(&mut self, name: usize, kind: Reason, told: u64) -> Option<u64> {
        let enabled = self.tokens.iter().filter(|token| !token.disabled).count();
        let (gate, now) = (&mut self.gate, self.now);
        if gate.until.is_some() {
            if gate.kind == Some(kind) && !gate.blamed.contains(&name) {
                gate.blamed.push(name);
            }
            return None;
        }
        if gate.pardoned.contains(&name) {
            gate.pardoned.retain(|&pardoned| pardoned != name);
            gate.acquitted_until = now + 60_000;
        }
        if gate.kind != Some(kind) {
            gate.recent.clear();
            gate.kind = Some(kind);
        }
        gate.recent.retain(|&(other, at, _)| other != name && at + 1000 >= now);
        gate.recent.push((name, now, told));
        if enabled < 2 || gate.recent.len() < enabled.min(3) {
            return None;
        }
        if now < gate.acquitted_until {
            gate.recent.remove(0);
            return None;
        }
        gate.since = gate.recent[0].1;
        gate.blamed = gate.recent.iter().map(|&(name, _, _)| name).collect();
        gate.recent.drain(..).map(|(_, _, told)| told).min()
    }

    /// What the report means to the token itself. Returns the kind of a failure that counts.
    fn settle_own(&mut self, lease: &Lease, report: &Report) -> Option<Reason> {
        let present = self.tokens.iter().any(|token| token.name == lease.name);
        let (now, cool_down, next) = (self.now, self.params.cool_down, self.next_era());
        let token = self.any_token(lease.name)?;
        let refused = matches!(report.outcome, Outcome::Limited | Outcome::Rejected);
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap().min(MONTH);
        let quota = report.quota.map_or(0, millis);
        let told = if refused {
            now + report.told.map_or(0, millis).max(quota)
        } else {
            let took = now - lease.lent;
            lease.lent + quota + (quota / 100).clamp(took.div_ceil(2), took)
        };
        match report.outcome {
            Outcome::Success => token.counts[1] += 1,
            Outcome::Limited => token.counts[2] += 1,
            Outcome::Rejected => token.counts[3] += 1,
            Outcome::Unaffected => {}
        }
        if lease.era != token.era {
            if let Some((until, long)) = token.rest {
                if told > until && told > now {
                    token.rest = Some((told, long));
                    token.void(next);
                }
            }
            return None;
        }
        if report.outcome == Outcome::Success {
            token.succeed();
        }
        if report.outcome == Outcome::Unaffected && lease.probe {
            token.probe = false;
        }
        let rested = token.rest.map_or(0, |(until, _)| until);
        if refused {
            token.failures += 1;
            token.rejections += u32::from(report.outcome == Outcome::Rejected);
            let rest = cool_down.rest(token.failures, token.rejections);
            let until = now + u64::try_from(rest.duration.as_millis()).unwrap();
            token.rest = Some((until.max(told).max(rested), rest.unavailable));
            let why = if report.outcome == Outcome::Limited { Reason::RateLimited } else { Reason::Rejected };
            token.begin(why, next);
            return Some(why).filter(|_| present);
        }
        if told > now {
            token.rest = Some((told.max(rested), false));
            token.begin(Reason::QuotaEmpty, next);
        }
        None
    }

    pub(super) fn charge(&mut self, name: usize, era: u64) {
        if self.token(name).is_some() {
            let lease = Lease { name, era, lent: 0, nth: 0, probe: false, gate_era: 0, gate_probe: false };
            self.settle_own(&lease, &Report::new(Outcome::Limited));
        }
    }

    pub(super) fn end(&mut self, lease: &Lease, told: Told) {
        if told == Told::Nothing {
            self.give_back_gate(lease);
            self.answered(lease);
        }
        self.leave(lease, told);
    }

    fn give_back_gate(&mut self, lease: &Lease) {
        if lease.gate_probe && lease.gate_era == self.gate.era {
            self.gate.probe = false;
        }
    }

    fn leave(&mut self, lease: &Lease, told: Told) {
        let token = self.any_token(lease.name).unwrap();
        token.in_flight -= 1;
        if told == Told::Nothing && lease.probe && lease.era == token.era {
            token.probe = false;
        }
        self.retired.retain(|token| token.in_flight > 0);
    }

    pub(super) fn take_back(&mut self, lease: &Lease) {
        let token = self.any_token(lease.name).unwrap();
        token.counts[0] -= 1;
        if token.lends.last() == Some(&lease.lent) {
            token.lends.pop();
        }
        self.give_back_gate(lease);
        self.leave(lease, Told::Nothing);
    }

    pub(super) fn reset(&mut self, name: usize) -> bool {
        let next = self.next_era();
        let found = self.token(name).map(Token::recover_from_rest(next)).is_some();
        if found && self.gate.until.is_some() {
            self.reset_gate();
        }
        found
    }

    pub(super) fn reset_gate(&mut self) {
        self.gate = Gate { era: self.next_era(), ..Gate::default() };
    }

    pub(super) fn disable(&mut self, name: usize) -> bool {
        let next = self.next_era();
        let Some(token) = self.token(name) else { return false };
        if !token.disabled {
            token.disabled = true;
            token.cooldowns[3] += 1;
            token.void(next);
        }
        true
    }

    pub(super) fn enable(&mut self, name: usize) -> bool {
        self.token(name).map(|token| token.disabled = false).is_some()
    }

    pub(super) fn reload(&mut self, specs: &[(usize, u32)]) {
        let at_cursor = self.tokens.get(self.cursor).map(|token| token.name);
        let mut before = std::mem::take(&mut self.tokens);
        before.append(&mut self.retired);
        for &(name, weight) in specs {
            if self.tokens.iter().any(|token| token.name == name) {
                continue;
            }
            let mut token = match before.iter().position(|token| token.name == name) {
                Some(place) => before.remove(place),
                None => Token::new(name, self.next_era()),
            };
            token.weight = weight;
            self.tokens.push(token);
        }
        self.retired = before.into_iter().filter(|token| token.in_flight > 0).collect();
        self.cursor =
            at_cursor.and_then(|name| self.tokens.iter().position(|token| token.name == name)).unwrap_or(0);
        self.renew_order();
    }

    pub(super) fn set_params(&mut self, params: PoolParams) {
        let had_limit = self.params.limit.is_some();
        let now = self.now;
        let per = self.per();
        self.params = params;
        for token in self.tokens.iter_mut().chain(&mut self.retired) {
            let gone = token.lends.iter().take_while(|&&lent| !had_limit || lent + per <= now).count();
            token.lends.drain(..gone);
            if let Some(limit) = params.limit {
                let surplus = token.lends.len().saturating_sub(limit.count as usize);
                token.lends.drain(..surplus);
            }
        }
        self.renew_order();
    }

    fn renew_order(&mut self) {
        let mut tokens: Vec<&Token> = self.tokens.iter().collect();
        tokens.sort_by_key(|token| token.last_used);
        self.order = tokens.into_iter().map(|token| token.name).collect();
    }

    /// When those that wait for their rest or their limit come, all others left out.
    pub(super) fn expected_of_those_who_wait_for_time(&self) -> Expected {
        let waits = self.tokens.iter().filter(|token| !token.disabled && !self.lendable(token));
        let comes =
            waits.filter_map(|token| self.serves(token, 1).into_iter().next()).filter(|&at| at > self.now);
        comes.min().map_or(Expected::Never, Expected::At)
    }

    /// When one who asks now with so many before can expect a token.
    pub(super) fn expected(&self, ahead: usize) -> Expected {
        let gate = self.whole_rest().unwrap_or(self.now);
        if self.gate.until.is_some() && self.gate.probe && gate == self.now {
            return Expected::Unknown;
        }
        if self.tokens.iter().any(|token| self.lendable(token)) {
            return Expected::At(gate);
        }
        let enabled = || self.tokens.iter().filter(|token| !token.disabled);
        if enabled().any(|token| !self.rests(token) && !self.at_limit(token)) {
            return Expected::Unknown;
        }
        let mut serves: Vec<u64> = enabled().flat_map(|token| self.serves(token, ahead + 1)).collect();
        serves.sort_unstable();
        serves.get(ahead).map_or(Expected::Never, |&at| Expected::At(at.max(gate)))
    }

    /// The moments at which the token can serve the next so many, if each is served as soon as can be.
    fn serves(&self, token: &Token, count: usize) -> Vec<u64> {
        let rested = token.rest.map_or(0, |(until, _)| until).max(self.now);
        let Some(limit) = self.params.limit else { return vec![rested; count] };
        let mut lends = self.window(token);
        let mut serves: Vec<u64> = Vec::new();
        for _ in 0..count {
            // The window has room once the lend that is `limit` before this one has left it.
            let at = match lends.len().checked_sub(limit.count as usize) {
                Some(leaves) => rested.max(lends[leaves] + self.per()),
                None => rested,
            };
            lends.push(at);
            serves.push(at);
        }
        serves
    }

    fn token(&mut self, name: usize) -> Option<&mut Token> {
        self.tokens.iter_mut().find(|token| token.name == name)
    }

    fn any_token(&mut self, name: usize) -> Option<&mut Token> {
        self.tokens.iter_mut().chain(&mut self.retired).find(|token| token.name == name)
    }

    fn next_era(&mut self) -> u64 {
        self.eras += 1;
        self.eras
    }
}

impl Token {
    fn new(name: usize, era: u64) -> Self {
        Self {
            name,
            weight: 1,
            era,
            rest: None,
            why: None,
            disabled: false,
            probe: false,
            failures: 0,
            rejections: 0,
            ramp: 0,
            in_flight: 0,
            lends: Vec::new(),
            last_used: None,
            cooldowns: [0; 4],
            counts: [0; 4],
        }
    }

    fn succeed(&mut self) {
        if self.why == Some(Reason::RateLimited) {
            self.recover();
            self.ramp = 2;
        } else if self.rest.is_some() || self.ramp == 0 || self.rejections > 0 {
            self.recover();
        } else {
            self.failures = 0;
            self.ramp = if self.ramp == 16 { 0 } else { self.ramp + 1 };
        }
    }

    fn recover(&mut self) {
        self.ramp = 0;
        self.rest = None;
        self.why = None;
        self.failures = 0;
        self.rejections = 0;
        self.probe = false;
    }

    fn recover_from_rest(next: u64) -> impl FnOnce(&mut Self) {
        move |token| {
            token.recover();
            token.void(next);
        }
    }

    fn begin(&mut self, why: Reason, next: u64) {
        self.why = Some(why);
        self.cooldowns[why.index()] += 1;
        self.void(next);
    }

    fn void(&mut self, next: u64) {
        self.era = next;
        self.probe = false;
    }
}
