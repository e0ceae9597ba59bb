//! `/events`: the updates of a dashboard as server-sent events (HTML standard, section 9.2).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::Operator;
use super::tokens::Now;
use super::watch::Watch;

/// How soon what happens is shown. At least once a second there is an event, so a reader that hears nothing for
/// longer knows that it is cut off.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Browsers come back after this many milliseconds.
const BEGINNING: &str = "retry: 1000\n\n";

/// An answer that goes on until its reader, or the gateway, has gone.
pub(super) struct Events {
    operator: Arc<dyn Operator>,
    watch: Watch,
    looks: Interval,
    beginning: Option<&'static str>,
    _place: OwnedSemaphorePermit,
}

impl Events {
    pub(super) fn new(operator: Arc<dyn Operator>, place: OwnedSemaphorePermit) -> Self {
        let mut looks = interval(LOOK_EVERY);
        // A reader that was slow needs no update for each look that was missed.
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { operator, watch: Watch::default(), looks, beginning: Some(BEGINNING), _place: place }
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if let Some(beginning) = this.beginning.take() {
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(beginning.as_bytes())))));
        }
        while this.looks.poll_tick(cx).is_ready() {
            if this.operator.has_ended() {
                return Poll::Ready(None);
            }
            if let Some(update) = this.watch.next(this.operator.as_ref(), Now::read()) {
                let event = format!("event: update\ndata: {update}\n\n");
                return Poll::Ready(Some(Ok(Frame::data(event.into()))));
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use http_body_util::BodyExt;
    use serde_json::Value;
    use tidegate_token_manager::TokenId;
    use tokio::sync::Semaphore;
    use tokio::time::Instant;

    use super::super::tests::{Gateway, gateway};
    use super::*;
    use crate::live::test_seen;

    async fn frame(events: &mut Events) -> Option<String> {
        let frame = events.frame().await?.unwrap();
        Some(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap())
    }

    async fn update(events: &mut Events) -> Value {
        let text = frame(events).await.unwrap();
        let data = text.strip_prefix("event: update\ndata: ").and_then(|text| text.strip_suffix("\n\n"));
        serde_json::from_str(data.unwrap_or_else(|| panic!("{text}"))).unwrap()
    }

    fn watch(gateway: &Arc<Gateway>, places: &Arc<Semaphore>) -> Events {
        Events::new(gateway.clone(), places.clone().try_acquire_owned().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_event_says_everything_and_later_ones_what_is_new() {
        let (gateway, places) = (Arc::new(gateway()), Arc::new(Semaphore::new(1)));
        gateway.live.record(test_seen("/before"), Instant::now());
        let mut events = watch(&gateway, &places);
        let began = Instant::now();
        assert_eq!(frame(&mut events).await.unwrap(), "retry: 1000\n\n");
        let first = update(&mut events).await;
        assert_eq!(
            (&first["full"], &first["second"], &first["in_flight"]),
            (&true.into(), &0.into(), &2.into())
        );
        assert_eq!(first["order"], serde_json::json!(["default 7f7f7f7f7f7f7f7f", "other 1d1d1d1d1d1d1d1d"]));
        assert_eq!(first["tokens"][0]["retry_in_ms"], 1870);
        assert_eq!(first["pools"][0]["predicted_wait_ms"], 1870);
        assert_eq!(first["requests"][0]["path"], "/before");

        // A second passes without a request: its figures, and no token and no request again.
        let second = update(&mut events).await;
        assert_eq!(began.elapsed(), Duration::from_secs(1));
        assert_eq!((&second["full"], &second["second"]), (&false.into(), &1.into()));
        assert_eq!((second["tokens"].as_array().unwrap().len(), &second["order"]), (0, &Value::Null));
        assert_eq!(second["requests"].as_array().unwrap().len(), 0);
        assert_eq!(
            (&second["seconds"][0]["number"], &second["seconds"][0]["requests"]),
            (&0.into(), &1.into())
        );
        assert_eq!(second["figures"]["served"], 1);

        // A request is told at the next look, and the token that answered it with its history.
        gateway.live.record(test_seen("/then?"), Instant::now());
        let third = update(&mut events).await;
        assert_eq!(began.elapsed(), Duration::from_millis(1250));
        assert_eq!(
            (&third["requests"][0]["path"], &third["requests"][0]["number"]),
            (&"/then?".into(), &1.into())
        );

        // A token that changes is told alone.
        gateway.disable(TokenId::from_bytes([0x1d; 8]));
        let fourth = update(&mut events).await;
        let told: Vec<_> = fourth["tokens"].as_array().unwrap().iter().map(|token| &token["state"]).collect();
        assert_eq!(told, ["disabled"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_with_its_gateway_and_frees_its_place() {
        let (gateway, places) = (Arc::new(gateway()), Arc::new(Semaphore::new(1)));
        let mut events = watch(&gateway, &places);
        assert_eq!(places.available_permits(), 0);
        frame(&mut events).await.unwrap();
        gateway.ended.store(true, Ordering::Relaxed);
        assert_eq!(frame(&mut events).await, None);
        drop(events);
        assert_eq!(places.available_permits(), 1);
    }
}
