//! What a client's error means: one reading for both transports, as both stand on hyper, h2 and rustls.

use std::{error::Error as StdError, io};

use rustls::pki_types::InvalidDnsNameError;

use crate::body::BoxError;
use crate::error::Error;

/// How far the request had come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// There was no connection yet: nothing of the request was sent.
    Connecting,
    /// There was one.
    Sending,
    /// Another's client, which does not say.
    Unknown,
}

/// Reads the causes of `error` from the outside in; the first that is known decides.
pub(super) fn read(error: BoxError, stage: Stage) -> Error {
    let meaning = causes(&*error).find_map(|cause| meaning_of(cause, stage));
    match (meaning, stage) {
        (Some(meaning), _) => meaning(error),
        (None, Stage::Connecting) => Error::Connect(error),
        (None, Stage::Sending) => Error::Reset(error),
        (None, Stage::Unknown) => Error::Transport(error),
    }
}

type Meaning = fn(BoxError) -> Error;

fn meaning_of(cause: &(dyn StdError + 'static), stage: Stage) -> Option<Meaning> {
    if let Some(error) = cause.downcast_ref::<h2::Error>() {
        return of_h2(error);
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        return of_hyper(error);
    }
    if let Some(error) = cause.downcast_ref::<rustls::Error>() {
        return of_tls(error, stage);
    }
    if cause.is::<InvalidDnsNameError>() {
        return Some(Error::Configuration);
    }
    match (stage, cause.downcast_ref::<io::Error>()?) {
        // What is wrapped says more.
        (_, error) if error.get_ref().is_some_and(|inner| causes(inner).any(is_known)) => None,
        // A TCP connection that is refused or not answered says something else: these are cuts of one that stood.
        (Stage::Connecting, error) if is_cut(error) => Some(Error::Handshake),
        _ => None,
    }
}

fn is_known(cause: &(dyn StdError + 'static)) -> bool {
    cause.is::<h2::Error>() || cause.is::<hyper::Error>() || cause.is::<rustls::Error>()
}

/// A stream that the upstream's application never saw: refused, or left out by a GOAWAY. h2 gives a remote GOAWAY
/// as an error only to the streams above the last that it covers, and to those that come after it.
fn of_h2(error: &h2::Error) -> Option<Meaning> {
    let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    (error.is_remote() && (refused || error.is_go_away())).then_some(Error::RefusedStream)
}

fn of_hyper(error: &hyper::Error) -> Option<Meaning> {
    if error.is_canceled() {
        // The connection closed while the request was waiting for its turn: nothing of it was written.
        Some(Error::Connect)
    } else if error.is_parse() {
        Some(Error::Protocol)
    } else if error.is_user() {
        Some(Error::Configuration)
    } else {
        None
    }
}

fn of_tls(error: &rustls::Error, stage: Stage) -> Option<Meaning> {
    use rustls::Error as Tls;
    match error {
        Tls::InvalidCertificate(_) | Tls::NoCertificatesPresented | Tls::UnsupportedNameType => {
            Some(Error::Certificate)
        }
        _ => (stage == Stage::Connecting).then_some(Error::Handshake),
    }
}

fn is_cut(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::UnexpectedEof
            | Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::BrokenPipe
            | Kind::InvalidData
    )
}

/// An error and its causes. `io::Error` leaves out the error that it wraps, which is the one that matters here.
fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&cause| {
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        wrapped.map(|wrapped| wrapped as &(dyn StdError + 'static)).or_else(|| cause.source())
    })
}
