//! Where a token goes in a request.

use http::{
    HeaderMap, HeaderName, HeaderValue, Uri,
    header::{AUTHORIZATION, COOKIE},
    request::Parts,
    uri::PathAndQuery,
};
use tidegate_token_manager::Token;

use crate::error::Error;

mod extra;
mod query;

pub use self::extra::ExtraCookies;

/// Where the upstream wants its token.
///
/// ```
/// use tidegate_api_client::Credential;
/// use tidegate_token_manager::Token;
///
/// let (mut parts, ()) = http::Request::get("https://api.example/p?q=1").body(())?.into_parts();
/// Credential::Query("key".into()).sign(&mut parts, &Token::new("tok A"))?;
/// assert_eq!(parts.uri, "https://api.example/p?q=1&key=tok%20A");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// The cookie of this name. The request's own cookies do not go along.
    Cookie(String),
    /// `Authorization: Bearer <token>`.
    Bearer,
    /// A header of its own.
    Header(HeaderName),
    /// A query parameter of this name, put last. The rest of the query stays byte for byte.
    Query(String),
}

impl Credential {
    /// Puts `token` where it belongs, in place of whatever the request brought there. Headers are marked
    /// sensitive, so that they are neither printed nor kept in HTTP/2's tables.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] if the token cannot stand in a header (a line break, say), or the target with it
    /// is too long for a URI. The error does not hold the token.
    pub fn sign(&self, parts: &mut Parts, token: &Token) -> Result<(), Error> {
        self.sign_with(parts, token, &[])
    }

    /// As [`sign`](Self::sign), with more cookies (name, value) beside the token, all in one field.
    ///
    /// # Errors
    ///
    /// As [`sign`](Self::sign).
    pub fn sign_with(
        &self,
        parts: &mut Parts,
        token: &Token,
        cookies: &[(&str, String)],
    ) -> Result<(), Error> {
        let token = token.expose();
        let mut fields = String::new();
        match self {
            Self::Cookie(name) => put_cookie(&mut fields, name, token),
            Self::Bearer => set(&mut parts.headers, AUTHORIZATION, format!("Bearer {token}"))?,
            Self::Header(name) => set(&mut parts.headers, name.clone(), token.to_owned())?,
            Self::Query(name) => {
                let old = parts.uri.query();
                let query = query::with(old, name, token);
                set_query(&mut parts.uri, Some(&query))?;
            }
        }
        for (name, value) in cookies {
            put_cookie(&mut fields, name, value);
        }
        if !fields.is_empty() {
            set(&mut parts.headers, COOKIE, fields)?;
        }
        Ok(())
    }

    /// Whether the request brings this credential itself: the cookie, the header, the parameter (also where its
    /// name is written with percent signs), for [`Bearer`](Self::Bearer) any `Authorization`.
    pub fn carries(&self, parts: &Parts) -> bool {
        match self {
            Self::Cookie(name) => {
                cookies(&parts.headers).any(|cookie| is_cookie(cookie, name) && has_value(cookie))
            }
            Self::Bearer => is_set(&parts.headers, &AUTHORIZATION),
            Self::Header(name) => is_set(&parts.headers, name),
            Self::Query(name) => query::has(parts.uri.query(), name),
        }
    }

    /// Takes the request's own credential out, and leaves all else as it is.
    pub fn strip(&self, parts: &mut Parts) {
        match self {
            Self::Cookie(name) => {
                let left: Vec<&[u8]> =
                    cookies(&parts.headers).filter(|cookie| !is_cookie(cookie, name)).collect();
                let left = HeaderValue::from_bytes(&left.join(&b"; "[..]));
                parts.headers.remove(COOKIE);
                // Pieces of header values, put together by what may stand in one.
                if let Ok(mut left) = left {
                    left.set_sensitive(true);
                    if !left.is_empty() {
                        parts.headers.insert(COOKIE, left);
                    }
                }
            }
            Self::Bearer => drop(parts.headers.remove(AUTHORIZATION)),
            Self::Header(name) => drop(parts.headers.remove(name)),
            Self::Query(name) => {
                let query = query::without(parts.uri.query(), name);
                // What was a URI is one with less in it.
                let _ = set_query(&mut parts.uri, query.as_deref());
            }
        }
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: String) -> Result<(), Error> {
    let mut value = HeaderValue::try_from(value).map_err(|error| Error::Configuration(error.into()))?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

fn put_cookie(fields: &mut String, name: &str, value: &str) {
    if !fields.is_empty() {
        fields.push_str("; ");
    }
    fields.push_str(name);
    fields.push('=');
    fields.push_str(value);
}

/// All cookies of a request: of one field or, in HTTP/2, of many.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let fields =
        headers.get_all(COOKIE).into_iter().flat_map(|field| field.as_bytes().split(|&byte| byte == b';'));
    fields.map(<[u8]>::trim_ascii).filter(|cookie| !cookie.is_empty())
}

fn is_cookie(cookie: &[u8], name: &str) -> bool {
    let end = cookie.iter().position(|&byte| byte == b'=').unwrap_or(cookie.len());
    cookie[..end].trim_ascii() == name.as_bytes()
}

/// A cookie that was cleared stands for no session.
fn has_value(cookie: &[u8]) -> bool {
    cookie.splitn(2, |&byte| byte == b'=').nth(1).is_some_and(|value| !value.trim_ascii().is_empty())
}

fn is_set(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get_all(name).iter().any(|value| !value.as_bytes().trim_ascii().is_empty())
}

fn set_query(uri: &mut Uri, query: Option<&str>) -> Result<(), Error> {
    let target = match query {
        Some(query) => format!("{}?{query}", uri.path()),
        None => uri.path().to_owned(),
    };
    let configuration = |error: http::Error| Error::Configuration(error.into());
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(target).map_err(|error| configuration(error.into()))?);
    *uri = Uri::from_parts(parts).map_err(|error| configuration(error.into()))?;
    Ok(())
}

#[cfg(test)]
mod tests;
