use std::task::Waker;

use tokio::time::Instant;

use crate::TokenId;

/// Those who wait for a token, first come first served. Knows no clock, no lock and no token: who holds the
/// lock answers the head, or whom it must, and wakes whom the answer was for after the lock is let go.
///
/// A waiter's node lives from [`push`](Self::push) until its ticket is given to [`take`](Self::take) and
/// found answered, or to [`remove`](Self::remove). Leaving from anywhere in the queue is O(1).
#[derive(Debug)]
pub(crate) struct WaitQueue<A> {
    nodes: Vec<Node<A>>,
    vacant: Vec<usize>,
    head: Option<usize>,
    tail: Option<usize>,
    waiting: usize,
    /// The moment for which the head has set its timer; none while it has only its own last moment.
    armed: Option<Instant>,
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
        Self { nodes: Vec::new(), vacant: Vec::new(), head: None, tail: None, waiting: 0, armed: None }
    }

    /// How many wait; those who are answered do not count.
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Joins at the end. `give_up` is the moment up to which it waits.
    pub(crate) fn push(&mut self, tried: &[TokenId], give_up: Instant) -> Ticket {
        let node = Node {
            stage: Stage::Waiting,
            waker: None,
            tried: tried.into(),
            give_up,
            before: self.tail,
            behind: None,
        };
        let place = if let Some(place) = self.vacant.pop() {
            self.nodes[place] = node;
            place
        } else {
            self.nodes.push(node);
            self.nodes.len() - 1
        };
        match self.tail {
            Some(tail) => self.nodes[tail].behind = Some(place),
            None => self.head = Some(place),
        }
        self.tail = Some(place);
        self.waiting += 1;
        Ticket(place)
    }

    /// What the head has tried.
    pub(crate) fn head(&self) -> Option<&[TokenId]> {
        self.head.map(|head| &*self.nodes[head].tried)
    }

    pub(crate) fn is_head(&self, ticket: &Ticket) -> bool {
        self.head == Some(ticket.0)
    }

    /// The moment at which the head looks again by itself.
    pub(crate) fn alarm(&self) -> Option<Instant> {
        self.head.map(|head| self.armed.unwrap_or(self.nodes[head].give_up))
    }

    /// The head sets its timer for `at`.
    pub(crate) fn arm(&mut self, at: Instant) {
        self.armed = Some(at);
    }

    /// The head must set its timer for `at`. Returns whom to wake for it.
    #[must_use = "the head is to be woken"]
    pub(crate) fn rearm(&mut self, at: Instant) -> Option<Waker> {
        self.armed = Some(at);
        self.head.and_then(|head| self.nodes[head].waker.take())
    }

    /// Answers the head, which leaves the queue. Returns whom to wake for it.
    #[must_use = "who was answered is to be woken"]
    pub(crate) fn answer_head(&mut self, answer: A) -> Option<Waker> {
        self.head.and_then(|head| self.answer(head, answer))
    }

    /// Answers all those whom `answer` has an answer for, by the moment up to which they wait, and hands out
    /// whom to wake.
    pub(crate) fn answer_where(
        &mut self,
        answer: impl Fn(Instant) -> Option<A>,
        mut wake: impl FnMut(Waker),
    ) {
        let mut next = self.head;
        while let Some(place) = next {
            next = self.nodes[place].behind;
            if let Some(answer) = answer(self.nodes[place].give_up) {
                self.answer(place, answer).map(&mut wake);
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
        let Node { before, behind, .. } = self.nodes[place];
        match before {
            Some(before) => self.nodes[before].behind = behind,
            None => {
                self.head = behind;
                self.armed = None;
            }
        }
        match behind {
            Some(behind) => self.nodes[behind].before = before,
            None => self.tail = before,
        }
        self.waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Push(u64),
        AnswerHead,
        AnswerBefore(u64),
        Take(prop::sample::Index),
        Remove(prop::sample::Index),
        Arm(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..9_u64).prop_map(Step::Push),
            2 => Just(Step::AnswerHead),
            1 => (0..9_u64).prop_map(Step::AnswerBefore),
            2 => any::<prop::sample::Index>().prop_map(Step::Take),
            2 => any::<prop::sample::Index>().prop_map(Step::Remove),
            1 => (0..9_u64).prop_map(Step::Arm),
        ]
    }

    /// A waiter as a list has it: when it gives up, and its answer.
    #[derive(Debug)]
    struct Waiter {
        ticket: Ticket,
        give_up: Instant,
        answer: Option<u32>,
    }

    proptest! {
        #[test]
        fn it_keeps_the_order_of_a_list(steps in prop::collection::vec(step(), 1..200)) {
            let start = Instant::now();
            let at = |seconds| start + Duration::from_secs(seconds);
            let mut queue = WaitQueue::new();
            let mut list: Vec<Waiter> = Vec::new();
            let mut armed: Option<Instant> = None;
            for (number, step) in (0..).zip(steps) {
                let head = list.iter().position(|waiter| waiter.answer.is_none());
                let head_before = head.map(|head| list[head].ticket.0);
                match step {
                    Step::Push(seconds) => {
                        let ticket = queue.push(&[], at(seconds));
                        prop_assert!(queue.register(&ticket, Waker::noop().clone()).is_none());
                        list.push(Waiter { ticket, give_up: at(seconds), answer: None });
                    }
                    Step::AnswerHead => {
                        prop_assert_eq!(queue.answer_head(number).is_some(), head.is_some());
                        if let Some(head) = head {
                            list[head].answer = Some(number);
                        }
                    }
                    Step::AnswerBefore(seconds) => {
                        let mut woken = 0;
                        queue.answer_where(|give_up| (give_up < at(seconds)).then_some(number), |_| woken += 1);
                        let those = list.iter_mut().filter(|waiter| waiter.answer.is_none() && waiter.give_up < at(seconds));
                        let answered = those.map(|waiter| waiter.answer = Some(number)).count();
                        prop_assert_eq!(woken, answered);
                    }
                    Step::Take(one) if !list.is_empty() => {
                        let one = one.index(list.len());
                        prop_assert_eq!(queue.take(&list[one].ticket), list[one].answer);
                        if list[one].answer.is_some() {
                            list.remove(one);
                        }
                    }
                    Step::Remove(one) if !list.is_empty() => {
                        let one = list.remove(one.index(list.len()));
                        let (answer, waker) = queue.remove(&one.ticket);
                        prop_assert_eq!(answer, one.answer);
                        prop_assert_eq!(waker.is_some(), answer.is_none());
                    }
                    Step::Arm(seconds) if head.is_some() => {
                        queue.arm(at(seconds));
                        armed = Some(at(seconds));
                    }
                    Step::Take(_) | Step::Remove(_) | Step::Arm(_) => {}
                }
                let waiting: Vec<&Waiter> = list.iter().filter(|waiter| waiter.answer.is_none()).collect();
                if waiting.first().map(|head| head.ticket.0) != head_before {
                    armed = None;
                }
                prop_assert_eq!(queue.len(), waiting.len());
                prop_assert_eq!(queue.is_empty(), waiting.is_empty());
                prop_assert_eq!(queue.alarm(), waiting.first().map(|head| armed.unwrap_or(head.give_up)));
                prop_assert!(waiting.iter().enumerate().all(|(place, waiter)| queue.is_head(&waiter.ticket) == (place == 0)));
                prop_assert!(queue.nodes.len() <= queue.vacant.len() + list.len(), "no node is lost");
            }
        }
    }
}
