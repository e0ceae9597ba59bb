use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one; returns the limit that now holds (`None`: there is none).
///
/// Every request that is under way holds two descriptors, and the soft limit of most systems is 1024. A refusal is
/// no error: the accept loop copes with running out.
pub(crate) fn raise_descriptor_limit() -> Option<u64> {
    let now = getrlimit(Resource::Nofile);
    if now.current == now.maximum {
        return now.current;
    }
    let raised = Rlimit { current: now.maximum, maximum: now.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => now.maximum,
        Err(error) => {
            tracing::debug!(%error, limit = now.current, "the limit of open files stays as it is");
            now.current
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let said = raise_descriptor_limit();
        let now = getrlimit(Resource::Nofile);
        assert_eq!(said, now.current);
        assert_eq!(now.current, now.maximum);
    }
}
