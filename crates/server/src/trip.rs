//! What is noted of a request on its way, for the metrics and the access log; readable also when its caller has gone.

use std::sync::{Arc, OnceLock};

use tidegate_api_client::Journey;

/// A request's notes; a clone is the same notes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trip(Arc<Notes>);

#[derive(Debug, Default)]
struct Notes {
    journey: Journey,
    route: OnceLock<String>,
    client: OnceLock<(Arc<str>, Known)>,
}

/// How a client is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    ByKey,
    ByAddress,
}

impl Trip {
    pub(crate) fn journey(&self) -> Journey {
        self.0.journey.clone()
    }

    pub(crate) fn set_route(&self, label: &str) {
        self.0.route.get_or_init(|| label.to_owned());
    }

    /// The route's label; none when the request found no route.
    pub(crate) fn route(&self) -> Option<&str> {
        self.0.route.get().map(String::as_str)
    }

    pub(crate) fn set_client(&self, client: &Arc<str>, known: Known) {
        self.0.client.get_or_init(|| (client.clone(), known));
    }

    /// The name of the client's key, else its address; none when nobody asked who it is.
    pub(crate) fn client(&self) -> Option<&Arc<str>> {
        self.0.client.get().map(|(client, _)| client)
    }

    /// The name of the client's key, if it brought one.
    pub(crate) fn key_name(&self) -> Option<&str> {
        self.0.client.get().filter(|(_, known)| *known == Known::ByKey).map(|(client, _)| &**client)
    }
}
