use std::time::Duration;

use proptest::prelude::*;

use super::*;

const CLIENTS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Step {
    Push(usize, Comes, u64),
    AnswerHead,
    AnswerBefore(u64),
    Take(prop::sample::Index),
    Remove(prop::sample::Index),
    Arm(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..CLIENTS.len(), 0..9_u64).prop_map(|(client, at)| Step::Push(client, Comes::First, at)),
        1 => (0..CLIENTS.len(), 0..9_u64).prop_map(|(client, at)| Step::Push(client, Comes::Back, at)),
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
    client: usize,
    comes: Comes,
    give_up: Instant,
    answer: Option<u32>,
}

/// The naive queue: a list of waiters in the order in which they are to be served, and one of clients by their turns.
#[derive(Debug, Default)]
struct Model {
    list: Vec<Waiter>,
    turns: Vec<usize>,
}

impl Model {
    fn head(&self) -> Option<usize> {
        let client = self.turns.first()?;
        self.list.iter().position(|waiter| waiter.client == *client && waiter.answer.is_none())
    }

    fn answer(&mut self, place: usize, answer: u32) {
        self.list[place].answer = Some(answer);
        self.tidy();
    }

    fn tidy(&mut self) {
        let waits = |client: usize| self.list.iter().any(|it| it.client == client && it.answer.is_none());
        let turns = self.turns.iter().copied().filter(|&client| waits(client)).collect();
        self.turns = turns;
    }

    fn waiting(&self, client: usize) -> usize {
        self.list.iter().filter(|waiter| waiter.client == client && waiter.answer.is_none()).count()
    }

    fn returned(&self, client: usize) -> usize {
        let returned = |it: &&Waiter| it.client == client && it.comes == Comes::Back && it.answer.is_none();
        self.list.iter().filter(returned).count()
    }
}

fn tried(comes: Comes) -> &'static [TokenId] {
    const REFUSED: &[TokenId] = &[TokenId::from_bytes([7; 8])];
    match comes {
        Comes::First => &[],
        Comes::Back => REFUSED,
    }
}

proptest! {
    #[test]
    fn it_keeps_the_order_of_two_lists(steps in prop::collection::vec(step(), 1..200)) {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut queue = WaitQueue::new();
        let mut model = Model::default();
        let mut armed: Option<Instant> = None;
        for (number, step) in (0..).zip(steps) {
            let head_before = model.head().map(|head| model.list[head].ticket.0);
            match step {
                Step::Push(client, comes, seconds) => {
                    let ticket = queue.push(CLIENTS[client], tried(comes), at(seconds));
                    prop_assert!(queue.register(&ticket, Waker::noop().clone()).is_none());
                    let first = |it: &Waiter| it.client == client && it.comes == Comes::First;
                    let place = model.list.iter().position(first).filter(|_| comes == Comes::Back);
                    let place = place.unwrap_or(model.list.len());
                    let waiter = Waiter { ticket, client, comes, give_up: at(seconds), answer: None };
                    model.list.insert(place, waiter);
                    if !model.turns.contains(&client) {
                        model.turns.push(client);
                    }
                }
                Step::AnswerHead => {
                    let head = model.head();
                    prop_assert_eq!(queue.answer_head(number).is_some(), head.is_some());
                    if let Some(head) = head {
                        let client = model.turns.remove(0);
                        model.turns.push(client);
                        model.answer(head, number);
                    }
                }
                Step::AnswerBefore(seconds) => {
                    let mut woken = 0;
                    queue.answer_where(|give_up| (give_up < at(seconds)).then_some(number), |_| woken += 1);
                    let those: Vec<usize> = (0..model.list.len()).filter(|&place| {
                        model.list[place].answer.is_none() && model.list[place].give_up < at(seconds)
                    }).collect();
                    those.iter().for_each(|&place| model.answer(place, number));
                    prop_assert_eq!(woken, those.len());
                }
                Step::Take(one) if !model.list.is_empty() => {
                    let one = one.index(model.list.len());
                    prop_assert_eq!(queue.take(&model.list[one].ticket), model.list[one].answer);
                    if model.list[one].answer.is_some() {
                        model.list.remove(one);
                    }
                }
                Step::Remove(one) if !model.list.is_empty() => {
                    let one = model.list.remove(one.index(model.list.len()));
                    model.tidy();
                    let (answer, waker) = queue.remove(&one.ticket);
                    prop_assert_eq!(answer, one.answer);
                    prop_assert_eq!(waker.is_some(), answer.is_none());
                }
                Step::Arm(seconds) if model.head().is_some() => {
                    queue.arm(at(seconds));
                    armed = Some(at(seconds));
                }
                Step::Take(_) | Step::Remove(_) | Step::Arm(_) => {}
            }
            let head = model.head();
            if head.map(|head| model.list[head].ticket.0) != head_before {
                armed = None;
            }
            let waiting: Vec<&Waiter> = model.list.iter().filter(|waiter| waiter.answer.is_none()).collect();
            prop_assert_eq!(queue.len(), waiting.len());
            prop_assert_eq!(queue.is_empty(), waiting.is_empty());
            prop_assert_eq!(queue.alarm(), head.map(|head| armed.unwrap_or(model.list[head].give_up)));
            for (place, waiter) in model.list.iter().enumerate() {
                prop_assert_eq!(queue.is_head(&waiter.ticket), head == Some(place));
            }
            for (client, name) in CLIENTS.into_iter().enumerate() {
                for (comes, own) in [(Comes::First, model.waiting(client)), (Comes::Back, model.returned(client))] {
                    let others = (0..CLIENTS.len()).filter(|&other| other != client);
                    let ahead = own + others.map(|other| model.waiting(other).min(own + 1)).sum::<usize>();
                    prop_assert_eq!(queue.ahead_of(name, comes, Others::Stay), ahead);
                    let rivals =
                        (0..CLIENTS.len()).filter(|&other| other != client && model.waiting(other) > 0);
                    let ahead = own + rivals.count() * (own + 1);
                    prop_assert_eq!(queue.ahead_of(name, comes, Others::Come), ahead);
                }
            }
            prop_assert!(queue.nodes.len() <= queue.vacant.len() + model.list.len(), "no node is lost");
        }
    }
}

#[test]
fn a_thousand_waiters_of_one_client_delay_another_by_one_turn() {
    let start = Instant::now();
    let mut queue = WaitQueue::new();
    let crowd: Vec<Ticket> = (0..1000).map(|_| queue.push("crowd", &[], start)).collect();
    let ahead_of = |client| queue.ahead_of(client, Comes::First, Others::Stay);
    assert_eq!((ahead_of("crowd"), ahead_of("single")), (1000, 1));
    let single = queue.push("single", &[], start);
    let _ = queue.answer_head(());
    assert!(queue.take(&crowd[0]).is_some());
    let _ = queue.answer_head(());
    assert!(queue.take(&single).is_some(), "the second turn");
    let _ = queue.answer_head(());
    assert!(queue.take(&crowd[1]).is_some(), "first come first served within a client");
}

#[test]
fn others_have_their_turns_before_one_who_joins() {
    // Who waits: a twice, b once.
    let rows = [
        ("c", Others::Stay, 2),
        ("c", Others::Come, 2),
        ("b", Others::Stay, 3),
        ("b", Others::Come, 3),
        ("a", Others::Stay, 3),
        ("a", Others::Come, 5),
    ];
    let mut queue = WaitQueue::<()>::new();
    let later = Instant::now() + Duration::from_secs(1);
    for others in [Others::Stay, Others::Come] {
        assert_eq!(queue.ahead_of("a", Comes::First, others), 0, "{others:?}");
    }
    for client in ["a", "a", "b"] {
        queue.push(client, &[], later);
    }
    for (client, others, ahead) in rows {
        assert_eq!(queue.ahead_of(client, Comes::First, others), ahead, "{client} {others:?}");
    }
}

#[test]
fn who_returns_from_a_refused_token_goes_before_those_of_his_client_who_came_later() {
    let later = Instant::now() + Duration::from_secs(1);
    let mut queue = WaitQueue::new();
    let rows = [
        ("first", "a", Comes::First),
        ("back", "a", Comes::Back),
        ("other", "b", Comes::First),
        ("again", "a", Comes::Back),
    ];
    let tickets = rows.map(|(_, client, comes)| queue.push(client, tried(comes), later));
    let mut served = Vec::new();
    while !queue.is_empty() {
        let _ = queue.answer_head(());
        let answered = tickets.iter().position(|ticket| queue.take(ticket).is_some());
        served.extend(answered.map(|place| rows[place].0));
    }
    assert_eq!(served, ["back", "other", "again", "first"]);
}
