//! Those who wait for a token.

mod ring;

#[cfg(test)]
mod tests;

use std::task::Waker;

use ring::{Client, Ring};
use tokio::time::Instant;

use crate::TokenId;

/// Those who wait for a token: by turns between clients, first come first served within one. Who returns, since a token
/// that he was lent was refused, has had his turn once and does not wait behind those who came later. Knows no clock, no
/// lock and no token: who holds the lock answers the head, or whom it must, and wakes whom the answer was
/// for after the lock is let go.
///
/// A waiter's node lives from [`push`](Self::push) until its ticket is given to [`take`](Self::take) and
/// found answered, or to [`remove`](Self::remove). Leaving from anywhere in the queue is O(1).
#[derive(Debug)]
pub(crate) struct WaitQueue<A> {
    nodes: Vec<Node<A>>,
    vacant: Vec<usize>,
    clients: Ring,
    waiting: usize,
    /// The moment for which the head has set its timer; none while it has only its own last moment.
    armed: Option<Instant>,
}

/// What is believed of the other clients while one waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// Only those wait that do now.
    Stay,
    /// Those that wait now have someone for each of their turns.
    Come,
}

/// How a waiter came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comes {
    First,
    /// From a token that was refused.
    Back,
}

impl Comes {
    /// By the tokens that the request has tried.
    pub(crate) fn having(tried: &[TokenId]) -> Self {
        if tried.is_empty() { Self::First } else { Self::Back }
    }
}

/// A place in the queue. Only its waiter has it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ticket(usize);

#[derive(Debug)]
struct Node<A> {
    stage: Stage<A>,
    waker: Option<Waker>,
    tried: Box<[TokenId]>,
    give_up: Instant,
    client: usize,
    before: Option<usize>,
    behind: Option<usize>,
}

#[derive(Debug)]
enum Stage<A> {
    Vacant,
    Waiting,
    Answered(A),
}

impl<A> WaitQueue<A> {
    pub(crate) fn new() -> Self {
        Self { nodes: Vec::new(), vacant: Vec::new(), clients: Ring::default(), waiting: 0, armed: None }
    }

    /// How many wait; those who are answered do not count.
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether no ticket is out: nobody waits, and every answer was fetched.
    pub(crate) fn is_spent(&self) -> bool {
        self.vacant.len() == self.nodes.len()
    }

    /// How many are served before one of this client who joins now: of each other client as many as it has
    /// turns until then.
    pub(crate) fn ahead_of(&self, client: &str, comes: Comes, others: Others) -> usize {
        let joined = self.clients.find(client).map(|client| self.clients.client(client));
        let own = joined.map_or(0, |client| match comes {
            Comes::First => client.waiting,
            Comes::Back => client.returned,
        });
        let rivals =
            self.clients.iter().filter(|client| !joined.is_some_and(|own| std::ptr::eq(own, *client)));
        let turns = |client: &Client| match others {
            Others::Stay => client.waiting.min(own + 1),
            Others::Come => own + 1,
        };
        // That some of them have had this round's turn already is left out: it is one turn at most.
        own + rivals.map(turns).sum::<usize>()
    }

    /// Joins as the last of its client, or of those of it who return. `give_up` is the moment up to which it waits.
    pub(crate) fn push(&mut self, client: &str, tried: &[TokenId], give_up: Instant) -> Ticket {
        let client = self.clients.enter(client);
        let place = self.vacant.pop().unwrap_or(self.nodes.len());
        let of = self.clients.client_mut(client);
        of.waiting += 1;
        self.waiting += 1;
        let comes = Comes::having(tried);
        let (before, behind) = match comes {
            Comes::First => (of.tail, None),
            Comes::Back => {
                of.returned += 1;
                let before = of.last_returned.replace(place);
                (before, before.map_or(of.head, |before| self.nodes[before].behind))
            }
        };
        match before {
            Some(before) => self.nodes[before].behind = Some(place),
            None => of.head = Some(place),
        }
        match behind {
            Some(behind) => self.nodes[behind].before = Some(place),
            None => of.tail = Some(place),
        }
        let node =
            Node { stage: Stage::Waiting, waker: None, tried: tried.into(), give_up, client, before, behind };
        match self.nodes.get_mut(place) {
            Some(vacant) => *vacant = node,
            None => self.nodes.push(node),
        }
        if behind.is_some() && self.head_place() == Some(place) {
            // The head before it has a timer of its own; this one has yet to set one.
            self.armed = None;
        }
        Ticket(place)
    }

    fn head_place(&self) -> Option<usize> {
        self.clients.turn().and_then(|client| self.clients.client(client).head)
    }

    /// What the head has tried.
    pub(crate) fn head(&self) -> Option<&[TokenId]> {
        self.head_place().map(|head| &*self.nodes[head].tried)
    }

    pub(crate) fn is_head(&self, ticket: &Ticket) -> bool {
        self.head_place() == Some(ticket.0)
    }

    /// The moment at which the head looks again by itself.
    pub(crate) fn alarm(&self) -> Option<Instant> {
        self.head_place().map(|head| self.armed.unwrap_or(self.nodes[head].give_up))
    }

    /// The head sets its timer for `at`.
    pub(crate) fn arm(&mut self, at: Instant) {
        self.armed = Some(at);
    }

    /// The head must set its timer for `at`. Returns whom to wake for it.
    #[must_use = "the head is to be woken"]
    pub(crate) fn rearm(&mut self, at: Instant) -> Option<Waker> {
        self.armed = Some(at);
        self.head_place().and_then(|head| self.nodes[head].waker.take())
    }

    /// Answers the head, which leaves the queue, and whose client's turn that was. Returns whom to wake for it.
    #[must_use = "who was answered is to be woken"]
    pub(crate) fn answer_head(&mut self, answer: A) -> Option<Waker> {
        let head = self.head_place()?;
        let client = self.nodes[head].client;
        let waker = self.answer(head, answer);
        if self.clients.turn() == Some(client) {
            self.clients.pass_turn();
            self.armed = None;
        }
        waker
    }

    /// Answers all those whom `answer` has an answer for, by the moment up to which they wait, and hands out
    /// whom to wake.
    pub(crate) fn answer_where(
        &mut self,
        answer: impl Fn(Instant) -> Option<A>,
        mut wake: impl FnMut(Waker),
    ) {
        for place in 0..self.nodes.len() {
            if matches!(self.nodes[place].stage, Stage::Waiting) {
                if let Some(answer) = answer(self.nodes[place].give_up) {
                    self.answer(place, answer).map(&mut wake);
                }
            }
        }
    }

    /// The answer, if there is one; then the ticket is spent.
    pub(crate) fn take(&mut self, ticket: &Ticket) -> Option<A> {
        let node = &mut self.nodes[ticket.0];
        match std::mem::replace(&mut node.stage, Stage::Vacant) {
            Stage::Answered(answer) => {
                self.vacant.push(ticket.0);
                Some(answer)
            }
            stage => {
                node.stage = stage;
                None
            }
        }
    }

    /// Sets whom to wake. Returns the one before, which is to be dropped without the lock: a waker may run
    /// anything when it goes.
    #[must_use = "to be dropped when the lock is let go"]
    pub(crate) fn register(&mut self, ticket: &Ticket, waker: Waker) -> Option<Waker> {
        self.nodes[ticket.0].waker.replace(waker)
    }

    /// The waiter goes. Returns the answer that it will not take, and its waker (see
    /// [`register`](Self::register)).
    pub(crate) fn remove(&mut self, ticket: &Ticket) -> (Option<A>, Option<Waker>) {
        let place = ticket.0;
        let waker = self.nodes[place].waker.take();
        let answer = match std::mem::replace(&mut self.nodes[place].stage, Stage::Vacant) {
            Stage::Answered(answer) => Some(answer),
            Stage::Waiting => {
                self.unlink(place);
                None
            }
            Stage::Vacant => return (None, waker),
        };
        self.vacant.push(place);
        (answer, waker)
    }

    fn answer(&mut self, place: usize, answer: A) -> Option<Waker> {
        self.unlink(place);
        self.nodes[place].stage = Stage::Answered(answer);
        self.nodes[place].waker.take()
    }

    fn unlink(&mut self, place: usize) {
        if self.head_place() == Some(place) {
            self.armed = None;
        }
        let Node { client: at, before, behind, .. } = self.nodes[place];
        let comes = Comes::having(&self.nodes[place].tried);
        let client = self.clients.client_mut(at);
        client.waiting -= 1;
        self.waiting -= 1;
        if comes == Comes::Back {
            client.returned -= 1;
            if client.last_returned == Some(place) {
                client.last_returned = before;
            }
        }
        match before {
            Some(before) => self.nodes[before].behind = behind,
            None => client.head = behind,
        }
        match behind {
            Some(behind) => self.nodes[behind].before = before,
            None => client.tail = before,
        }
        if client.waiting == 0 {
            self.clients.leave(at);
        }
    }
}
