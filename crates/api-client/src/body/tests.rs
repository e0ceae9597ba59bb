use std::collections::VecDeque;
use std::time::Duration;

use http::HeaderMap;

use super::*;

/// A body of ready frames; after the last it ends, or waits for ever.
struct Frames(VecDeque<Result<Frame<Bytes>, BoxError>>, After);

#[derive(Clone, Copy)]
enum After {
    Ends,
    Waits,
}

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match (self.0.pop_front(), self.1) {
            (None, After::Waits) => Poll::Pending,
            (frame, _) => Poll::Ready(frame),
        }
    }
}

fn frames(frames: impl IntoIterator<Item = Result<Frame<Bytes>, BoxError>>, after: After) -> Body {
    Body::new(Frames(frames.into_iter().collect(), after))
}

fn data(text: &'static str) -> Result<Frame<Bytes>, BoxError> {
    Ok(Frame::data(text.into()))
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_body_of_bytes_tells_its_length() {
    let rows = [
        (Body::empty(), ""),
        (Body::from(""), ""),
        (Body::from("text"), "text"),
        (Body::from(vec![b'x']), "x"),
    ];
    for (body, text) in rows {
        assert_eq!(body.size_hint().exact(), Some(text.len() as u64));
        assert_eq!(body.is_end_stream(), text.is_empty());
        assert_eq!(Body::new(body).collect().await.expect("whole").to_bytes(), text);
    }
}

#[tokio::test]
async fn the_beginning_is_read_and_the_body_stays_whole() {
    for limit in [0, 1, 3, 4, 6, 7, 11, 100] {
        let body = frames([data("abc"), data("defg"), data("hijk")], After::Ends);
        let prefix = read_prefix(body, limit, SECOND).await;
        assert_eq!(prefix.bytes(), &"abcdefghijk"[..limit.min(11)], "{limit}");
        assert_eq!(prefix.into_body().collect().await.expect("whole").to_bytes(), "abcdefghijk", "{limit}");
    }
}

#[tokio::test]
async fn an_end_within_the_limit_is_noticed() {
    assert!(read_prefix(frames([data("abc")], After::Ends), 4, SECOND).await.is_whole());
    assert!(!read_prefix(frames([data("abc")], After::Ends), 2, SECOND).await.is_whole());
    assert!(read_prefix(Body::empty(), 0, SECOND).await.is_whole());
    assert!(read_prefix(Body::from("abc"), 3, SECOND).await.is_whole());
}

#[tokio::test]
async fn an_error_comes_back_at_its_place() {
    let body = frames([data("abc"), Err("cut".into()), data("never")], After::Ends);
    let prefix = read_prefix(body, 100, SECOND).await;
    assert_eq!(prefix.bytes(), "abc");
    assert!(prefix.is_whole());
    let mut body = prefix.into_body();
    assert_eq!(body.size_hint().exact(), None);
    assert_eq!(body.frame().await.expect("a frame").expect("data").into_data().expect("data"), "abc");
    assert_eq!(body.frame().await.expect("no end").expect_err("the error").to_string(), "cut");
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn trailers_come_back_too() {
    let trailers: HeaderMap =
        [("x".parse().expect("a name"), "1".parse().expect("a value"))].into_iter().collect();
    let body = frames([data("abc"), Ok(Frame::trailers(trailers.clone()))], After::Ends);
    let collected = read_prefix(body, 100, SECOND).await.into_body().collect().await.expect("whole");
    assert_eq!(collected.trailers(), Some(&trailers));
    assert_eq!(collected.to_bytes(), "abc");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_waits_is_left_in_time() {
    let begun = tokio::time::Instant::now();
    let prefix = read_prefix(frames([data("abc")], After::Waits), 100, SECOND).await;
    assert_eq!(begun.elapsed(), SECOND);
    assert_eq!(prefix.bytes(), "abc");
    assert!(!prefix.is_whole());
    let mut body = prefix.into_body();
    assert_eq!(body.frame().await.expect("a frame").expect("data").into_data().expect("data"), "abc");
    let next = tokio::time::timeout(SECOND, body.frame()).await;
    assert!(next.is_err(), "it still waits");
}

#[test]
fn its_bytes_are_not_shown() {
    assert!(!format!("{:?}", Body::from("s3cr3t")).contains("s3cr3t"));
}

#[tokio::test]
async fn all_bytes_of_a_body_come_in_their_order() {
    let trailers = || Ok(Frame::trailers(HeaderMap::new()));
    let rows = [
        (vec![data("one")], Some("one")),
        (vec![], Some("")),
        (vec![data("one"), trailers()], Some("one")),
        (vec![data("one"), data(""), data("two"), data("three"), trailers()], Some("onetwothree")),
        (vec![Err("broken".into())], None),
        (vec![data("one"), data("two"), Err("broken".into())], None),
    ];
    for (row, (pieces, expected)) in rows.into_iter().enumerate() {
        let bytes = frames(pieces, After::Ends).bytes().await.ok();
        assert_eq!(bytes.as_deref(), expected.map(str::as_bytes), "row {row}");
    }
}
