//! The request id: a client's own where it is a sane one, else 32 hexadecimal digits.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Extensions, Request};
use tower_http::request_id::{MakeRequestId, RequestId};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longer ones are no ids but somebody's attempt to fill the log.
const LONGEST: usize = 128;

/// Makes the ids of requests that bring none; for [`SetRequestIdLayer`](tower_http::request_id::SetRequestIdLayer).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FreshIds;

impl MakeRequestId for FreshIds {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        let id = format!("{:032x}", fastrand::u128(..));
        HeaderValue::try_from(id).ok().map(RequestId::new)
    }
}

/// Removes a client's id unless it is a single sane one; goes before the layer that keeps what it finds.
pub(crate) fn drop_unsound(headers: &mut HeaderMap) {
    let mut ids = headers.get_all(&REQUEST_ID).iter();
    let sound = matches!((ids.next(), ids.next()), (Some(id), None) if is_sane(id.as_bytes()));
    if !sound {
        headers.remove(&REQUEST_ID);
    }
}

/// What ids are made of everywhere: nothing that a log, a shell or a page would read as more than text.
fn is_sane(id: &[u8]) -> bool {
    (1..=LONGEST).contains(&id.len())
        && id.iter().all(|b| b.is_ascii_alphanumeric() || b"-._~+/=:@".contains(b))
}

/// The id that the layer gave to a request; empty before it did.
pub(crate) fn of(extensions: &Extensions) -> &str {
    extensions.get::<RequestId>().and_then(|id| id.header_value().to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sane_id_is_kept() {
        let long = "x".repeat(LONGEST + 1);
        for (ids, kept) in [
            (vec!["7f3a9c21-d04b-e85a"], true),
            (vec!["Root=1-67891233-abcdef012345678912345678"], true),
            (vec!["a/b+c==~._:@"], true),
            (vec![&long[1..]], true),
            (vec![&long], false),
            (vec![""], false),
            (vec!["a b"], false),
            (vec!["a\"b"], false),
            (vec!["<script>"], false),
            (vec!["${jndi}"], false),
            (vec!["a", "b"], false),
        ] {
            let mut headers = HeaderMap::new();
            for id in &ids {
                headers.append(REQUEST_ID, HeaderValue::from_str(id).unwrap());
            }
            drop_unsound(&mut headers);
            assert_eq!(headers.contains_key(REQUEST_ID), kept, "{ids:?}");
        }
    }

    #[test]
    fn a_fresh_id_is_32_hexadecimal_digits() {
        let mut extensions = Extensions::new();
        assert_eq!(of(&extensions), "");
        extensions.insert(FreshIds.make_request_id(&Request::new(())).unwrap());
        let id = of(&extensions);
        assert!(
            id.len() == 32 && is_sane(id.as_bytes()) && id.bytes().all(|b| b.is_ascii_hexdigit()),
            "{id}"
        );
    }
}
