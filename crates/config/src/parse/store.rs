use crate::{problem::Problem, secret::Secret, settings::StorePlace};

const REDIS: &str = "write redis://USER:PASSWORD@HOST:PORT/DATABASE, rediss:// for TLS, or unix:///PATH?db=DATABASE&user=USER&pass=PASSWORD";

/// `memory:`, `file:PATH`, `redis://...`, `rediss://...` or `unix://...`.
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
        ("file", path) => {
            // `file:///var/lib/x` is how a URL names /var/lib/x.
            let path = path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path);
            if path.is_empty() || path.ends_with('/') {
                return Err(Problem::new("names no file", "write file:PATH"));
            }
            Ok(StorePlace::File(path.into()))
        }
        ("redis" | "rediss" | "valkey" | "valkeys", _) => redis(text, &scheme),
        ("unix" | "redis+unix" | "valkey+unix", rest) => unix(text, rest),
        _ => Err(problem()),
    }
}

fn redis(text: &str, scheme: &str) -> Result<StorePlace, Problem> {
    if !text.contains("://") {
        return Err(Problem::new("names no host", format!("write {scheme}://HOST:PORT")));
    }
    let parts = super::url::split(text).map_err(|problem| Problem::new(problem.what, REDIS))?;
    let (path, query) = parts.rest.split_once('?').unwrap_or((parts.rest, ""));
    let database = path.trim_matches('/');
    if !database.is_empty() && database.parse::<u16>().is_err() {
        return Err(Problem::new("has a database that is no number", REDIS));
    }
    let names: &[&str] =
        if scheme.ends_with('s') && scheme != "redis" { &["prefix", "ca"] } else { &["prefix"] };
    parameters(query, names)?;
    Ok(StorePlace::Redis(Secret::new(text)))
}

fn unix(text: &str, rest: &str) -> Result<StorePlace, Problem> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if !path.starts_with("///") || path.ends_with('/') {
        return Err(Problem::new("names no socket by its whole path", REDIS));
    }
    parameters(query, &["prefix", "db", "user", "pass"])?;
    Ok(StorePlace::Redis(Secret::new(text)))
}

/// What follows the question mark.
fn parameters(query: &str, names: &[&str]) -> Result<(), Problem> {
    if query.contains('#') {
        return Err(Problem::new("has a fragment", "leave it out; write # in a password as %23"));
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !names.contains(&name) {
            let known = names.iter().map(|name| format!("{name}=")).collect::<Vec<_>>().join(", ");
            // The name is not said: it may be a piece of a password.
            return Err(Problem::new("has something unknown after its ?", format!("known are {known}")));
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:{}".contains(&byte);
        if name == "prefix" && (value.is_empty() || !value.bytes().all(is_name)) {
            return Err(Problem::new(
                "has a prefix that cannot be",
                "write it of letters, digits, -, _, ., :, { and }",
            ));
        }
        if name == "db" && value.parse::<u16>().is_err() {
            return Err(Problem::new("has a database that is no number", REDIS));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_memory_a_file_or_redis() {
        let redis = |text: &str| Some(StorePlace::Redis(text.into()));
        for (text, want) in [
            ("memory:", Some(StorePlace::Memory)),
            ("memory", Some(StorePlace::Memory)),
            ("file:state.json", Some(StorePlace::File("state.json".into()))),
            ("file:/var/lib/t", Some(StorePlace::File("/var/lib/t".into()))),
            ("file:///var/lib/t", Some(StorePlace::File("/var/lib/t".into()))),
            ("redis://:pw@host:6379/0", redis("redis://:pw@host:6379/0")),
            ("redis://me:p%23w@[::1]:6379", redis("redis://me:p%23w@[::1]:6379")),
            ("rediss://host", redis("rediss://host")),
            ("redis://host?prefix={a}", redis("redis://host?prefix={a}")),
            ("rediss://host/?prefix=a-b&ca=/x.pem", redis("rediss://host/?prefix=a-b&ca=/x.pem")),
            ("unix:///run/redis.sock", redis("unix:///run/redis.sock")),
            ("unix:///run/r?db=3&user=a&pass=b&prefix=x", redis("unix:///run/r?db=3&user=a&pass=b&prefix=x")),
            ("file:", None),
            ("file:/var/lib/", None),
            ("redis://", None),
            ("redis:host", None),
            ("redis://:pw@", None),
            ("redis://host:0", None),
            ("redis://host:99999", None),
            ("redis://host/x", None),
            ("redis://host/-1", None),
            ("redis://host?ca=/x.pem", None),
            ("redis://host?prefix=", None),
            ("redis://host?prefix=a%20b", None),
            ("rediss://host#insecure", None),
            ("rediss://host?prefix=a#insecure", None),
            ("unix://run/redis.sock", None),
            ("unix:///run/redis.sock?db=x", None),
            ("memory:x", None),
            ("http://x", None),
            ("/var/lib/t", None),
        ] {
            assert_eq!(store_place(text).ok(), want, "{text}");
        }
    }

    #[test]
    fn a_fault_does_not_hold_the_password() {
        for text in
            ["redis://me:zq81@", "redis://me:zq81@h:x", "redis://me:zq81@h/x", "unix:///r?pass=zq81&x=1"]
        {
            let fault = format!("{:?}", store_place(text).unwrap_err());
            assert!(!fault.contains("zq81"), "{fault}");
        }
    }
}
