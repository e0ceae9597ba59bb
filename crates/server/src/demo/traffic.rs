//! The demo's callers: a few clients that ask again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Request;
use http::header::COOKIE;
use tidegate_api_client::Body;
use tidegate_api_client::transport::{HyperTransport, TransportParams};
use tokio::task::JoinSet;
use tower::ServiceExt;

use super::{NAMES, token_of};

/// Clients at once, and how long each thinks between two requests.
const CLIENTS: u64 = 6;
const PAUSE: Duration = Duration::from_millis(300);

/// What the callers got.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) asked: AtomicU64,
    pub(crate) served: AtomicU64,
    pub(crate) refused: AtomicU64,
}

/// Whom the clients call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The gateway, which has the tokens.
    OfGateway,
    /// The API itself, with the tokens in turn and no care for what it answers.
    WithTokens,
}

/// Sends traffic to `origin` until the set is dropped.
pub(crate) fn start(
    origin: &str,
    caller: Caller,
    seen: &Arc<Seen>,
) -> Result<JoinSet<()>, tidegate_api_client::Error> {
    let transport = HyperTransport::new(&TransportParams::default())?;
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let (transport, seen, origin) = (transport.clone(), seen.clone(), origin.to_owned());
        clients.spawn(async move {
            for n in (client + 1..).step_by(6) {
                let mut request = Request::get(format!("{origin}/ajax/illust/{n}"));
                if caller == Caller::WithTokens {
                    let turn = usize::try_from(seen.asked.load(Ordering::Relaxed)).unwrap_or(0);
                    let token = token_of(NAMES[turn % NAMES.len()]);
                    request = request.header(COOKIE, format!("PHPSESSID={token}"));
                }
                let Ok(request) = request.body(Body::empty()) else { return };
                seen.asked.fetch_add(1, Ordering::Relaxed);
                let served = match transport.clone().oneshot(request).await {
                    Ok(response) => {
                        response.status().is_success() && response.into_body().bytes().await.is_ok()
                    }
                    Err(_) => false,
                };
                let count = if served { &seen.served } else { &seen.refused };
                count.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(PAUSE).await;
            }
        });
    }
    Ok(clients)
}
