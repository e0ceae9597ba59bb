use std::collections::VecDeque;

use http::HeaderMap;
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;
use tokio::sync::mpsc;

use super::*;

/// A body that ends, fails or waits where its script says so.
struct Scripted {
    frames: VecDeque<Result<Frame<Bytes>, BoxError>>,
    length: Option<u64>,
}

impl Scripted {
    fn new(frames: impl IntoIterator<Item = Result<Frame<Bytes>, BoxError>>) -> Self {
        Self { frames: frames.into_iter().collect(), length: None }
    }

    fn data(pieces: &[&'static [u8]]) -> Self {
        Self::new(pieces.iter().map(|piece| Ok(Frame::data(Bytes::from_static(piece)))))
    }
}

impl HttpBody for Scripted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(self.frames.pop_front())
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

/// A body whose frames are sent to it.
struct Channel(mpsc::UnboundedReceiver<Bytes>);

impl HttpBody for Channel {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

fn memory() -> ReplayMemory {
    ReplayMemory::new(1 << 20)
}

async fn bytes<B>(body: ReplayBody<B>) -> Bytes
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    body.collect().await.expect("a whole body").to_bytes()
}

async fn frame<B>(body: &mut ReplayBody<B>) -> Bytes
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    body.frame().await.expect("a frame").expect("no error").into_data().expect("data")
}

#[tokio::test]
async fn each_try_sends_the_whole_body() {
    let memory = memory();
    let first = ReplayBody::new(Scripted::data(&[b"one ", b"two ", b"three"]), 100, &memory);
    // A try that read nothing, one that read a part, one that read all.
    let mut partly = first.clone();
    drop(first.clone());
    assert_eq!(frame(&mut partly).await, "one ");
    let second = partly.clone();
    drop(partly);
    assert_eq!(bytes(second).await, "one two three");
    assert_eq!(bytes(first.clone()).await, "one two three");
    assert!(first.is_replayable());
    assert_eq!(memory.used(), 13);
    drop(first);
    assert_eq!(memory.used(), 0);
}

#[tokio::test]
async fn a_body_goes_out_while_it_comes_in() {
    let (sender, channel) = mpsc::unbounded_channel();
    let mut first = ReplayBody::new(Channel(channel), 100, &memory());
    sender.send("begin".into()).expect("open");
    assert_eq!(frame(&mut first).await, "begin");
    assert!(!first.is_end_stream());
    // The first try is given up while the body is still coming.
    let mut second = first.clone();
    drop(first);
    assert_eq!(frame(&mut second).await, "begin");
    sender.send(" end".into()).expect("open");
    drop(sender);
    assert_eq!(bytes(second).await, " end");
}

#[tokio::test]
async fn two_tries_that_wait_are_both_woken() {
    for reverse in [false, true] {
        let (sender, channel) = mpsc::unbounded_channel();
        let first = ReplayBody::new(Channel(channel), 100, &memory());
        let second = first.clone();
        let tries = if reverse { [second, first] } else { [first, second] };
        // In one task, so that they share a waker; polled in either order before there is anything.
        let [one, two] = tries.map(bytes);
        let send = async {
            for part in ["a", "b", "c"] {
                tokio::task::yield_now().await;
                sender.send(part.into()).expect("open");
            }
            drop(sender);
        };
        let (one, two, ()) = tokio::join!(one, two, send);
        assert_eq!((&one[..], &two[..]), (&b"abc"[..], &b"abc"[..]));
    }
}

#[tokio::test]
async fn a_try_that_waits_outlives_the_one_that_polled_last() {
    let (sender, channel) = mpsc::unbounded_channel();
    let first = ReplayBody::new(Channel(channel), 100, &memory());
    let mut second = first.clone();
    let waiting = tokio::spawn(bytes(first));
    tokio::task::yield_now().await;
    // This one polls after the first, so that the channel knows its waker; then it is given up.
    let polled =
        std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut second).poll_frame(cx).is_pending())).await;
    assert!(polled);
    drop(second);
    sender.send("x".into()).expect("open");
    drop(sender);
    assert_eq!(waiting.await.expect("no panic"), "x");
}

#[tokio::test]
async fn what_is_longer_than_the_limit_is_streamed_once() {
    let memory = memory();
    let mut first = ReplayBody::new(Scripted::data(&[b"12345", b"67890", b"!"]), 10, &memory);
    let second = first.clone();
    assert_eq!(frame(&mut first).await, "12345");
    assert_eq!(frame(&mut first).await, "67890");
    assert!(second.is_replayable(), "ten bytes fit");
    assert_eq!(frame(&mut first).await, "!");
    assert!(!first.is_replayable() && !second.is_replayable());
    assert_eq!(memory.used(), 0, "nothing is held any more");
    assert!(first.frame().await.is_none());
    let error = second.collect().await.expect_err("it was sent already");
    assert_eq!(error.to_string(), "the request body was too long to be held, and has been sent already");
}

#[tokio::test]
async fn a_told_length_over_the_limit_is_never_held() {
    let memory = memory();
    let first = ReplayBody::new(Full::from("12345678901"), 10, &memory);
    assert!(!first.is_replayable());
    assert_eq!(first.size_hint().exact(), Some(11));
    let copy = first.clone();
    drop(first);
    assert_eq!(bytes(copy).await, "12345678901", "the first to read gets it, whichever that is");
    let exactly = ReplayBody::new(Full::<Bytes>::from("1234567890"), 10, &memory);
    assert!(exactly.is_replayable());
}

#[tokio::test]
async fn the_memory_is_shared() {
    let memory = ReplayMemory::new(10);
    let body = || ReplayBody::new(Scripted::data(&[b"1234", b"56"]), 100, &memory);
    let (first, second) = (body(), body());
    assert_eq!(bytes(first.clone()).await, "123456");
    assert_eq!(memory.used(), 6);
    assert_eq!(bytes(second.clone()).await, "123456", "streamed all the same");
    assert!(first.is_replayable() && !second.is_replayable());
    assert_eq!(memory.used(), 6);
    drop(first);
    let third = body();
    assert_eq!(bytes(third.clone()).await, "123456");
    assert!(third.is_replayable());
}

#[tokio::test]
async fn trailers_are_sent_again() {
    let trailers: HeaderMap =
        [("x-sum".parse().expect("a name"), "7".parse().expect("a value"))].into_iter().collect();
    let frames = [Ok(Frame::data(Bytes::from("data"))), Ok(Frame::trailers(trailers.clone()))];
    let first = ReplayBody::new(Scripted::new(frames), 100, &memory());
    for _ in 0..3 {
        let collected = first.clone().collect().await.expect("a whole body");
        assert_eq!(collected.trailers(), Some(&trailers));
        assert_eq!(collected.to_bytes(), "data");
    }
}

#[tokio::test]
async fn a_body_that_breaks_is_not_sent_again() {
    let memory = memory();
    let frames = [Ok(Frame::data(Bytes::from("data"))), Err("the caller went away".into())];
    let mut first = ReplayBody::new(Scripted::new(frames), 100, &memory);
    let second = first.clone();
    assert_eq!(frame(&mut first).await, "data");
    let error = first.frame().await.expect("an end").expect_err("the original's error");
    assert_eq!(error.to_string(), "the caller went away");
    assert!(first.frame().await.is_none());
    assert!(!first.is_replayable() && !second.is_replayable());
    assert_eq!(memory.used(), 0);
    let error = second.collect().await.expect_err("broken");
    assert_eq!(error.to_string(), "the request body broke while it was sent before");
}

#[tokio::test]
async fn each_try_tells_the_same_length() {
    let first = ReplayBody::new(Full::from("12345"), 100, &memory());
    for _ in 0..2 {
        let mut body = first.clone();
        assert_eq!(body.size_hint().exact(), Some(5));
        assert!(!body.is_end_stream());
        assert_eq!(frame(&mut body).await, "12345");
        assert_eq!(body.size_hint().exact(), Some(0));
        assert!(body.is_end_stream());
    }
    let unknown = ReplayBody::new(Scripted::data(&[b"12345"]), 100, &memory());
    bytes(unknown.clone()).await;
    // Known by now, but the second try must be framed as the first was.
    assert_eq!(unknown.size_hint().exact(), None);
    let empty = ReplayBody::new(Full::<Bytes>::default(), 0, &memory());
    assert!(empty.is_end_stream() && empty.is_replayable());
    assert_eq!(empty.size_hint().exact(), Some(0));
}

proptest! {
    #[test]
    fn every_try_sends_every_byte_once(
        lengths in prop::collection::vec(prop_oneof![0_usize..4, 1_usize..600, 4000_usize..9000], 0..30),
        partial in prop::collection::vec(0_usize..40, 0..6),
    ) {
        let mut next = 0_u8;
        let pieces: Vec<Bytes> = lengths.iter().map(|&length| {
            (0..length).map(|_| { next = next.wrapping_add(1); next }).collect::<Vec<u8>>().into()
        }).collect();
        let whole = pieces.concat();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let memory = memory();
            let frames = pieces.into_iter().map(|piece| Ok(Frame::data(piece)));
            let scripted = Scripted { length: Some(whole.len() as u64), ..Scripted::new(frames) };
            let first = ReplayBody::new(scripted, whole.len(), &memory);
            // Tries that are all kept midway, and go on later.
            let mut begun = Vec::new();
            for frames in partial {
                let (mut body, mut read) = (first.clone(), Vec::new());
                for _ in 0..frames {
                    assert_eq!(body.size_hint().exact(), Some((whole.len() - read.len()) as u64));
                    let Some(frame) = body.frame().await else { break };
                    read.extend_from_slice(&frame.expect("no error").into_data().expect("data"));
                }
                begun.push((body, read));
            }
            for (body, mut read) in begun {
                read.extend_from_slice(&bytes(body).await);
                assert!(read == whole, "a try that went on");
            }
            assert!(bytes(first.clone()).await == whole, "a try from the start");
            assert!(memory.used() <= whole.len());
            drop(first);
            assert_eq!(memory.used(), 0);
        });
    }
}
