//! The beginning of a body, read without losing the rest.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;

use super::{Body, BoxError};

/// Reads `body` until `limit` bytes are there, it ends or fails, or `within` has passed.
///
/// Nothing is lost: whatever was read, an error and trailers included, comes back at its place in
/// [`Prefix::into_body`].
pub async fn read_prefix(body: Body, limit: usize, within: Duration) -> Prefix {
    let mut prefix = Prefix { frames: VecDeque::new(), read: 0, limit, end: End::Open, rest: body };
    prefix.note_end();
    // Frames are kept as they come, so that stopping midway loses none.
    let _ = tokio::time::timeout(within, prefix.fill()).await;
    prefix
}

/// The beginning of a body, and the rest of it.
#[derive(Debug)]
pub struct Prefix {
    frames: VecDeque<Result<Frame<Bytes>, BoxError>>,
    read: usize,
    limit: usize,
    end: End,
    rest: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    /// The body ended or failed, and is not polled again.
    Reached,
}

impl Prefix {
    /// The first bytes, as far as they were read, and at most the limit.
    pub fn bytes(&self) -> Bytes {
        let mut data = self.frames.iter().filter_map(|frame| frame.as_ref().ok()?.data_ref());
        match (data.next(), data.next()) {
            (None, _) => Bytes::new(),
            (Some(only), None) => only.slice(..only.len().min(self.limit)),
            (Some(first), Some(second)) => {
                let mut all = BytesMut::with_capacity(self.read.min(self.limit));
                for part in [first, second].into_iter().chain(data) {
                    all.extend_from_slice(&part[..part.len().min(self.limit - all.len())]);
                }
                all.freeze()
            }
        }
    }

    /// Whether the body's end, or its failure, was reached: its connection is free again.
    pub fn is_whole(&self) -> bool {
        self.end == End::Reached
    }

    /// The whole body from its start.
    pub fn into_body(self) -> Body {
        let rest = if self.end == End::Reached { Body::empty() } else { self.rest };
        if self.frames.is_empty() {
            return rest;
        }
        Body::new(Prefixed { frames: self.frames, rest })
    }

    async fn fill(&mut self) {
        while self.end == End::Open && self.read < self.limit {
            match self.rest.frame().await {
                Some(Ok(frame)) => {
                    self.read += frame.data_ref().map_or(0, Bytes::len);
                    self.frames.push_back(Ok(frame));
                    self.note_end();
                }
                Some(Err(error)) => {
                    self.frames.push_back(Err(error));
                    self.end = End::Reached;
                }
                None => self.end = End::Reached,
            }
        }
    }

    fn note_end(&mut self) {
        if self.rest.is_end_stream() {
            self.end = End::Reached;
        }
    }
}

/// Frames that were read already, then the rest.
struct Prefixed {
    frames: VecDeque<Result<Frame<Bytes>, BoxError>>,
    rest: Body,
}

impl HttpBody for Prefixed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        match this.frames.pop_front() {
            Some(frame) => Poll::Ready(Some(frame)),
            None => Pin::new(&mut this.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let read = self.frames.iter().filter_map(|frame| frame.as_ref().ok()?.data_ref());
        let read: u64 = read.map(|data| data.len() as u64).sum();
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(read)) {
            hint.set_upper(upper);
        }
        hint.set_lower(rest.lower().saturating_add(read));
        // A failure stands before the end, so that no length may be promised.
        if self.frames.iter().any(Result::is_err) { SizeHint::new() } else { hint }
    }
}
