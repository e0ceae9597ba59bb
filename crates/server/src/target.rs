//! The check of a request's target and Host: what is refused before anything else looks at it.

use http::header::{HOST, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, Method, Uri, Version};

/// Why a request is refused by its head alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "the target has no path: only /path, /path?query and the absolute form of an http URL are understood"
    )]
    NoPath,
    #[error("the path has a dot segment (. or .., plain or percent-encoded)")]
    DotSegment,
    #[error("the path has a backslash")]
    Backslash,
    #[error("the Host field is missing")]
    HostMissing,
    #[error("there is more than one Host field")]
    HostDoubled,
    #[error("the Host field is not a host with an optional port")]
    HostInvalid,
    #[error("{0}")]
    Method(RefusedMethod),
    #[error("this gateway does not switch protocols")]
    Upgrade,
    #[error("the only transfer coding that is understood is chunked")]
    TransferCoding,
}

/// A method that never reaches an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefusedMethod {
    #[error("CONNECT asks for a tunnel, and this is a gateway")]
    Connect,
    /// An upstream answers it with the request as it came: with the pool's token.
    #[error("TRACE would show what the gateway adds to a request")]
    Trace,
}

/// The path and query of a request that may go on, byte for byte as they came.
///
/// An absolute target's origin is ignored, for only the settings say where requests go.
///
/// # Errors
///
/// A [`Refusal`], the first that applies.
pub(crate) fn check(
    method: &Method,
    uri: &Uri,
    version: Version,
    headers: &HeaderMap,
) -> Result<PathAndQuery, Refusal> {
    if *method == Method::CONNECT {
        return Err(Refusal::Method(RefusedMethod::Connect));
    }
    if *method == Method::TRACE || method.as_str() == "TRACK" {
        return Err(Refusal::Method(RefusedMethod::Trace));
    }
    check_host(uri, version, headers)?;
    let target = path_and_query(uri).ok_or(Refusal::NoPath)?;
    check_path(target.path())?;
    if asks_for_upgrade(headers) {
        return Err(Refusal::Upgrade);
    }
    if !codings_are_understood(headers) {
        return Err(Refusal::TransferCoding);
    }
    Ok(target)
}

fn path_and_query(uri: &Uri) -> Option<PathAndQuery> {
    if uri.scheme_str().is_some_and(|scheme| !matches!(scheme, "http" | "https")) {
        return None;
    }
    let target = uri.path_and_query()?;
    match target.as_str().as_bytes().first() {
        Some(b'/') => Some(target.clone()),
        // `http://host?query`: the path is empty, which is `/`.
        None | Some(b'?') if uri.authority().is_some() => format!("/{}", target.as_str()).parse().ok(),
        _ => None,
    }
}

fn check_path(path: &str) -> Result<(), Refusal> {
    if path.contains('\\') {
        return Err(Refusal::Backslash);
    }
    // Some servers decode a path before they take it apart: for them %2f and %5c part segments too.
    let mut segment = Segment::Empty;
    let mut rest = path.as_bytes();
    while let Some((unit, after)) = next_unit(rest) {
        rest = after;
        segment = match unit {
            b'/' | b'\\' if segment.is_dots() => return Err(Refusal::DotSegment),
            b'/' | b'\\' => Segment::Empty,
            b'.' => segment.with_dot(),
            _ => Segment::Name,
        };
    }
    if segment.is_dots() { Err(Refusal::DotSegment) } else { Ok(()) }
}

/// The next byte of a path, with `.`, `/` and `\` decoded and all else as it stands.
fn next_unit(path: &[u8]) -> Option<(u8, &[u8])> {
    match path {
        [b'%', b'2', b'e' | b'E', rest @ ..] => Some((b'.', rest)),
        [b'%', b'2', b'f' | b'F', rest @ ..] => Some((b'/', rest)),
        [b'%', b'5', b'c' | b'C', rest @ ..] => Some((b'\\', rest)),
        [byte, rest @ ..] => Some((*byte, rest)),
        [] => None,
    }
}

#[derive(Clone, Copy)]
enum Segment {
    Empty,
    Dot,
    DotDot,
    Name,
}

impl Segment {
    fn with_dot(self) -> Self {
        match self {
            Self::Empty => Self::Dot,
            Self::Dot => Self::DotDot,
            Self::DotDot | Self::Name => Self::Name,
        }
    }

    fn is_dots(self) -> bool {
        matches!(self, Self::Dot | Self::DotDot)
    }
}

/// RFC 9112, section 3.2. HTTP/2 brings the host as `:authority`, which hyper puts into the URI.
fn check_host(uri: &Uri, version: Version, headers: &HeaderMap) -> Result<(), Refusal> {
    let authority = uri.authority().filter(|_| version == Version::HTTP_2).map(Authority::as_str);
    if authority.is_some_and(|authority| !is_host(authority)) {
        return Err(Refusal::HostInvalid);
    }
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(_), Some(_)) => Err(Refusal::HostDoubled),
        (Some(host), None) => match host.to_str() {
            // RFC 9113, section 8.3.1: the two must not differ.
            Ok(host) if authority.is_some_and(|authority| !authority.eq_ignore_ascii_case(host)) => {
                Err(Refusal::HostInvalid)
            }
            Ok(host) if is_host(host) => Ok(()),
            _ => Err(Refusal::HostInvalid),
        },
        (None, _) if version == Version::HTTP_11 => Err(Refusal::HostMissing),
        (None, _) if version == Version::HTTP_2 && authority.is_none() => Err(Refusal::HostMissing),
        (None, _) => Ok(()),
    }
}

/// RFC 9112, section 6.1: what came in a coding that nobody here takes off would go on as if it were the content.
fn codings_are_understood(headers: &HeaderMap) -> bool {
    let fields = headers.get_all(TRANSFER_ENCODING).iter();
    let codings = fields.flat_map(|value| value.as_bytes().split(|b| *b == b',')).map(<[u8]>::trim_ascii);
    codings
        .into_iter()
        .filter(|coding| !coding.is_empty())
        .all(|coding| coding.eq_ignore_ascii_case(b"chunked"))
}

/// `uri-host [ ":" port ]`.
fn is_host(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host();
    let port = host.strip_prefix(name);
    let known_port = match port {
        Some("" | ":") => true,
        Some(port) => port.strip_prefix(':').is_some_and(|digits| {
            digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok()
        }),
        None => false,
    };
    !name.is_empty() && !host.contains('@') && known_port
}

/// Whether a switch of protocols is asked for that the client cannot do without.
///
/// `h2c` is an offer that curl and Java make with ordinary requests; RFC 9110, section 7.8, lets a server pass over
/// it and answer in HTTP/1.1.
fn asks_for_upgrade(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(UPGRADE).iter().flat_map(|value| value.as_bytes().split(|b| *b == b','));
    offers.map(<[u8]>::trim_ascii).any(|offer| !offer.is_empty() && !offer.eq_ignore_ascii_case(b"h2c"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn checked(
        method: &str,
        target: &str,
        version: Version,
        headers: &[(&str, &str)],
    ) -> Result<String, Refusal> {
        let uri = Uri::from_maybe_shared(bytes::Bytes::copy_from_slice(target.as_bytes())).unwrap();
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (name.parse::<http::HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
            })
            .collect();
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        check(&method, &uri, version, &headers).map(|target| target.as_str().to_owned())
    }

    fn get(target: &str) -> Result<String, Refusal> {
        checked("GET", target, Version::HTTP_11, &[("host", "x")])
    }

    #[test]
    fn a_coding_that_nobody_takes_off_is_refused() {
        for (codings, understood) in [
            (&["chunked"][..], true),
            (&["Chunked, "], true),
            (&["gzip, chunked"], false),
            (&["gzip", "chunked"], false),
            (&["identity"], false),
        ] {
            let mut headers = vec![("host", "a")];
            headers.extend(codings.iter().map(|coding| ("transfer-encoding", *coding)));
            let want = if understood { Ok("/".to_owned()) } else { Err(Refusal::TransferCoding) };
            assert_eq!(checked("POST", "/", Version::HTTP_11, &headers), want, "{codings:?}");
        }
    }

    #[test]
    fn a_target_goes_on_byte_for_byte() {
        for target in [
            "/",
            "//x/y",
            "/a%2Fb",
            "/a%5Cb",
            "/a..b/...",
            "/.../.a/a./..a",
            "/%2e%2e%2e/%252e%252e/",
            "/%E3%81%82?x='y'&z=[1]",
            "/あ?い",
            "/a?x=../../b\\c",
            "/a;b=c/%00/~!$&'()*+,=:@",
            "/?",
        ] {
            assert_eq!(get(target).as_deref(), Ok(target), "{target}");
        }
    }

    #[test]
    fn only_the_path_of_an_absolute_target_counts() {
        for (target, want) in [
            ("http://other.host/a//b?c", "/a//b?c"),
            ("https://user@other.host:9/", "/"),
            ("http://other.host", "/"),
            ("http://other.host?q=1", "/?q=1"),
        ] {
            assert_eq!(get(target).as_deref(), Ok(want), "{target}");
        }
        for target in ["*", "other.host:80", "ftp://other.host/a"] {
            assert_eq!(get(target), Err(Refusal::NoPath), "{target}");
        }
        assert_eq!(checked("OPTIONS", "*", Version::HTTP_11, &[("host", "x")]), Err(Refusal::NoPath));
    }

    #[test]
    fn dot_segments_are_refused_however_they_are_written() {
        for target in [
            "/.",
            "/..",
            "/./x",
            "/../x",
            "/a/..",
            "/a/.",
            "/a/../b?q",
            "/ajax/%2e%2e/x",
            "/ajax/.%2E/x",
            "/ajax/%2E./x",
            "/%2e",
            "/a%2F..%2fb",
            "/a/..%2Fb",
            "/a%5c..%5Cb",
            "http://x/a/../b",
        ] {
            assert_eq!(get(target), Err(Refusal::DotSegment), "{target}");
        }
        for target in ["/a\\..\\b", "/\\", "/a\\b?x"] {
            assert_eq!(get(target), Err(Refusal::Backslash), "{target}");
        }
    }

    #[test]
    fn one_valid_host_is_needed() {
        let old = Version::HTTP_10;
        let new = Version::HTTP_11;
        for (version, hosts, want) in [
            (new, vec![], Err(Refusal::HostMissing)),
            (old, vec![], Ok(())),
            (new, vec!["a", "a"], Err(Refusal::HostDoubled)),
            (old, vec!["a", "b"], Err(Refusal::HostDoubled)),
            (new, vec!["a"], Ok(())),
            (new, vec!["a.b:8282"], Ok(())),
            (new, vec!["a:"], Ok(())),
            (new, vec!["[::1]:8282"], Ok(())),
            (new, vec!["127.0.0.1"], Ok(())),
            (new, vec![""], Err(Refusal::HostInvalid)),
            (new, vec![":80"], Err(Refusal::HostInvalid)),
            (new, vec!["a b"], Err(Refusal::HostInvalid)),
            (new, vec!["a,b"], Ok(())), // a reg-name may hold a comma
            (new, vec!["a/b"], Err(Refusal::HostInvalid)),
            (new, vec!["u@a"], Err(Refusal::HostInvalid)),
            (new, vec!["a:99999"], Err(Refusal::HostInvalid)),
            (new, vec!["a:8x"], Err(Refusal::HostInvalid)),
            (new, vec!["http://a"], Err(Refusal::HostInvalid)),
        ] {
            let headers: Vec<_> = hosts.iter().map(|host| ("host", *host)).collect();
            assert_eq!(checked("GET", "/", version, &headers).map(drop), want, "{version:?} {hosts:?}");
        }
        assert_eq!(
            checked("GET", "http://a/", Version::HTTP_2, &[]).as_deref(),
            Ok("/"),
            ":authority is enough"
        );
        assert_eq!(checked("GET", "/", Version::HTTP_2, &[]), Err(Refusal::HostMissing));
        assert_eq!(checked("GET", "http://u:p@a/", Version::HTTP_2, &[]), Err(Refusal::HostInvalid));
        assert_eq!(checked("GET", "http://a/", Version::HTTP_2, &[("host", "b")]), Err(Refusal::HostInvalid));
        assert_eq!(checked("GET", "http://a/", Version::HTTP_2, &[("host", "A")]).as_deref(), Ok("/"));
    }

    #[test]
    fn tunnels_and_other_protocols_are_refused() {
        let host = ("host", "x");
        let connect = Err(Refusal::Method(RefusedMethod::Connect));
        assert_eq!(checked("CONNECT", "x:443", Version::HTTP_11, &[host]), connect);
        for method in ["TRACE", "TRACK"] {
            let trace = Err(Refusal::Method(RefusedMethod::Trace));
            assert_eq!(checked(method, "/", Version::HTTP_11, &[host]), trace);
        }
        for (headers, want) in [
            (vec![("upgrade", "websocket"), ("connection", "Upgrade")], Err(Refusal::Upgrade)),
            (vec![("upgrade", "websocket")], Err(Refusal::Upgrade)),
            (vec![("upgrade", "h2c, websocket")], Err(Refusal::Upgrade)),
            // A common setting of proxies in front, sent with every request.
            (vec![("connection", "upgrade")], Ok("/".to_owned())),
            (vec![("upgrade", "h2c"), ("connection", "Upgrade, HTTP2-Settings")], Ok("/".to_owned())),
            (vec![("connection", "keep-alive")], Ok("/".to_owned())),
        ] {
            let all: Vec<_> = headers.iter().copied().chain([host]).collect();
            assert_eq!(checked("GET", "/", Version::HTTP_11, &all), want, "{headers:?}");
        }
    }
}
