//! What goes along, in either direction, and what stays here.
//!
//! [`clean_request`] is what an upstream may know of a client, [`clean_response`] and [`TrailerFilter`] are what a
//! client may know of an upstream; [`Sensitive`] finds a token where none may be.

mod fields;
mod request;
mod response;
mod sensitive;
mod trailers;

pub(crate) use request::{ClientAuthorization, ClientCookies, RequestHygiene, clean_request};
pub(crate) use response::{ResponseHygiene, SetCookie, clean_response, remove_forged};
pub(crate) use sensitive::Sensitive;
pub(crate) use trailers::TrailerFilter;
