use std::net::IpAddr;

/// Whether a Host field can be this listener's own.
///
/// DNS rebinding makes a browser take our address for another site's; the page then reads what it likes, but its
/// browser still says the other site's name. An address literal or a loopback name cannot be rebound.
pub(super) fn is_own(host: &str, names: &[String]) -> bool {
    let name = without_port(host);
    let name = name.strip_suffix('.').unwrap_or(name);
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    bare.parse::<IpAddr>().is_ok()
        || lower == "localhost"
        || lower.ends_with(".localhost")
        || names.iter().any(|own| own.eq_ignore_ascii_case(name))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_can_be_rebound_is_foreign() {
        let names = ["Admin.internal".to_owned()];
        for (host, own) in [
            ("localhost", true),
            ("LOCALHOST:8283", true),
            ("tidegate.localhost:1", true),
            ("localhost.:8283", true),
            ("127.0.0.1:8283", true),
            ("10.0.0.7", true),
            ("[::1]:8283", true),
            ("[::1]", true),
            ("admin.internal:8283", true),
            ("evil.example", false),
            ("evil.example:8283", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("notlocalhost", false),
            ("", false),
        ] {
            assert_eq!(is_own(host, &names), own, "{host}");
        }
    }
}
