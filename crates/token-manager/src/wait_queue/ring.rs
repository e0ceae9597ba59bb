use std::collections::HashMap;

/// Clients that wait, in the order of their turns. All its steps are O(1).
#[derive(Debug, Default)]
pub(super) struct Ring {
    clients: Vec<Client>,
    vacant: Vec<usize>,
    by_name: HashMap<Box<str>, usize>,
    /// Whose turn it is; `before` it is the last.
    turn: Option<usize>,
}

/// One client's waiters, first come first served: those who return from a token that was refused came before the others.
#[derive(Debug, Default)]
pub(super) struct Client {
    name: Box<str>,
    pub(super) head: Option<usize>,
    pub(super) tail: Option<usize>,
    pub(super) waiting: usize,
    /// The last of those who return, who are the first.
    pub(super) last_returned: Option<usize>,
    pub(super) returned: usize,
    before: usize,
    behind: usize,
}

impl Ring {
    /// The client of this name, in the ring or not.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The client of this name; one that was not there comes last.
    pub(super) fn enter(&mut self, name: &str) -> usize {
        if let Some(client) = self.find(name) {
            return client;
        }
        let fresh = Client { name: name.into(), ..Client::default() };
        let client = if let Some(client) = self.vacant.pop() {
            self.clients[client] = fresh;
            client
        } else {
            self.clients.push(fresh);
            self.clients.len() - 1
        };
        self.by_name.insert(name.into(), client);
        let (before, behind) = match self.turn {
            Some(turn) => (self.clients[turn].before, turn),
            None => (client, client),
        };
        self.clients[client].before = before;
        self.clients[client].behind = behind;
        self.clients[before].behind = client;
        self.clients[behind].before = client;
        self.turn.get_or_insert(client);
        client
    }

    /// A client without waiters leaves, and is forgotten.
    pub(super) fn leave(&mut self, client: usize) {
        let Client { before, behind, .. } = self.clients[client];
        self.clients[before].behind = behind;
        self.clients[behind].before = before;
        if self.turn == Some(client) {
            self.turn = (behind != client).then_some(behind);
        }
        let name = std::mem::take(&mut self.clients[client].name);
        self.by_name.remove(&name);
        self.vacant.push(client);
    }

    /// Whose turn it is.
    pub(super) fn turn(&self) -> Option<usize> {
        self.turn
    }

    /// The turn is over: the client becomes the last.
    pub(super) fn pass_turn(&mut self) {
        self.turn = self.turn.map(|turn| self.clients[turn].behind);
    }

    pub(super) fn client(&self, client: usize) -> &Client {
        &self.clients[client]
    }

    pub(super) fn client_mut(&mut self, client: usize) -> &mut Client {
        &mut self.clients[client]
    }

    /// All clients, in the order of their turns.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Client> {
        let mut next = self.turn;
        std::iter::from_fn(move || {
            let client = next?;
            let behind = self.clients[client].behind;
            next = (Some(behind) != self.turn).then_some(behind);
            Some(&self.clients[client])
        })
    }
}
