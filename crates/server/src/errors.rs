//! Errors as a person reads them.

use std::error::Error;

/// An error with all its causes, outermost first.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_what_they_caused() {
        #[derive(Debug, thiserror::Error)]
        #[error("no gateway")]
        struct Outer(#[source] std::io::Error);
        assert_eq!(chain(&Outer(std::io::Error::other("no port"))), "no gateway: no port");
    }
}
