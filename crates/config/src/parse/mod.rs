//! From a text to a value, one file a kind. A parser knows nothing of where its text stood.

mod credential;
mod duration;
mod header;
mod limit;
mod listen;
mod lists;
mod number;
mod proxy;
mod scope;
mod status;
mod store;
mod url;
mod words;

pub(crate) use credential::credential;
pub(crate) use duration::{duration, max_rest};
pub(crate) use header::{field_name, field_value, header_match, own_field_name};
pub(crate) use limit::{budget, limit};
pub(crate) use listen::{host, listen, port, socket_path, socket_permissions};
pub(crate) use lists::{client_keys, methods, networks, path_prefix, paths, tokens};
pub(crate) use number::{count, flag};
pub(crate) use proxy::proxy;
pub(crate) use scope::scope;
pub(crate) use status::{status, status_number};
pub(crate) use store::store_place;
pub(crate) use url::base_url;
pub(crate) use words::*;

use crate::{problem::Problem, secret::Secret};

/// A text that is a secret and goes into a header: printable ASCII without blanks.
pub(crate) fn key(text: &str) -> Result<Secret, Problem> {
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(Secret::new(text))
    } else {
        Err(Problem::new(
            "the key holds a blank or a character that no header can carry",
            "use visible ASCII only",
        ))
    }
}

/// Any text as a secret.
pub(crate) fn secret(text: &str) -> Result<Secret, Problem> {
    Ok(Secret::new(text))
}

/// Any text as a path.
pub(crate) fn path(text: &str) -> Result<std::path::PathBuf, Problem> {
    if text.contains('\0') { Err(Problem::new("holds a NUL", "write a path")) } else { Ok(text.into()) }
}

/// Any text that is not empty, which the sources see to.
pub(crate) fn text(text: &str) -> Result<String, Problem> {
    Ok(text.to_owned())
}
