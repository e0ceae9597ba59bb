use crate::{problem::Problem, secret::Secret, settings::StorePlace};

/// `memory:`, `file:PATH`, `redis://...` or `rediss://...`.
pub(crate) fn store_place(text: &str) -> Result<StorePlace, Problem> {
    let problem = || {
        Problem::new("is not a store", "write memory:, file:PATH, redis://HOST:PORT or rediss://HOST:PORT")
    };
    let (scheme, rest) = match text.split_once(':') {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
        None => (text.to_ascii_lowercase(), ""),
    };
    match (scheme.as_str(), rest) {
        ("memory", "") => Ok(StorePlace::Memory),
        ("file", "") => Err(Problem::new("names no file", "write file:PATH")),
        // `file:///var/lib/x` is how a URL names /var/lib/x.
        ("file", path) => Ok(StorePlace::File(
            path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path).into(),
        )),
        ("redis" | "rediss", rest) => match rest.strip_prefix("//") {
            Some(place) if !place.is_empty() && !place.starts_with('/') => {
                Ok(StorePlace::Redis(Secret::new(text)))
            }
            _ => Err(Problem::new("names no host", format!("write {scheme}://HOST:PORT"))),
        },
        _ => Err(problem()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_memory_a_file_or_redis() {
        for (text, want) in [
            ("memory:", Some(StorePlace::Memory)),
            ("memory", Some(StorePlace::Memory)),
            ("file:state.json", Some(StorePlace::File("state.json".into()))),
            ("file:/var/lib/t", Some(StorePlace::File("/var/lib/t".into()))),
            ("file:///var/lib/t", Some(StorePlace::File("/var/lib/t".into()))),
            ("redis://:pw@host:6379/0", Some(StorePlace::Redis("redis://:pw@host:6379/0".into()))),
            ("rediss://host", Some(StorePlace::Redis("rediss://host".into()))),
            ("file:", None),
            ("redis://", None),
            ("redis:host", None),
            ("memory:x", None),
            ("http://x", None),
            ("/var/lib/t", None),
        ] {
            assert_eq!(store_place(text).ok(), want, "{text}");
        }
    }
}
