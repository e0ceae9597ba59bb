//! Who the client is, for fairness and logs, where proxies stand in front.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use tidegate_config::Network;

use crate::listen::Peer;

/// The client's address: the peer's, or, where the peer is a trusted proxy, the last one of `X-Forwarded-For` that is
/// not. `None` only for a Unix socket's peer of which nothing more is known.
///
/// A client writes what it likes into the field's beginning; only what trusted proxies have added counts, so it is
/// read from its end. Who connects to our own socket file is trusted as soon as any proxy is.
pub(crate) fn client_ip(peer: Peer, headers: &HeaderMap, trusted: &[Network]) -> Option<IpAddr> {
    let mut client = match peer {
        Peer::Tcp(address) => Some(address.ip().to_canonical()),
        Peer::Unix => None,
    };
    let is_proxy = |ip: Option<IpAddr>| match ip {
        Some(ip) => trusted.iter().any(|network| network.contains(ip)),
        None => !trusted.is_empty(),
    };
    let fields: Vec<&[u8]> =
        headers.get_all("x-forwarded-for").iter().map(http::HeaderValue::as_bytes).collect();
    for hop in fields.iter().rev().flat_map(|field| field.rsplit(|b| *b == b',')) {
        if !is_proxy(client) {
            break;
        }
        match parse_hop(hop) {
            Some(ip) => client = Some(ip),
            // "unknown", or an obfuscated name: the proxy is all that is known.
            None => break,
        }
    }
    client
}

/// An address, with a port or without.
fn parse_hop(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim().trim_matches('"');
    let bare = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']')).unwrap_or(hop);
    let ip = bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()))?;
    Some(IpAddr::to_canonical(&ip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_trusted_proxies_added_names_the_client() {
        let proxies = ["10.0.0.0/8", "fd00::/8"];
        for (peer, fields, trusted, want) in [
            ("192.0.2.1:5", vec!["1.1.1.1"], &proxies[..], "192.0.2.1"),
            ("10.0.0.1:5", vec!["1.1.1.1"], &[][..], "10.0.0.1"),
            ("10.0.0.1:5", vec![], &proxies, "10.0.0.1"),
            ("10.0.0.1:5", vec!["1.1.1.1"], &proxies, "1.1.1.1"),
            ("10.0.0.1:5", vec!["6.6.6.6, 1.1.1.1"], &proxies, "1.1.1.1"),
            ("10.0.0.1:5", vec!["6.6.6.6, 1.1.1.1, 10.2.3.4"], &proxies, "1.1.1.1"),
            ("10.0.0.1:5", vec!["6.6.6.6", "1.1.1.1", "10.2.3.4"], &proxies, "1.1.1.1"),
            ("10.0.0.1:5", vec!["10.9.9.9, 10.2.3.4"], &proxies, "10.9.9.9"),
            ("10.0.0.1:5", vec!["1.1.1.1, unknown"], &proxies, "10.0.0.1"),
            ("10.0.0.1:5", vec!["1.1.1.1, unknown, 10.2.3.4"], &proxies, "10.2.3.4"),
            ("10.0.0.1:5", vec!["1.1.1.1:443"], &proxies, "1.1.1.1"),
            ("[fd00::1]:5", vec!["[2001:db8::1]:443"], &proxies, "2001:db8::1"),
            ("[::ffff:10.0.0.1]:5", vec!["::ffff:1.1.1.1"], &proxies, "1.1.1.1"),
            ("unix", vec!["1.1.1.1"], &[], "none"),
            ("unix", vec!["1.1.1.1"], &proxies, "1.1.1.1"),
            ("unix", vec![], &proxies, "none"),
        ] {
            let mut headers = HeaderMap::new();
            for field in &fields {
                headers.append("x-forwarded-for", field.parse().unwrap());
            }
            let trusted: Vec<Network> = trusted.iter().map(|network| network.parse().unwrap()).collect();
            let known = peer.parse().map_or(Peer::Unix, Peer::Tcp);
            let found = client_ip(known, &headers, &trusted).map_or("none".to_owned(), |ip| ip.to_string());
            assert_eq!(found, want, "{peer} {fields:?} {trusted:?}");
        }
    }
}
