use std::net::{IpAddr, Ipv6Addr};

use crate::{
    problem::{Problem, quoted},
    settings::{Host, Listen},
};

/// What a socket file gets unless its permissions are set: PixivFE's, anyone may connect.
pub(crate) const SOCKET_MODE: u32 = 0o666;

/// The kernel's `sun_path` less its closing NUL.
const LONGEST_SOCKET_PATH: usize = 107;

/// `host:port` or `unix:/path`.
pub(crate) fn listen(text: &str) -> Result<Listen, Problem> {
    let wrong = |what: &str, mend: String| Err(Problem::new(what, mend));
    if let Some(path) = text.strip_prefix("unix:") {
        // `unix:///run/x` is how a URL names /run/x.
        return socket_path(path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path));
    }
    if text.starts_with(['/', '.']) {
        return wrong("is a path", format!("write unix:{text}"));
    }
    if text.contains("://") {
        return wrong("is a URL", "write host:port without a scheme, or unix:/path".to_owned());
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return wrong(
            "does not show where its address ends",
            "write [ADDRESS]:PORT, such as [::1]:8282".to_owned(),
        );
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return wrong("is a port without a host", format!("write localhost:{text}"));
    }
    match text.rsplit_once(':') {
        Some(("", text)) => wrong(
            "has no host",
            format!("write localhost:{text}, or 0.0.0.0:{text} to listen on every address"),
        ),
        Some((name, number)) => Ok(Listen::Tcp {
            host: host(name).map_err(|problem| problem.about(quoted(name)))?,
            port: port(number).map_err(|problem| problem.about(quoted(number)))?,
        }),
        None => wrong("has no port", "write host:port such as localhost:8282, or unix:/path".to_owned()),
    }
}

/// A host to listen on: `localhost`, an address, or a name.
pub(crate) fn host(text: &str) -> Result<Host, Problem> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(Host::Localhost);
    }
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Ok(ip) = bare.unwrap_or(text).parse::<IpAddr>() {
        if bare.is_none() || ip.is_ipv6() {
            return Ok(Host::Ip(ip));
        }
    }
    let name = text.split('.').all(|label| !label.is_empty())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        // What ends in a number is an address, and a wrong one if it got here.
        && !text.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    if name {
        Ok(Host::Name(text.to_ascii_lowercase()))
    } else {
        Err(Problem::new("is no host to listen on", "write localhost, 127.0.0.1, [::1], 0.0.0.0 or a name"))
    }
}

/// A port to listen on; 0 lets the system choose.
pub(crate) fn port(text: &str) -> Result<u16, Problem> {
    match text.parse() {
        Ok(port) if !text.starts_with('+') => Ok(port),
        _ => Err(Problem::new("is no port", "write a port from 1 to 65535")),
    }
}

/// The path of a Unix socket.
pub(crate) fn socket_path(path: &str) -> Result<Listen, Problem> {
    if path.is_empty() {
        return Err(Problem::new("names no socket", "write unix:/path"));
    }
    if path.contains('\0') || path.len() > LONGEST_SOCKET_PATH {
        return Err(Problem::new(
            format!("is longer than the {LONGEST_SOCKET_PATH} bytes of a socket's path"),
            "use a shorter path",
        ));
    }
    Ok(Listen::Unix { path: path.into(), mode: SOCKET_MODE })
}

/// Permissions of a socket file: `666`, `0660` or `rw-rw-rw-`.
pub(crate) fn socket_permissions(text: &str) -> Result<u32, Problem> {
    let problem = || Problem::new("is not a set of permissions", "write them as 660 or rw-rw----");
    if text.len() == 9 && text.is_ascii() {
        return text.bytes().zip("rwxrwxrwx".bytes()).try_fold(0, |mode, (found, want)| match found {
            b'-' => Ok(mode << 1),
            _ if found == want => Ok(mode << 1 | 1),
            _ => Err(problem()),
        });
    }
    let digits = text.strip_prefix("0o").unwrap_or(text);
    match u32::from_str_radix(digits, 8) {
        Ok(mode) if mode <= 0o777 && (3..=4).contains(&digits.len()) && !digits.starts_with('+') => Ok(mode),
        _ => Err(problem()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_a_host_and_port_or_a_socket() {
        for (text, want, local) in [
            ("localhost:8282", "localhost:8282", true),
            ("LOCALHOST:8282", "localhost:8282", true),
            ("127.0.0.1:0", "127.0.0.1:0", true),
            ("127.8.8.8:1", "127.8.8.8:1", true),
            ("[::1]:8282", "[::1]:8282", true),
            ("[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:80", "0.0.0.0:80", false),
            ("[::]:80", "[::]:80", false),
            ("192.0.2.1:80", "192.0.2.1:80", false),
            ("gateway.lan:80", "gateway.lan:80", false),
            ("unix:/run/t.sock", "unix:/run/t.sock", true),
            ("unix:///run/t.sock", "unix:/run/t.sock", true),
            ("unix:t.sock", "unix:t.sock", true),
        ] {
            let found = listen(text).unwrap();
            assert_eq!((found.to_string().as_str(), found.is_local()), (want, local), "{text}");
        }
    }

    #[test]
    fn what_is_no_listener_is_told_what_to_write() {
        for (text, mend) in [
            ("8282", "write localhost:8282"),
            (":8282", "write localhost:8282, or 0.0.0.0:8282 to listen on every address"),
            ("localhost", "write host:port such as localhost:8282, or unix:/path"),
            ("::1", "write [ADDRESS]:PORT, such as [::1]:8282"),
            ("/run/t.sock", "write unix:/run/t.sock"),
            ("http://localhost:80", "write host:port without a scheme, or unix:/path"),
            ("localhost:65536", "write a port from 1 to 65535"),
            ("localhost:", "write a port from 1 to 65535"),
            ("a b:80", "write localhost, 127.0.0.1, [::1], 0.0.0.0 or a name"),
            ("256.0.0.1:80", "write localhost, 127.0.0.1, [::1], 0.0.0.0 or a name"),
            ("*:80", "write localhost, 127.0.0.1, [::1], 0.0.0.0 or a name"),
            ("unix:", "write unix:/path"),
        ] {
            assert_eq!(listen(text).unwrap_err().mend, mend, "{text}");
        }
        assert!(listen(&format!("unix:/{}", "x".repeat(107))).is_err());
    }

    #[test]
    fn permissions_are_octal_or_letters() {
        for (text, want) in [
            ("666", Some(0o666)),
            ("0660", Some(0o660)),
            ("0o600", Some(0o600)),
            ("rw-rw-rw-", Some(0o666)),
            ("rw-rw----", Some(0o660)),
            ("rwxr-x--x", Some(0o751)),
            ("---------", Some(0)),
            ("888", None),
            ("7777", None),
            ("66", None),
            ("+66", None),
            ("rwrwrwrwr", None),
            ("wr-wr-wr-", None),
            ("", None),
        ] {
            assert_eq!(socket_permissions(text).ok(), want, "{text}");
        }
    }
}
